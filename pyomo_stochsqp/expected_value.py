r"""The number that stands for E[F(x, w)] when somebody asks for ``pyo.value``.

Over data it is the exact average. Over a distribution it is an estimate: the mean over 2^14
scenarios, a scrambled Sobol' set wherever all numbers have quantiles, always the same ones, so that
equal points have equal values. Its error is not reported; :func:`~pyomo_stochsqp.evaluate` gives
one, from fresh scenarios. Kinks are hardly rounded off at all: only derivatives need that.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .compile.cache import CompilerCache
from .declare.formula_node import RandomFormula
from .declare.reading import read_formula
from .declare.recourse_block import decided_later
from .errors import ModelError
from .oracle import CLOSELY, EVALUATION_STREAM, exact_estimate
from .oracles import model_oracle
from .sample import Sampler

#: scenarios of an estimate, and the seed that chooses them
SCENARIOS, SEED = 1 << 14, 0


def expected_value(node: RandomFormula) -> float:
    """The value at the current values of the variables; raises ValueError where there is none."""
    program = read_formula(node)
    if decided_later(program.variables):
        raise ModelError(
            f"{node} is over decisions of the second stage, which are others in every scenario. "
            "Ask pyomo_stochsqp.evaluate(model) for its value, or results.policy for one scenario."
        )
    for v in program.variables:
        if v.value is None:
            raise ValueError(f"No value for uninitialized variable '{v.name}' in {node}")
    if node.compiled is None:
        node.compiled = CompilerCache()
    evaluator = node.compiled(program, False)
    oracle = model_oracle(program, evaluator, Sampler(program.sources, SEED))
    oracle.narrow(CLOSELY)
    x = np.array([v.value for v in program.variables], dtype=float)
    if any(source.size is None for source in oracle.sources):
        batch = [SCENARIOS] * len(oracle.sources)
        (sample,) = oracle.draw_replicates(EVALUATION_STREAM, 0, batch, 1).pooled
        estimate = oracle.estimate(x, sample, objective=True)
    else:
        estimate = exact_estimate(oracle, x, objective=True)
    if estimate.issue is not None:
        raise ValueError(f"{node} has no value here: {estimate.issue}")
    return float(estimate.f or 0.0)


def register() -> Any:
    """From now on expectations have values."""
    RandomFormula.valuation = staticmethod(expected_value)
