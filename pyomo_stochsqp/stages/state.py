r"""What a step of a staged run leaves behind."""

from __future__ import annotations

from dataclasses import dataclass, replace
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


class Attempt(NamedTuple):
    """How far the engines have come with the program of the present stage."""

    #: where the stage was opened
    x: Vector
    y: Vector
    #: f where the engine at work was started
    f: float = np.nan
    #: the state of the engine at work, which of them it is, and what those before have found
    inner: Any = None
    number: int = 0
    fallback: Found | None = None
    #: how often this engine was asked to do better
    again: int = 0
    #: second derivatives are averaged over all scenarios of the stage
    all_curvature: bool = False
    #: how often it was started anew because sizes had become much smaller on the way
    resized: int = 0
    #: rows that contradict each other in this sample have been moved apart by so much
    relaxed: Vector | None = None


class InARow(NamedTuple):
    """Stages in a row with the same trouble."""

    infeasible: int = 0
    flat: int = 0
    #: solved by no engine, whatever the reason
    failed: int = 0
    #: with spreads of single scenarios that grow
    spreading: int = 0


class Pool(NamedTuple):
    """The mean of all samples' solutions: their sum, each times its weight, and that of weights."""

    total: Vector
    weight: float = 0.0

    def with_solution(self, x: Vector, weight: float) -> Pool:
        return Pool(self.total + weight * x, self.weight + weight)

    @property
    def mean(self) -> Vector:
        return self.total / self.weight


@dataclass(frozen=True)
class StagedState:
    """The state after iteration k, over all phases and stages."""

    k: int
    x: Vector
    y: Vector
    #: sampled (Algorithm 1), open (a stage is about to be drawn) or solve (its program)
    phase: str
    sizes: Sizes
    pool: Pool
    #: what the engines make of the stage's program
    attempt: Attempt
    in_a_row: InARow
    #: scenarios drawn so far, and those of the stage
    samples: int = 0
    scenarios: int = 0
    stage: int = 0
    #: points of a replicate, where sources are endless
    points: int = 0
    #: the state of Algorithm 1
    sampled: Any = None
    #: the least size that an engine gives the objective: its spread over scenarios, a share of |f|
    least_objective: float = 0.0
    #: displacements that the stage's noise makes pointless
    blur: Vector | None = None
    #: the level at which kinks are rounded off
    narrowed: int = 0
    #: looks so far, the last certificate, and the best one
    looks: int = 0
    certificate: Certificate | None = None
    best: Certificate | None = None
    objective: float = np.nan
    violation: float = np.nan
    step: float = np.nan
    exact: bool = False
    issue: EvaluationIssue | None = None
    ended: Stop | None = None
    message: str = ""
    note: str = ""

    @property
    def solving(self) -> bool:
        """The program of a stage whose sample is drawn."""
        return self.phase == "solve" and self.ended is None

    @property
    def average(self) -> None:
        """Stages solve their programs: no mean of iterates is better than the last one."""

    def with_multipliers(self, y: Vector) -> StagedState:
        """The same with other multiplier estimates."""
        return replace(self, y=y)

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


#: the classes that a state is made of, beside those of certificates, engines and Algorithm 1
RECORDS: tuple[type, ...] = (StagedState, Found, Attempt, InARow, Pool)
