r"""Independent replicates: an estimate with its standard error.

R samples of equal size, drawn independently, give values V_1, ..., V_R of anything that can be
averaged, and

    mean  V = (V_1 + ... + V_R) / R,       standard error  s = std(V_1, ..., V_R) / sqrt(R).

V +- t s covers the expectation with the wanted confidence, t the Student quantile with R - 1
degrees of freedom, at level 1 - (1 - confidence) / k for k numbers at once (Bonferroni). A mean
over evenly spread scenarios errs by the few that lie in the tails, so it is skewed, and a few
replicates of it do not make a normal number: their t is larger by a factor that was measured
(python -m benchmarks.trust coverage).

Formulas of expectations are not linear in the sample: the mean of V_i has the bias O(1/n) of single
replicates. The value P of all scenarios together has R times less, and P + (P - V)/(R - 1) none of
that order (the jackknife). The replicates are moved there; how much they disagree is to first order
the same (the delta method).

Kinks that were rounded off over a width w leave an error of order w, or of a higher one. Values V'
over NARROWER times the width tell: V + (V' - V) / (1 - NARROWER) has no error of first order. V' is
the noisier, for fewer scenarios lie within narrower kinks. So the mean of this counts, with the
noise of V; only where that leaves a doubt is the noise of both looked at.

Three things spoil that, and all of them show. A heavy tail: one replicate lies further from the
others than normal numbers would (Grubbs' test). A rare event: most replicates agree to the last
digit, because nothing has happened in them (and not because their scenarios are spread so evenly
that a mean comes out exactly). No variance, perhaps no mean: the spread of single scenarios, as n
of them show it, sqrt(n) s, is many times that of typical ones, because it grows with n, and single
replicates stand out from the others however large they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import pi
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from ..oracle import (
    NARROWER,
    Estimate,
    EvaluationIssue,
    Oracle,
    PlugInOracle,
    Sample,
    Vector,
    estimates,
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
#: a spread that exceeds the typical one by more than this may have no limit: that of a lognormal
#: number with sigma = 2 does by 20
SPREADING = 30.0
#: ... and is no larger than this share of what a few dozen scenarios show, if it has one
LARGER = 0.3
#: a deviation of this many typical ones is none of a normal number: their largest of 64 is about 4
STANDS_OUT = 20.0


@dataclass(frozen=True)
class Values:
    """Values at one point, one line per replicate."""

    f: Vector
    g: Matrix
    c: Matrix
    J: Matrix
    scenarios: int

    @classmethod
    def of(cls, estimates: Sequence[Estimate], scenarios: int) -> Values:
        """Of estimates that have been made with their objective."""
        return cls(
            np.array([e.f for e in estimates], dtype=float),
            np.array([e.g for e in estimates]),
            np.array([e.c for e in estimates]),
            np.array([e.J for e in estimates]),
            scenarios,
        )

    @property
    def count(self) -> int:
        return self.f.size

    def mean(self) -> Estimate:
        """The pooled estimate."""
        return Estimate(
            self.g.mean(axis=0), self.c.mean(axis=0), self.J.mean(axis=0), float(self.f.mean())
        )

    def about(self, centre: Estimate) -> Values:
        """The same deviations about another mean."""
        return self._combined(lambda v, mean: v - v.mean(axis=0) + mean, centre)

    def jackknifed(self, pooled: Estimate) -> Values:
        """The same about the value of all scenarios together (see the head of this file)."""
        share = 1.0 / (self.count - 1)
        return self._combined(lambda v, whole: v - (1.0 + share) * (v.mean(axis=0) - whole), pooled)

    def towards(self, other: Values, share: float) -> Values:
        """These plus a share of the way to others of the same scenarios."""
        return self._combined(lambda v, w: v + share * (w - v), other)

    def _combined(self, by: Callable[[Any, Any], Any], other: Values | Estimate) -> Values:
        return replace(
            self,
            f=by(self.f, other.f),
            g=by(self.g, other.g),
            c=by(self.c, other.c),
            J=by(self.J, other.J),
        )


def replicates_for(oracle: Oracle) -> int:
    """Into how many replicates a fixed sample is divided."""
    return EVENLY if spreads_evenly(oracle) else INDEPENDENT


def estimated(oracle: Oracle, x: Vector, samples: Sequence[Sample]) -> Values | EvaluationIssue:
    """Estimates on every sample; the issue, where one cannot be made."""
    pooled = None
    if len(samples) > 1 and isinstance(oracle, PlugInOracle):
        pooled, made = oracle.replicated(x, samples, objective=True)
        if pooled.issue is not None:
            return pooled.issue
    else:
        made = estimates(oracle, x, samples, objective=True)
    for estimate in made:
        if estimate.issue is not None:
            return estimate.issue
    values = Values.of(made, sum(sample.scenarios for sample in samples))
    return values if pooled is None else values.jackknifed(pooled)


def unrounded(
    oracle: PlugInOracle, x: Vector, samples: Sequence[Sample], level: int, values: Values
) -> Values | EvaluationIssue:
    """The values without what kinks rounded off at that level leave in them."""
    oracle.narrow(level + 1)
    closer = estimated(oracle, x, samples)
    oracle.narrow(level)
    if isinstance(closer, EvaluationIssue):
        return closer
    return values.towards(closer, 1.0 / (1.0 - NARROWER))


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


def spreading(values: Matrix, spread: Vector, typical: Vector, count: int, suspect: bool) -> bool:
    """Whether spreads of single scenarios grow with the sample.

    A rare event does that, too; but where it has a variance, means of many scenarios are normal
    numbers by and by, and no single replicate stands out. Nor is a spread growing that a few dozen
    scenarios show to be larger.

    ``values`` are means over ``count`` scenarios in all, one line per replicate; ``spread`` is that
    of a few dozen scenarios, ``typical`` that of most of them. Of a ``suspect`` distribution it is
    known that it has no variance: evenly spread, its extremes look alike in all replicates.
    """
    size = ROUNDING * np.abs(values).max(axis=0)
    many = standard_error(values) * np.sqrt(count)
    grows = (many > SPREADING * np.maximum(typical, size)) & (many > size)
    grows &= (many > LARGER * spread) | suspect
    off = np.abs(values - np.median(values, axis=0))
    stands_out = off.max(axis=0) > STANDS_OUT * np.median(off, axis=0)
    return bool((grows & (stands_out | suspect)).any())
