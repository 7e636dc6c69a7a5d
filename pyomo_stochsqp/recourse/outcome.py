r"""What a solve with recourse leaves behind."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..method import Stop
from ..run.history import History
from .gap import Gap

Array = NDArray[np.float64]

COLUMNS = (
    "stage", "scenarios", "replicates", "objective", "objective_error", "lower_bound", "gap",
    "gap_bound", "relative_gap_bound", "infeasible", "samples", "seconds",
)  # fmt: skip


@dataclass
class TwoStageOutcome:
    """A decision, what is certified of it, and how it was found."""

    #: left out where an outcome travels between ranks
    program: Any
    stop: Stop
    message: str
    x: Array | None
    gap: Gap | None
    #: multipliers of the first stage's rows (of the program that is minimised)
    duals: Array | None
    reduced_costs: Array | None
    samples: int
    stages: int
    seconds: float
    seed: int
    history: History = field(default_factory=lambda: History(COLUMNS))

    @property
    def certified(self) -> bool:
        """Whether the gap is as small as was wanted."""
        return self.stop is Stop.CONVERGED


def history_row(stage: int, each: int, gap: Gap, samples: int, seconds: float, sign: int) -> Any:
    """A line of the history, with the model's sign."""
    bound = sign * gap.lower_bound
    return (stage, each, gap.replicates, sign * gap.objective, gap.objective_error, bound,
            gap.estimate, gap.bound, gap.relative, gap.infeasible, samples, seconds)  # fmt: skip
