r"""Algorithm 1 with the paper's choices, on any oracle, without the looks of a run.

H = I, no scaling, L and Gamma fixed beforehand, alpha from the grid 1.1^t alpha_min, batches of one
size. ``preset='paper'`` makes the same choices; the studies want the bare method, because looks
cost time that a comparison of CPU times must not count.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyomo_stochsqp.method import Method
from pyomo_stochsqp.oracle import Oracle
from pyomo_stochsqp.scaling import unscaled
from pyomo_stochsqp.sqp import Choices, Parameters, assemble


def literal_sqp(
    oracle: Oracle,
    batch: Sequence[int],
    beta: Any,
    constants: tuple[float, float],
    parameters: Parameters | None = None,
) -> Method:
    """The method; ``parameters`` are the paper's unless given."""
    choices = Choices(
        batch=tuple(batch),
        growth="constant",
        beta=beta,
        lipschitz=constants,
        hessian="identity",
        scaling=unscaled(oracle.problem),
        elastic=False,
        parameters=parameters or Parameters(step_rule="grid"),
    )
    return assemble(oracle, choices).method
