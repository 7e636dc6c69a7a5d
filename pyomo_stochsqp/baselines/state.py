r"""What an iteration of a baseline leaves behind: the part that the driver and the log read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..oracle import EvaluationIssue, Vector
from ..report import Stop


@dataclass(frozen=True)
class State:
    """The state after iteration k."""

    k: int
    x: Vector
    #: multiplier estimates
    y: Vector
    #: scenario rows evaluated so far
    samples: int = 0
    #: scenario rows evaluated in this iteration
    rows: int = 0
    #: l1 distance of the estimated rows to their intervals
    violation: float = np.nan
    #: length of the direction, before it is multiplied by the step size
    step: float = np.nan
    alpha: float = 0.0
    #: no phase without sampling error: points are certified on the way
    exact: bool = False
    issue: EvaluationIssue | None = None
    #: a first-order method with a fixed step never knows that it is finished
    ended: Stop | None = None

    #: history columns, in the order of :meth:`record`
    COLUMNS = ("iteration", "samples", "batch", "violation", "step_norm", "step_size")

    def record(self) -> tuple[float, ...]:
        """The numbers kept in the history."""
        return (self.k, self.samples, self.rows, self.violation, self.step, self.alpha)
