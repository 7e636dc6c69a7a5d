r"""Passes through samples, piece by piece, by one process or by several.

    estimate on a sample = exact part + sum over pieces of  share * mean over the piece
    Hessian on a sample  = mean over i of  H(all sources' pieces i, weighted by their shares)

Both are sums of terms, added in a fixed tree (pairwise.py). A pass goes through the terms of
several samples, one after the other; a process computes
a run of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from ..compile import Evaluator
from ..deadline import check_time
from ..declare.program import Batch
from ..oracle import EvaluationIssue, Vector
from ..pairwise import RunningSum
from ..sample import Scenarios

#: work of second derivatives, in that of values and first ones
HESSIAN = 4.0


class Pass(NamedTuple):
    """Values at x on each of some samples, or second derivatives with multipliers y."""

    x: Vector
    y: Vector | None
    samples: Sequence[Scenarios]


class Terms(Protocol):
    """The sum that belongs to one sample."""

    count: int

    @property
    def seconds(self) -> Sequence[tuple[int, float]]:
        """Estimated work: (terms, seconds of each), run by run."""

    def hold(self, first: int, last: int) -> None:
        """Terms first, ..., last - 1 will be asked for, perhaps again and again."""

    def term(self, v: int) -> tuple[Vector, EvaluationIssue | None]:
        """One of them; its array belongs to the caller."""


class MeanTerms:
    """Those of an estimate: the pieces of all sources, or all of a small sample at once."""

    def __init__(
        self, evaluator: Evaluator, scenarios: Scenarios, limits: Sequence[int], x: Vector
    ):
        self._evaluator = evaluator
        self._scenarios = scenarios
        self._x = x
        self.whole = scenarios.fits(limits)
        self._cuts = [] if self.whole else scenarios.cuts(limits)
        self.count = 1 if self.whole else sum(len(cut) for cut in self._cuts)

    @property
    def seconds(self) -> Sequence[tuple[int, float]]:
        sizes = self._scenarios.sizes
        if self.whole:
            return [(1, self._evaluator.work(sizes))]
        found = []
        for s, cut in enumerate(self._cuts):
            own = [size if i == s else 0 for i, size in enumerate(sizes)]
            found.append((len(cut), self._evaluator.work(own) / len(cut)))
        return found

    def hold(self, first: int, last: int) -> None:
        for s, cut in enumerate(self._cuts):
            a, b = max(first, 0), min(last, len(cut))
            if a < b:
                self._scenarios.rows[s].hold(cut.piece(a)[0], cut.piece(b - 1)[1])
            first, last = first - len(cut), last - len(cut)

    def term(self, v: int) -> tuple[Vector, EvaluationIssue | None]:
        scenarios = self._scenarios
        if self.whole:
            return self._evaluator.at_once(self._x, scenarios.batches)
        s = 0
        while v >= len(self._cuts[s]):
            v -= len(self._cuts[s])
            s += 1
        share, batch = scenarios.rows[s].batch(*self._cuts[s].piece(v))
        if share == 0.0:
            return np.zeros(self._evaluator.pattern.size), None
        out, issue = self._evaluator.piece(self._x, s, batch, scenarios.sizes)
        return share * out, issue

    def finished(self, total: Vector) -> tuple[Vector, EvaluationIssue | None]:
        """All results, from the sum."""
        if self.whole:
            return total, None
        return self._evaluator.finished(self._x, total, self._scenarios.sizes)


class CurvatureTerms:
    """Those of second derivatives: every call of their code takes one piece of each source."""

    def __init__(
        self,
        evaluator: Evaluator,
        scenarios: Scenarios,
        limits: Sequence[int],
        x: Vector,
        y: Vector,
    ):
        self._evaluator = evaluator
        self._scenarios = scenarios
        self._x, self._y = x, y
        self._cuts = scenarios.cuts(limits)
        self.count = max((len(cut) for cut in self._cuts), default=1)

    @property
    def seconds(self) -> Sequence[tuple[int, float]]:
        seconds = HESSIAN * self._evaluator.work(self._scenarios.sizes)
        return [(self.count, seconds / self.count)]

    def hold(self, first: int, last: int) -> None:
        for rows, cut in zip(self._scenarios.rows, self._cuts, strict=True):
            b = min(last, len(cut))
            if first < b:
                rows.hold(cut.piece(first)[0], cut.piece(b - 1)[1])

    def term(self, v: int) -> tuple[Vector, EvaluationIssue | None]:
        batches = []
        for rows, cut in zip(self._scenarios.rows, self._cuts, strict=True):
            # a source that is already through takes part with weight zero
            share, batch = rows.batch(*cut.piece(v)) if v < len(cut) else (0.0, rows.batch(0, 1)[1])
            weights = 1.0 / batch.size if batch.weights is None else batch.weights
            weights = np.full(batch.size, share * self.count) * weights
            batches.append(Batch(batch.size, batch.parts, weights))
        return self._evaluator.hessian(self._x, self._y, batches), None

    def finished(self, total: Vector) -> Vector:
        """The Hessian, from the sum."""
        return total / self.count


@dataclass
class Share:
    """What one process, or several that follow each other, have found."""

    #: one sum for every sample
    sums: list[RunningSum]
    #: the first trouble: the sample, the term, and what it was
    issue: tuple[int, int, EvaluationIssue] | None = None

    def with_next(self, other: Share) -> Share:
        """That of the terms that follow, too."""
        for mine, theirs in zip(self.sums, other.sums, strict=True):
            mine.extend(theirs.nodes)
        return self if self.issue is not None else Share(self.sums, other.issue)


def share_of(terms: Sequence[Terms], first: int, last: int) -> Share:
    """Terms first, ..., last - 1 of all samples', counted through; the first trouble ends it."""
    share = Share([RunningSum() for _ in terms])
    for j, (own, total) in enumerate(zip(terms, share.sums, strict=True)):
        a, b = max(first, 0), min(last, own.count)
        first, last = first - own.count, last - own.count
        if a >= b:
            continue
        own.hold(a, b)
        for v in range(a, b):
            check_time()
            value, issue = own.term(v)
            if issue is not None:
                share.issue = (j, v, issue)
                return share
            total.add(v, value)
    return share


def seconds(terms: Sequence[Terms]) -> float:
    """The estimated work of a pass."""
    return sum(count * each for own in terms for count, each in own.seconds)


def divided(terms: Sequence[Terms], shares: int) -> list[int]:
    """Bounds of so many runs of terms, of about equal work: shares + 1 numbers."""
    runs = [run for own in terms for run in own.seconds]
    total = sum(count * each for count, each in runs)
    bounds, first, done = [0], 0, 0.0
    for count, each in runs:
        while len(bounds) < shares:
            wanted = total * len(bounds) / shares - done
            if wanted > count * each:
                break
            bounds.append(first + round(wanted / each))
        first, done = first + count, done + count * each
    return bounds + [first] * (shares + 1 - len(bounds))
