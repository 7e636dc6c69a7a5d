r"""Out-of-sample values of a model at its present point, with their uncertainty.

The objective, each constraint with an expectation and whatever else is asked for are estimated on
independent replicates, which give a standard error and a confidence interval
(certify/replicates.py). If all randomness is finite and no larger than the sample, the values are
exact. The scenarios come from a stream that no solve reads, so they are fresh even for equal seeds.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from contextlib import ExitStack, closing
from typing import Any, NamedTuple

import numpy as np

from ..certify.replicates import estimated, quantile, standard_error
from ..compile import compile_program
from ..declare import StochasticProgram
from ..declare.program import Function
from ..declare.randomness.other_numbers import other_numbers
from ..declare.reading import Asked
from ..declare.recourse_block import with_recourse
from ..declare.scan import scan
from ..errors import ModelError, OptionError
from ..oracle import (
    CLOSELY,
    EVALUATION_STREAM,
    EvaluationIssue,
    Oracle,
    Sample,
    draw_replicates,
    whole_sample,
)
from ..oracles import Eliminated, model_oracle
from ..sample import Sampler
from .outcomes import Outcome, Outcomes
from .recourse import evaluate_recourse
from .request import requested
from .rows import Rows
from .values import Evaluation, Value, requirement

REPLICATES = 32
SAMPLES, SAMPLES_OF_RECOURSE = 100_000, 10_000


def evaluate(
    model: Any,
    *expressions: Any,
    samples: int | None = None,
    seed: int | None = None,
    confidence: float = 0.95,
    data: Any = None,
    workers: int = 1,
) -> Evaluation:
    """Values of the objective, of every constraint with an expectation and of ``expressions`` at
    the present point.

    ``samples`` scenarios are drawn from each source (100,000 by default; 10,000 with Recourse,
    whose second stage is solved again in each). Finite data with no more rows is averaged exactly
    instead. ``data`` are other random numbers than the model's: a table, a distribution or
    a sampler, or a mapping from RandomParams to those. ``workers`` processes call samplers.

    The result prints as a table of expectations; its ``outcomes`` tell of single scenarios.

    >>> import pyomo.environ as pyo, numpy as np
    >>> from pyomo_stochsqp import E, RandomParam, evaluate
    >>> m = pyo.ConcreteModel()
    >>> m.x = pyo.Var(initialize=1.0)
    >>> m.w = RandomParam(data=np.array([1.0, 3.0]))
    >>> m.obj = pyo.Objective(expr=E((m.x - m.w) ** 2))
    >>> print(evaluate(m, m.w - m.x))
    Exact values over all 2 scenarios
           value  std. error  95% interval  required
    ------------------------------------------------
    obj        2       exact        [2, 2]  minimize
    w - x      1       exact        [1, 1]
    >>> evaluate(m, data=[1.0, 2.0])["obj"].value
    0.5
    """
    recourse = with_recourse(model)
    if samples is None:
        samples = SAMPLES_OF_RECOURSE if recourse else SAMPLES
    if samples < 2 * REPLICATES:
        raise OptionError(f"samples={samples} is too few for error estimates; give at least 64.")
    if not 0.0 < confidence < 1.0:
        raise OptionError(f"confidence={confidence} is not between 0 and 1.")
    seed = secrets.randbits(32) if seed is None else seed
    with other_numbers(model, data), ExitStack() as stack:
        if recourse:
            return evaluate_recourse(model, expressions, samples, seed, confidence)
        program = requested(model, expressions)
        x = program.start
        sampler = stack.enter_context(closing(Sampler(program.sources, seed, workers=workers)))
        oracle = model_oracle(program, compile_program(program), sampler)
        oracle.narrow(CLOSELY)
        rows = _rows_of_a_full_pass(program)
        exact = rows is not None and rows <= samples
        sizes = [samples if exact else samples // REPLICATES] * len(oracle.sources)
        parts = _exact_or_drawn(oracle, exact, sizes)
        estimates = estimated(oracle, x, parts)
        if isinstance(estimates, EvaluationIssue):
            raise ModelError(
                f"The model cannot be evaluated at the present point: {estimates}. Set the "
                "variables to values where all functions are defined."
            )
        symbols = oracle.symbol_values(x, parts) if isinstance(oracle, Eliminated) else None
    told = _told(program)

    def outcomes() -> Outcomes:
        with closing(sampler):
            fixed = sampler.replicates(EVALUATION_STREAM, 0, sizes, 1 if exact else REPLICATES)
            return _outcomes(told, Rows(program, x, symbols, fixed.batches, seed))

    found = np.column_stack(
        (program.sign * estimates.f, estimates.c[:, [t.row for t in told if t.row >= 0]])
    )
    mean, error = found.mean(axis=0), standard_error(found)
    reach = quantile(confidence, len(found)) * error
    values = tuple(
        Value(t.name, float(v), float(s), (float(v - r), float(v + r)), t.required)
        for t, v, s, r in zip(told, mean, error, reach, strict=True)
    )
    drawn = rows if exact and rows is not None else samples // REPLICATES * REPLICATES
    return Evaluation(values, drawn, exact, seed, confidence, outcomes)


def _exact_or_drawn(oracle: Oracle, exact: bool, sizes: Sequence[int]) -> Sequence[Sample]:
    if exact:
        whole = whole_sample(oracle)
        assert whole is not None
        return [whole]
    return draw_replicates(oracle, EVALUATION_STREAM, 0, sizes, REPLICATES).parts


class _Told(NamedTuple):
    """A line of the table."""

    name: str
    required: str
    function: Function
    #: its row in the program; -1 is the objective
    row: int
    lower: float = -np.inf
    upper: float = np.inf
    maximised: bool = False


def _told(program: StochasticProgram) -> list[_Told]:
    objective = program.objective_component
    name, sense = "no objective", "minimize" if program.sign > 0 else "maximize"
    if objective is not None:
        name = objective.name
    told = [_Told(name, sense, program.objective, -1, maximised=program.sign < 0)]
    for i, row in enumerate(program.rows):
        asked = isinstance(row.component, Asked)
        if asked or row.body.sampled:
            required = "" if asked else requirement(row.lower, row.upper)
            told.append(_Told(row.name, required, row.body, i, row.lower, row.upper))
    return told


def _outcomes(told: Sequence[_Told], rows: Rows) -> Outcomes:
    """Of all that has one number per scenario; formulas of expectations have not."""
    single = [
        Outcome(t.name, rows.of(t.function), rows.weights, t.lower, t.upper, t.maximised)
        for t in told
        if t.function.terms and _is_affine(t.function)
    ]
    return Outcomes(single, f"Outcomes in {rows.count} scenarios")


def _is_affine(function: Function) -> bool:
    """Whether expectations stand in it for themselves, not inside formulas."""
    outside = [function.exact, *(term.multiplier for term in function.terms)]
    return not any(scan(e).symbols for e in outside)


def _rows_of_a_full_pass(program: StochasticProgram) -> int | None:
    sizes = [source.size for source in program.sources]
    if any(size is None for size in sizes):
        return None
    return sum(size for size in sizes if size is not None)
