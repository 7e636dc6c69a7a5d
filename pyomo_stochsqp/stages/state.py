r"""What a step of a staged run leaves behind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..certify import Certificate, Sizes
from ..engines import Ending
from ..method import Stop
from ..oracle import EvaluationIssue, Vector


class Found(NamedTuple):
    """Where an engine ended that did not succeed."""

    x: Vector
    y: Vector
    ending: Ending


@dataclass(frozen=True)
class StagedState:
    """The state after iteration k, over all phases and stages."""

    k: int
    x: Vector
    y: Vector
    #: sampled (Algorithm 1), open (a stage is about to be drawn) or solve (its program)
    phase: str
    sizes: Sizes
    #: scenarios drawn so far
    samples: int = 0
    stage: int = 0
    #: points of a replicate, where sources are endless
    points: int = 0
    #: state of Algorithm 1, and of the engine that solves the stage's program
    sampled: Any = None
    engine: Any = None
    #: which of the engines that is: those before it have failed
    engine_number: int = 0
    #: where the stage was opened, and what the engines before have found
    opened_x: Vector | None = None
    opened_y: Vector | None = None
    fallback: Found | None = None
    #: how often the stage's program was solved again, with all its curvature
    attempts: int = 0
    #: the spread of the objective over scenarios, and the least size that an engine gives it
    spread: float = 0.0
    least_objective: float = 0.0
    #: displacements that the stage's noise makes pointless, rows that contradict each other in it
    blur: Vector | None = None
    relaxed: Vector | None = None
    #: looks so far
    looks: int = 0
    #: the last certificate, and the best one
    certificate: Certificate | None = None
    best: Certificate | None = None
    #: stages in a row: infeasible, flat, unsolved for any reason, with spreads that grow
    infeasible: int = 0
    flat: int = 0
    failed: int = 0
    spreading: int = 0
    #: sum of the solutions of drawn samples, each times its weight, and of these
    pooled: Vector | None = None
    pooled_weight: float = 0.0
    #: scenarios of the stage
    scenarios: int = 0
    objective: float = np.nan
    violation: float = np.nan
    step: float = np.nan
    exact: bool = False
    issue: EvaluationIssue | None = None
    ended: Stop | None = None
    message: str = ""

    #: history columns, in the order of :meth:`record`
    COLUMNS = (
        "iteration", "stage", "samples", "batch", "objective", "violation", "step_norm",
    )  # fmt: skip

    def record(self) -> tuple[float, ...]:
        """The numbers kept in the history."""
        return (
            self.k, self.stage, self.samples, self.scenarios, self.objective, self.violation,
            self.step,
        )  # fmt: skip
