r"""What an engine is: it solves one smooth program (:mod:`pyomo_stochsqp.nlp`), step by step.

    state = engine.start(x, y)         state = engine.step(state)         until state.ended

A step is one iteration, so that a run can be watched, interrupted and saved between any two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple, Protocol

from ..oracle import Vector
from ..scaling import Factors


class Ending(Enum):
    """How the solve of one program ended."""

    SOLVED = "solved"
    #: no step reduces the violation of the rows
    INFEASIBLE = "infeasible"
    #: nor could any: the violated rows do not depend on the variables here
    FLAT = "flat"
    STALLED = "stalled"
    UNBOUNDED = "unbounded"
    #: a function is not defined at the starting point
    UNDEFINED = "undefined"
    LIMIT = "limit"


@dataclass(frozen=True)
class Accuracy:
    """When a program is solved well enough: a step of this length, or a decrease this small."""

    #: |d_j| relative to |x_j|
    relative: float
    #: predicted decrease of the objective, relative to its size
    decrease: float
    #: |d_j| in the units of x_j that is enough, whatever |x_j|
    absolute: Vector | None = None
    #: take a step that is small enough, too, if it helps: it costs an evaluation
    last_step: bool = False


class Scales(NamedTuple):
    """What a run knows about sizes before a program is solved."""

    #: the largest |x_j| seen
    largest_x: Vector
    #: the least size of the objective: its spread over scenarios
    least_objective: float
    #: what the user says of scales; None leaves it to the engine
    factors: Factors | None = None


class EngineState(Protocol):
    """What others may read of an engine's state."""

    @property
    def k(self) -> int:
        """Iterations made."""

    @property
    def x(self) -> Vector: ...

    @property
    def y(self) -> Vector: ...

    @property
    def objective(self) -> float:
        """f(x)."""

    @property
    def violation(self) -> float:
        """The largest violation of a row."""

    @property
    def step(self) -> float:
        """The length of the last step, relative to the variables."""

    @property
    def ended(self) -> Ending | None: ...


class Engine(Protocol):
    """An engine for one program."""

    @property
    def name(self) -> str:
        """Its name, in the log."""

    @property
    def RECORDS(self) -> Sequence[type]:
        """Classes of the records in its states, so that a checkpoint can put them together."""

    def relax(self, by: Vector) -> None:
        """Solve with the bounds of the rows moved apart by so much."""

    def start(self, x: Vector, y: Vector) -> EngineState:
        """The state before the first iteration."""

    def step(self, state: Any) -> EngineState:
        """One iteration."""
