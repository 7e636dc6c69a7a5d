r"""Standard deviations over single scenarios, measured on a few pairs of them.

The variance of the mean of two independent scenarios is half that of one, and an oracle returns
means: 32 pairs know a standard deviation to some 13 %, which is enough for a size.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..oracle import SPREAD_STREAM, Oracle, PlugInOracle, Problem, Sample, Vector
from .replicates import Values

PAIRS = 32
#: the middle half of normal numbers, in standard deviations
MIDDLE_HALF = 1.349
#: fewer values say nothing
LEAST = 4


class Spreads(NamedTuple):
    """Standard deviations of F, its gradient and C over single scenarios."""

    f: float
    g: Vector
    c: Vector
    #: the same of all of them as the middle half of the pairs shows it, whatever the others do
    typical: Vector
    #: the values of the pairs, one line each; None where there are none
    pairs: Values | None = None

    @property
    def of_all(self) -> Vector:
        """F, its gradient and C, one after the other."""
        return np.concatenate(([self.f], self.g, self.c))

    @classmethod
    def none(cls, problem: Problem) -> Spreads:
        n, m = problem.n, problem.m
        return cls(0.0, np.zeros(n), np.zeros(m), np.zeros(1 + n + m))


class Pairs:
    """Pairs of scenarios of one oracle; the last ones are kept, for another point."""

    def __init__(self, oracle: Oracle):
        self._oracle = oracle
        self._drawn: tuple[int, Sequence[Sample]] | None = None

    def spreads(self, x: Vector, number: int, about: Sequence[Sample]) -> Spreads:
        """At x; ``number`` chooses the scenarios. Formulas of expectations mean nothing for two
        scenarios: they are linearised about larger samples."""
        problem, oracle = self._oracle.problem, self._oracle
        if not oracle.sources:
            return Spreads.none(problem)
        drawn = self._pairs(number)
        if isinstance(oracle, PlugInOracle):
            made = oracle.linearised(x, drawn, about)
        else:
            made = [oracle.estimate(x, pair, objective=True) for pair in drawn]
            made = [estimate for estimate in made if estimate.issue is None]
        if len(made) < LEAST:
            return Spreads.none(problem)
        pairs = Values.of(made, 2 * len(made))
        low, high = np.quantile(np.column_stack((pairs.f, pairs.g, pairs.c)), (0.25, 0.75), axis=0)
        typical = np.sqrt(2.0) * (high - low) / MIDDLE_HALF
        f, g, c = (single(values) for values in (pairs.f, pairs.g, pairs.c))
        return Spreads(float(f), g, c, typical, pairs)

    def _pairs(self, number: int) -> Sequence[Sample]:
        if self._drawn is None or self._drawn[0] != number:
            batch = [2] * len(self._oracle.sources)
            first = number * PAIRS
            self._drawn = (
                number,
                [self._oracle.draw(SPREAD_STREAM, first + i, batch) for i in range(PAIRS)],
            )
        return self._drawn[1]


def single(values: NDArray[np.float64]) -> Vector:
    """The standard deviation of one scenario, from means over two; equal numbers have none, not
    even the rounding of their mean."""
    deviation: Vector = np.sqrt(2.0) * values.std(axis=0, ddof=1)
    return np.where(np.ptp(values, axis=0) > 0.0, deviation, 0.0)
