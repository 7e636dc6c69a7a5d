r"""Independent replicates: an estimate with its standard error.

R samples of equal size, drawn independently, give values V_1, ..., V_R of anything that can be
averaged, and

    mean  V = (V_1 + ... + V_R) / R,       standard error  s = std(V_1, ..., V_R) / sqrt(R).

V +- t s covers the expectation with the wanted confidence, t the Student quantile with R - 1
degrees of freedom, at level 1 - (1 - confidence) / k for k numbers at once (Bonferroni). A mean
over evenly spread scenarios errs by the few that lie in the tails, so it is skewed, and a few
replicates of it do not make a normal number: their t is larger by a factor that was measured
(python -m benchmarks.trust coverage).

Three things spoil that, and all of them show. A heavy tail: one replicate lies further from the
others than normal numbers would (Grubbs' test). A rare event: most replicates agree to the last
digit, because nothing has happened in them (and not because their scenarios are spread so evenly
that a mean comes out exactly). No variance, perhaps no mean: the spread of single scenarios, as n
of them show it, sqrt(n) s, is many times what a few dozen show, because it grows with n.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import pi
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from ..oracle import (
    SPREAD_STREAM,
    Estimate,
    EvaluationIssue,
    Oracle,
    Problem,
    Sample,
    Vector,
    spreads_evenly,
)

Matrix = NDArray[np.float64]

#: replicates of a certificate, where points are spread evenly in each and where they are
#: independent draws, which lose nothing by being divided: more replicates, a smaller t
EVENLY, INDEPENDENT = 16, 64
#: the share of the error that all looks of a run together may have
ERROR = 0.05
#: factor of t for few replicates: without it bounds at 97 % miss 4-10 %, with it 1-4 %
SKEWED = 1.3
#: chance of calling normal replicates heavy-tailed
FALSE_ALARM = 1e-3
#: spreads below this share of their numbers are rounding
ROUNDING = 1e-12
#: a spread that grows by more than this is taken to have no limit: that of a lognormal number with
#: sigma = 2 looks 4 times too small in 64 draws, on average, and 30 times in one of a thousand
SPREADING = 30.0
#: pairs of scenarios that the spread of single scenarios is estimated from
PAIRS = 32


@dataclass(frozen=True)
class Values:
    """Values at one point, one line per replicate."""

    f: Vector
    g: Matrix
    c: Matrix
    J: Matrix
    scenarios: int

    @property
    def count(self) -> int:
        return self.f.size

    def mean(self) -> Estimate:
        """The pooled estimate."""
        return Estimate(
            self.g.mean(axis=0), self.c.mean(axis=0), self.J.mean(axis=0), float(self.f.mean())
        )


def replicates_for(oracle: Oracle) -> int:
    """Into how many replicates a fixed sample is divided."""
    return EVENLY if spreads_evenly(oracle) else INDEPENDENT


def estimated(oracle: Oracle, x: Vector, samples: Sequence[Sample]) -> Values | EvaluationIssue:
    """Estimates on every sample; the issue, where one cannot be made."""
    made = []
    for sample in samples:
        estimate = oracle.estimate(x, sample, objective=True)
        if estimate.issue is not None:
            return estimate.issue
        made.append(estimate)
    return Values(
        np.array([e.f for e in made], dtype=float),
        np.array([e.g for e in made]),
        np.array([e.c for e in made]),
        np.array([e.J for e in made]),
        sum(sample.scenarios for sample in samples),
    )


def standard_error(values: Matrix) -> Vector:
    """Of the mean over the first axis; zero for a single (exact) value."""
    count = values.shape[0]
    if count < 2:
        return np.zeros(values.shape[1:])
    return values.std(axis=0, ddof=1) / np.sqrt(count)


def quantile(confidence: float, count: int, numbers: int = 1) -> float:
    """Student's t for ``numbers`` two-sided intervals at once, from ``count`` replicates."""
    if count < 2:
        return 0.0
    t = float(stats.t.ppf(1.0 - (1.0 - confidence) / (2 * max(numbers, 1)), count - 1))
    return SKEWED * t if count <= EVENLY else t


def look_confidence(number: int) -> float:
    """The confidence of a run's j-th look, 1 - 0.05 * 6 / (pi^2 j^2): all looks together have 95 %,
    so that a run that looks often is not believed more easily."""
    return 1.0 - ERROR * 6.0 / (pi * number) ** 2


def heavy_tailed(values: Matrix) -> bool:
    """Grubbs' test on every column at once."""
    count, columns = values.shape
    if count < 4 or not columns:
        return False
    t = stats.t.ppf(1.0 - FALSE_ALARM / (2 * count * columns), count - 2)
    critical = (count - 1) / np.sqrt(count) * np.sqrt(t * t / (count - 2 + t * t))
    deviation = np.abs(values - values.mean(axis=0))
    spread = values.std(axis=0, ddof=1)
    varies = spread > ROUNDING * np.abs(values).max(axis=0)
    return bool((deviation[:, varies] > critical * spread[varies]).any())


def rare_events(values: Matrix) -> bool:
    """Whether some column varies, but not between most of the replicates."""
    count = values.shape[0]
    for column in values.T:
        distinct, sizes = np.unique(column, return_counts=True)
        if distinct.size > 1 and sizes.max() > count // 2:
            return True
    return False


def spreading(values: Matrix, few: Vector, count: int) -> bool:
    """Whether spreads of single scenarios grow with the sample.

    ``values`` are means over ``count`` scenarios in all, one line per replicate; ``few`` are
    spreads that a few dozen scenarios have shown.
    """
    varies = few > ROUNDING * np.abs(values).max(axis=0)
    many = standard_error(values[:, varies]) * np.sqrt(count)
    return bool((many > SPREADING * few[varies]).any())


class Spreads(NamedTuple):
    """Standard deviations of F, its gradient and C over single scenarios."""

    f: float
    g: Vector
    c: Vector

    @classmethod
    def none(cls, problem: Problem) -> Spreads:
        return cls(0.0, np.zeros(problem.n), np.zeros(problem.m))


def spreads(oracle: Oracle, x: Vector, number: int) -> Spreads:
    """From pairs of independent scenarios: the variance of a pair's mean is half of it."""
    if not oracle.sources:
        return Spreads.none(oracle.problem)
    batch = [2] * len(oracle.sources)
    f, g, c = [], [], []
    for i in range(PAIRS):
        sample = oracle.draw(SPREAD_STREAM, number * PAIRS + i, batch)
        estimate = oracle.estimate(x, sample, objective=True)
        if estimate.issue is None:
            f.append(float(estimate.f or 0.0))
            g.append(estimate.g)
            c.append(estimate.c)
    if len(f) < 4:
        return Spreads.none(oracle.problem)
    f_spread, g_spread, c_spread = (
        np.sqrt(2.0) * np.std(values, axis=0, ddof=1) for values in (f, g, c)
    )
    return Spreads(float(f_spread), g_spread, c_spread)
