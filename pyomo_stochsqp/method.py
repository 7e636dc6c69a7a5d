r"""What a method is, and why a run ends.

A method finds better points one iteration at a time; two verbs are all that a run asks of it:

    state = method.start(x)                    state = method.step(state)

Numerical trouble is an answer here (a :class:`Stop`, an issue), never an exception.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any, Protocol

from .oracle import EvaluationIssue, Vector


class Stop(Enum):
    """The reasons, with the sentence a user reads."""

    CONVERGED = "optimal, certified within the tolerances"
    ITERATION_LIMIT = "the iteration limit was reached"
    SAMPLE_LIMIT = "the limit on scenarios was reached"
    TIME_LIMIT = "the time limit was reached"
    STALLED = "no further progress"
    LOCALLY_INFEASIBLE = "the constraints cannot be satisfied near this point"
    UNBOUNDED = "the iterates diverge; the objective seems to be unbounded"
    EVALUATION_ERROR = "a function could not be evaluated"
    INTERRUPTED = "interrupted by the user"


class State(Protocol):
    """What others may read of a method's state; a method keeps there whatever else it needs."""

    @property
    def k(self) -> int:
        """Iterations made."""

    @property
    def x(self) -> Vector: ...

    @property
    def y(self) -> Vector:
        """Multiplier estimates, in the method's units."""

    @property
    def samples(self) -> int:
        """Scenarios used so far: what a limit on scenarios counts."""

    @property
    def scenarios(self) -> int:
        """Scenarios of the last iteration."""

    @property
    def exact(self) -> bool:
        """The last iteration had no sampling error."""

    @property
    def issue(self) -> EvaluationIssue | None:
        """What could not be evaluated."""

    @property
    def ended(self) -> Stop | None:
        """The method itself sees that it is finished."""

    @property
    def COLUMNS(self) -> Sequence[str]:
        """Names of the numbers in :meth:`record`."""

    def record(self) -> tuple[float, ...]:
        """The numbers kept in the history."""


class Method(Protocol):
    """One algorithm. Its states are its own (:class:`State` is what others may read)."""

    def start(self, x: Vector) -> Any:
        """The state before the first iteration."""

    def step(self, state: Any) -> Any:
        """One iteration."""
