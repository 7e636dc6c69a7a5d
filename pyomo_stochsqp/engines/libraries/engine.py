r"""A library as an engine: one of its iterations per step, resumed by replaying them.

A library's state cannot be saved. Its iterates follow from its start, though, bit for bit: a state
that is continued in another process is reached again by repeating the iterations before it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple, Protocol

import numpy as np

from ...nlp import NLP
from ...oracle import Vector
from ..interior.engine import Relaxed
from ..protocol import Accuracy, Ending, Scales
from .callbacks import Callbacks, Undefined
from .stepping import Stepping

#: what a library is asked for, relative to the accuracy, and its limits
SHARE, LARGEST, SMALLEST = 1e-2, 1e-8, 1e-10


class Iterate(NamedTuple):
    """What a library tells after an iteration."""

    x: Vector
    y: Vector


class Answer(NamedTuple):
    """What it returns."""

    x: Vector
    y: Vector
    ending: Ending


class Library(Protocol):
    """The loop of one library."""

    def __call__(
        self,
        program: Callbacks,
        x: Vector,
        y: Vector,
        tolerance: float,
        report: Callable[[Iterate], None],
    ) -> Answer:
        """Solve from (x, y), reporting every iteration."""


@dataclass(frozen=True)
class LibraryState:
    """The state after iteration k, and where the library began."""

    k: int
    x: Vector
    y: Vector
    x_start: Vector
    y_start: Vector
    objective: float = np.nan
    violation: float = np.nan
    step: float = np.nan
    ended: Ending | None = None


class LibraryEngine:
    """The engine for one program; ``library`` is set by the catalogue."""

    name: ClassVar[str]
    library: ClassVar[Library]
    RECORDS: Sequence[type] = (LibraryState,)

    def __init__(self, nlp: NLP, accuracy: Accuracy, scales: Scales):
        self._nlp = nlp
        self._tolerance = min(max(SHARE * accuracy.relative, SMALLEST), LARGEST)
        #: the library at work, and how many iterations it has made
        self._at_work: tuple[Stepping, int] | None = None

    def relax(self, by: Vector) -> None:
        """Solve with the bounds of the rows moved apart."""
        self._nlp = Relaxed(self._nlp, by)

    def start(self, x: Vector, y: Vector) -> LibraryState:
        x = self._nlp.problem.project(x)
        self._at_work = None
        undefined = self._nlp.evaluate(x).issue is not None
        return LibraryState(0, x, y, x, y, ended=Ending.UNDEFINED if undefined else None)

    def step(self, state: LibraryState) -> LibraryState:
        if self._at_work is None or self._at_work[1] != state.k:
            self._at_work = None
            stepping = self._begun(state)
            for _ in range(state.k):
                stepping.advance()
        else:
            stepping = self._at_work[0]
        found, finished = stepping.advance()
        self._at_work = (stepping, state.k + 1)
        return self._seen(state, found, finished)

    def _begun(self, state: LibraryState) -> Stepping:
        program = Callbacks(self._nlp)
        library, tolerance = type(self).library, self._tolerance

        def loop(report: Callable[[Iterate], None]) -> Answer:
            try:
                answer = library(program, state.x_start, state.y_start, tolerance, report)
            except (Undefined, ImportError):  # a library that is installed and broken is none
                answer = Answer(program.x, state.y_start, Ending.STALLED)
            if program.trouble is not None:
                raise program.trouble
            return answer

        return Stepping(loop)

    def _seen(self, state: LibraryState, found: Iterate | Answer, finished: bool) -> LibraryState:
        problem = self._nlp.problem
        x = problem.project(np.array(found.x))
        here = self._nlp.evaluate(x)
        defined = here.issue is None and here.f is not None
        return replace(
            state,
            k=state.k + 1,
            x=x if defined else state.x,
            y=np.array(found.y) if defined else state.y,
            objective=here.f if defined and here.f is not None else state.objective,
            violation=float(problem.violation(here.c).max(initial=0.0)) if defined else np.nan,
            step=float((np.abs(x - state.x) / (1.0 + np.abs(x))).max(initial=0.0)),
            ended=found.ending if finished and isinstance(found, Answer) else None,
        )
