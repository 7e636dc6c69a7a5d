r"""The engines at work on the program of one stage, each where the one before has failed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple, Protocol

import numpy as np

from ..certify import Tolerances
from ..engines import Accuracy, Ending, Engine, Scales
from ..nlp import NLP
from ..oracle import Estimate, Problem
from ..scaling import Factors
from .judging import ACCURACY
from .sample import StageSample
from .state import Attempt, Found, StagedState

#: parts of finite data are solved to this
PART_ACCURACY = 1e-4
#: the exact program is solved to this predicted decrease, in units of the tolerance; once more, to
#: this share of the usual accuracy, if the certificate is not satisfied
EXACT_DECREASE, AGAIN = 1e-4, 1e-3
#: relative violation that counts as none when two failures are compared, in tolerances
NEARLY_FEASIBLE = 1e-2
#: a violation that is smaller by less than this factor is no reason to prefer a point
CLEARLY = 0.9


class EngineFactory(Protocol):
    """Builds an engine for a program."""

    @property
    def name(self) -> str:
        """That of its engines."""

    def __call__(self, nlp: NLP, accuracy: Accuracy, scales: Scales) -> Engine: ...


class Engines(NamedTuple):
    """Engines in the order in which they are tried."""

    #: for programs without sampling error, for the first sample, and for programs that start near
    #: the solution of the one before: a sample after another, kinks that are less rounded off
    exact: Sequence[EngineFactory]
    first: Sequence[EngineFactory]
    warm: Sequence[EngineFactory]

    @classmethod
    def always(cls, engines: Sequence[EngineFactory]) -> Engines:
        """The same ones everywhere."""
        return cls(engines, engines, engines)


class Solving:
    """Chooses engines, and what they are asked for."""

    def __init__(
        self,
        problem: Problem,
        tolerances: Tolerances,
        engines: Engines,
        finite: bool,
        factors: Factors | None = None,
    ):
        self._problem = problem
        self._tolerances = tolerances
        self._engines = engines
        self._finite = finite
        self._factors = factors
        #: the engine at work: all of it follows from the state
        self._at_work: tuple[tuple[int, int, int, int, int, bool, bool], Engine] | None = None

    def started(self, state: StagedState, sample: StageSample) -> StagedState:
        """The engine of the attempt at the current point."""
        inner = self._engine(state, sample).start(state.x, state.y)
        return replace(state, phase="solve", attempt=state.attempt._replace(inner=inner))

    def stepped(self, state: StagedState, sample: StageSample) -> tuple[StagedState, Ending | None]:
        """One iteration of the engine, and how it ended, if it did."""
        inner = self._engine(state, sample).step(state.attempt.inner)
        state = replace(
            state,
            k=state.k + 1,
            x=inner.x,
            y=inner.y,
            attempt=state.attempt._replace(inner=inner),
            objective=inner.objective,
            violation=inner.violation,
            step=inner.step,
        )
        return state, inner.ended

    def another(self, state: StagedState, ending: Ending) -> bool:
        """Whether there is an engine left to ask; two that find no solution are enough."""
        before = None if state.attempt.fallback is None else state.attempt.fallback.ending
        if ending is before and ending in (Ending.INFEASIBLE, Ending.UNBOUNDED):
            return False
        return state.attempt.number + 1 < len(self._in_turn(state))

    def with_next(self, state: StagedState, sample: StageSample, ending: Ending) -> StagedState:
        """The next engine, from where the stage was opened; the best that was found is kept."""
        attempt = state.attempt
        found = self._better(attempt.fallback, Found(state.x, state.y, ending), sample)
        number = attempt.number + 1
        other = attempt._replace(inner=None, number=number, fallback=found, again=0, resized=0)
        engines = self._in_turn(state)
        note = f"{engines[number - 1].name} ended: {ending.value}; now {engines[number].name}"
        return replace(state, x=attempt.x, y=attempt.y, attempt=other, note=note)

    def best_of_all(
        self, state: StagedState, sample: StageSample, ending: Ending
    ) -> tuple[StagedState, Ending]:
        """All engines have failed: the point that violates less, or has the lower objective."""
        best = self._better(state.attempt.fallback, Found(state.x, state.y, ending), sample)
        return replace(state, x=best.x, y=best.y), best.ending

    def _better(self, known: Found | None, new: Found, sample: StageSample) -> Found:
        """The one found before, unless the new one is clearly better."""
        if known is None or new.ending is Ending.SOLVED:
            return new
        if known.ending is Ending.SOLVED:
            return known
        before, after = sample.nlp.evaluate(known.x), sample.nlp.evaluate(new.x)
        if before.issue is not None or before.f is None:
            return new
        if after.issue is not None or after.f is None:
            return known
        size = 1.0 + np.maximum(np.abs(before.c), np.abs(after.c))

        def violation(e: Estimate) -> float:
            worst = float((self._problem.violation(e.c) / size).max(initial=0.0))
            return 0.0 if worst < NEARLY_FEASIBLE * self._tolerances.feasibility else worst

        was, now = violation(before), violation(after)
        if was == now == 0.0:
            return new if after.f < before.f else known
        return new if now < CLEARLY * was else known

    def _in_turn(self, state: StagedState) -> Sequence[EngineFactory]:
        if state.stage > 0 or state.narrowed > 0:
            return self._engines.warm
        return self._engines.exact if state.exact else self._engines.first

    def _engine(self, state: StagedState, sample: StageSample) -> Engine:
        attempt = state.attempt
        key = (
            state.stage, state.narrowed, attempt.number, attempt.again, attempt.resized,
            attempt.all_curvature, attempt.relaxed is not None,
        )  # fmt: skip
        if self._at_work is None or self._at_work[0] != key:
            factory = self._in_turn(state)[attempt.number]
            scales = Scales(state.sizes.reach, state.least_objective, self._factors)
            engine = factory(sample.nlp, self._accuracy(state, attempt), scales)
            if attempt.relaxed is not None:
                engine.relax(attempt.relaxed)
            self._at_work = (key, engine)
        return self._at_work[1]

    def _accuracy(self, state: StagedState, attempt: Attempt) -> Accuracy:
        tolerance = self._tolerances.optimality
        if state.exact:
            factor = AGAIN if attempt.again else 1.0
            return Accuracy(
                ACCURACY * tolerance * factor, EXACT_DECREASE * tolerance * factor, last_step=True
            )
        if self._finite:
            return Accuracy(PART_ACCURACY, PART_ACCURACY**2)
        return Accuracy(ACCURACY * tolerance, (ACCURACY * tolerance) ** 2, state.blur)
