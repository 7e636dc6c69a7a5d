r"""What an iteration of a baseline leaves behind: the part that the loop and the log read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..method import Stop
from ..oracle import EvaluationIssue, Vector


@dataclass(frozen=True)
class BaselineState:
    """The state after iteration k."""

    k: int
    x: Vector
    #: multiplier estimates
    y: Vector
    #: scenarios evaluated so far
    samples: int = 0
    #: scenarios evaluated in this iteration
    scenarios: int = 0
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
        return (self.k, self.samples, self.scenarios, self.violation, self.step, self.alpha)
