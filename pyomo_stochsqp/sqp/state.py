r"""What one iteration leaves behind: a small record, passed in and returned, never modified."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..method import Stop
from ..oracle import EvaluationIssue, Vector
from .batches import BatchState
from .curvature import CurvatureState
from .lipschitz import Constants


@dataclass(slots=True)
class State:
    """The state after iteration k. Letters are the paper's.

    Not frozen, because that would make its construction a tenth of a small iteration.
    """

    k: int
    x: Vector
    y: Vector
    tau: float
    xi: float
    constants: Constants
    batch: BatchState
    curvature: CurvatureState
    #: what the next subproblem starts from
    warm: Any = None
    #: standard error of c, summed over the rows, as last measured
    noise: float = 0.0
    #: scenarios used so far
    samples: int = 0
    #: x of the iteration before, to shorten a step that leads outside a function's domain
    x_before: Vector = field(default_factory=lambda: np.empty(0))
    alpha: float = 0.0
    beta: float = 1.0
    tau_trial: float = np.inf
    violation: float = np.nan
    #: |d|_H, which tends to the stationarity error as c tends to zero
    step: float = np.nan
    #: scenarios of the batch
    scenarios: int = 0
    #: the batch held all scenarios: no sampling error
    exact: bool = False
    issue: EvaluationIssue | None = None
    #: the method itself sees that it is finished
    ended: Stop | None = None

    #: history columns, in the order of :meth:`record`
    COLUMNS = (
        "iteration",
        "samples",
        "batch",
        "violation",
        "step_norm",
        "merit_parameter",
        "ratio_parameter",
        "step_size",
        "beta",
        "lipschitz_gradient",
        "lipschitz_constraint",
    )

    def record(self) -> tuple[float, ...]:
        """The numbers kept in the history."""
        return (
            self.k,
            self.samples,
            self.scenarios,
            self.violation,
            self.step,
            self.tau,
            self.xi,
            self.alpha,
            self.beta,
            self.constants.L,
            self.constants.Gamma,
        )
