r"""Making certificates (see certificate.py): one evaluation of every replicate, one Newton step."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, nan

import numpy as np
from numpy.typing import NDArray

from ..nlp import SampleAverage
from ..oracle import EvaluationIssue, Jacobian, Oracle, PlugInOracle, Sample, Vector
from .certificate import (
    ROUNDING,
    SHARE,
    VARIABLE_ROUNDING,
    ZERO,
    Certificate,
    Look,
    objective_rounding,
    row_sizes,
    variable_sizes,
)
from .located import Locator
from .replicates import (
    Values,
    estimated,
    heavy_tailed,
    quantile,
    rare_events,
    spreading,
    standard_error,
    unrounded,
)
from .request import Request
from .spreads import Pairs, Spreads

#: a variable this small, relative to what would make up a row by itself, is zero but for rounding
RANDOM_ZERO = 10.0 * float(np.finfo(float).eps)


class Certifier:
    """Makes certificates of points of one problem."""

    def __init__(self, oracle: Oracle):
        self._oracle = oracle
        self._problem = oracle.problem
        self._jacobian = Jacobian(oracle.problem)
        self._locator = Locator(oracle.problem)
        self._pairs = Pairs(oracle)

    def certify(
        self,
        x: Vector,
        y: Vector,
        samples: Sequence[Sample],
        curvature_samples: Sequence[Sample],
        look: Look,
    ) -> tuple[Certificate, Values] | EvaluationIssue:
        """A certificate of x on independent samples, or on a single, exact one; with the values
        that it is based on. ``y`` are multipliers for second derivatives.
        """
        made = self._values(x, samples, look)
        if isinstance(made, EvaluationIssue):
            return made
        values, rounded = made
        problem, exact = self._problem, values.count == 1
        number, sizes, confidence = look.number, look.sizes, look.confidence
        mean = values.mean()
        assert mean.f is not None
        spread = Spreads.none(problem) if exact else self._pairs.spreads(x, number, samples)
        J = np.abs(mean.J)
        terms = self._jacobian.times(J, np.abs(x))
        row_size = row_sizes(problem, terms, spread.c)
        largest_x = np.maximum(sizes.reach, np.abs(x))
        known = np.where(largest_x <= RANDOM_ZERO * self._by_rows(J, terms, x)[0], 0.0, largest_x)
        size = max(abs(mean.f - problem.objective_constant), spread.f)
        by_rows, at_most = self._by_rows(J, row_size, x)
        length = np.maximum(known, SHARE * by_rows)
        length = np.where(length > 0.0, length, 1.0)
        request = Request(
            x,
            y,
            values,
            spread.pairs,
            mean,
            known,
            length,
            row_size,
            size,
            confidence,
            look.relaxed,
        )
        found = self._locator.located(
            SampleAverage(self._oracle, samples, curvature_samples), request
        )
        place = found.displacement
        spread_x = SHARE * found.spread
        seen = np.maximum(largest_x, spread_x)
        by_rows = np.minimum(SHARE * by_rows, np.where(seen > 0.0, seen, inf))
        variable_size = variable_sizes(
            x, place.move, size, found.curvature, np.maximum(spread_x, by_rows)
        )
        reach = quantile(confidence, values.count, problem.m) * standard_error(values.c)
        low, high = mean.c - reach, mean.c + reach
        certificate = Certificate(
            x=x,
            y=found.y,
            reduced_costs=mean.g + self._jacobian.transposed(mean.J, found.y),
            objective=mean.f,
            objective_error=float(standard_error(values.f[:, None])[0]),
            objective_spread=spread.f,
            objective_rounded=rounded,
            violation=problem.violation(mean.c),
            # the least and the largest distance of a point of [low, high] to the row's interval
            violation_lower=np.maximum(
                np.maximum(problem.row_lower - high, low - problem.row_upper), 0.0
            ),
            violation_bound=np.maximum(problem.violation(low), problem.violation(high)),
            row_size=row_size,
            row_rounding=self._jacobian.times(
                J, np.maximum(ROUNDING * np.maximum(largest_x, at_most), ZERO * variable_size)
            ),
            displacement=place.bound,
            displacement_error=place.error,
            variable_size=variable_size,
            variable_rounding=VARIABLE_ROUNDING * largest_x,
            move=place.move,
            gap=place.gap,
            gap_noise=place.gap_noise,
            gap_along=place.along,
            gap_along_noise=place.along_noise,
            objective_size=size,
            objective_rounding=objective_rounding(
                mean.g, found.curvature, largest_x, max(sizes.objective, abs(mean.f))
            ),
            has_gradient=bool(mean.g.any()),
            flat=place.flat,
            saddle=place.descent is not None,
            descent=np.zeros(0) if place.descent is None else place.descent,
            confidence=confidence,
            scenarios=values.scenarios,
            replicates=values.count,
            exact=exact,
            first_order=found.first_order,
            heavy_tails=not exact and _heavy(values, found.gradients),
            rare_events=not exact and _rare(values, spread),
            spreading=not exact and self._spreading(values, spread),
            narrowing=self._oracle.narrowing if isinstance(self._oracle, PlugInOracle) else 0,
        )
        return certificate, values

    def _values(
        self, x: Vector, samples: Sequence[Sample], look: Look
    ) -> tuple[Values, float] | EvaluationIssue:
        """What the replicates say, and what rounding kinks off has added to the objective."""
        oracle, level = self._oracle, look.narrowing
        if not self.rounded or level is None:
            values = estimated(oracle, x, samples)
            return values if isinstance(values, EvaluationIssue) else (values, nan)
        assert isinstance(oracle, PlugInOracle)
        oracle.narrow(level)
        values = estimated(oracle, x, samples)
        if isinstance(values, EvaluationIssue):
            return values
        closer = unrounded(oracle, x, samples, level, values)
        if isinstance(closer, EvaluationIssue):
            return closer
        if not look.noise_of_kinks:
            closer = values.about(closer.mean())
        return closer, float(values.f.mean() - closer.f.mean())

    @property
    def rounded(self) -> bool:
        """Whether kinks were rounded off."""
        return isinstance(self._oracle, PlugInOracle) and self._oracle.rounded

    def objective_spread(self, x: Vector, number: int, samples: Sequence[Sample]) -> float:
        """The spread of the objective over single scenarios, as a certificate would find it."""
        return self._pairs.spreads(x, number, samples).f

    def _spreading(self, values: Values, spread: Spreads) -> bool:
        everything = np.column_stack([values.f[:, None], values.g, values.c])
        suspect = any(source.heavy for source in self._oracle.sources)
        return spreading(everything, spread.of_all, spread.typical, values.scenarios, suspect)

    def _by_rows(self, J: Vector, sizes: Vector, x: Vector) -> tuple[Vector, Vector]:
        """The least and the largest value of every variable that would make up a row of that size
        by itself; 0 for those that do in all of theirs, or have none. ``J`` are the sizes of its
        entries."""
        problem = self._problem
        size, own = sizes[problem.jac_rows], J * np.abs(x)[problem.jac_indices]
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where((J > 0.0) & (size > own), size / J, 0.0)
        least, most = np.full(problem.n, inf), np.zeros(problem.n)
        np.minimum.at(least, problem.jac_indices, np.where(share > 0.0, share, inf))
        np.maximum.at(most, problem.jac_indices, share)
        return np.where(np.isfinite(least), least, 0.0), most


def _heavy(values: Values, gradients: NDArray[np.float64]) -> bool:
    return heavy_tailed(np.column_stack([values.f[:, None], values.c, gradients]))


def _rare(values: Values, spread: Spreads) -> bool:
    """Nothing varies at all, or, of what hardly ever varies, something does in a few replicates."""
    everything = np.column_stack([values.f[:, None], values.g, values.c])
    still = spread.of_all == 0.0
    silent = bool(still.all()) and not np.ptp(np.column_stack([everything, values.J]), axis=0).any()
    return silent or rare_events(everything[:, still])
