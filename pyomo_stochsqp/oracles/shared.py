r"""Passes that the ranks of a crew share.

Rank 0 names the samples; everybody draws and evaluates a run of the pass's terms, about as long for
each. Work that takes less time than messages do stays on rank 0: the bits are the same.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..deadline import seconds_left, time_limit
from ..oracle import Vector
from ..ranks import Crew
from ..sample import Sampler, Scenarios
from .model import ModelOracle
from .passes import Pass, Share, Terms, divided, seconds, share_of

#: estimated seconds that sharing a pass must save
LEAST_SAVING = 5e-3


@dataclass(frozen=True)
class Question:
    """A pass, in words that mean the same to every rank."""

    #: number of the oracle whose functions are asked for
    oracle: int
    x: Vector
    y: Vector | None
    samples: Sequence[Any]
    #: the level at which kinks are rounded off
    narrowing: int
    seconds_left: float
    #: samples that will not be asked for again
    forgotten: Sequence[Any]


class PassesOfRanks:
    """One for all oracles of a model, the outermost one first. Rank 0 asks, the others answer."""

    def __init__(self, crew: Crew, sampler: Sampler, oracles: Sequence[ModelOracle]):
        self._crew = crew
        self._sampler = sampler
        self._oracles = oracles
        #: samples that other ranks may hold, and those that rank 0 has let go
        self._shared: set[Any] = set()
        self._forgotten: list[Any] = []
        #: on other ranks: what they hold
        self._held: dict[Any, Scenarios] = {}
        if crew.rank == 0:
            for oracle in oracles:
                oracle.crew = self

    def share(self, oracle: ModelOracle, whole: Pass, terms: Sequence[Terms]) -> Share:
        """All terms of a pass, whoever computes them."""
        if (1.0 - 1.0 / self._crew.size) * seconds(terms) < LEAST_SAVING:
            return share_of(terms, 0, sum(t.count for t in terms))
        for scenarios in whole.samples:
            self._remember(scenarios)
        forgotten, self._forgotten = self._forgotten, []
        question = Question(
            oracle=self._oracles.index(oracle),
            x=whole.x,
            y=whole.y,
            samples=[scenarios.name for scenarios in whole.samples],
            narrowing=oracle.narrowing,
            seconds_left=seconds_left(),
            forgotten=forgotten,
        )
        found: Share = self._crew.ask(question, lambda _: self._own(terms))
        return found

    def answer(self, question: Question) -> Share:
        """This rank's part of a pass."""
        for name in question.forgotten:
            self._held.pop(name, None)
        self._oracles[0].narrow(question.narrowing)
        samples = [self._sample(name) for name in question.samples]
        whole = Pass(question.x, question.y, samples)
        with time_limit(question.seconds_left):
            return self._own(self._oracles[question.oracle].terms(whole))

    def _own(self, terms: Sequence[Terms]) -> Share:
        rank = self._crew.rank
        bounds = divided(terms, self._crew.size)
        return share_of(terms, bounds[rank], bounds[rank + 1])

    def _remember(self, scenarios: Scenarios) -> None:
        if scenarios.name not in self._shared:
            self._shared.add(scenarios.name)
            weakref.finalize(scenarios, self._let_go, scenarios.name)

    def _let_go(self, name: Any) -> None:
        self._shared.discard(name)
        self._forgotten.append(name)

    def _sample(self, name: Any) -> Scenarios:
        known = self._held.get(name)
        if known is None:
            known = self._held[name] = self._sampler.named(name)
        return known
