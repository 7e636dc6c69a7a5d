r"""Making certificates (see certificate.py): one evaluation of every replicate, one Newton step."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import numpy as np
from numpy.typing import NDArray

from ..nlp import SampleAverage
from ..oracle import EvaluationIssue, Jacobian, Oracle, Sample, Vector
from .certificate import MEMORY, Certificate, Sizes, row_sizes, variable_sizes
from .located import Request, make_locator
from .replicates import (
    Spreads,
    Values,
    estimated,
    heavy_tailed,
    quantile,
    rare_events,
    spreading,
    spreads,
    standard_error,
)

#: a variable this small, relative to what would make up a row by itself, is the rounding of zero
ROUNDING = 10.0 * float(np.finfo(float).eps)


class Certifier:
    """Makes certificates of points of one problem."""

    def __init__(self, oracle: Oracle):
        self._oracle = oracle
        self._problem = oracle.problem
        self._jacobian = Jacobian(oracle.problem)
        self._locator = make_locator(oracle.problem)

    def certify(
        self,
        x: Vector,
        y: Vector,
        samples: Sequence[Sample],
        curvature_samples: Sequence[Sample],
        number: int,
        sizes: Sizes,
        confidence: float,
        relaxed: Vector | None = None,
    ) -> tuple[Certificate, Values] | EvaluationIssue:
        """A certificate of x on independent samples, or on a single, exact one.

        ``y`` are multipliers for second derivatives, ``number`` chooses the scenarios that spreads
        are measured on, ``relaxed`` rows are those that contradict each other within their noise.
        """
        values = estimated(self._oracle, x, samples)
        if isinstance(values, EvaluationIssue):
            return values
        problem, exact = self._problem, values.count == 1
        mean = values.mean()
        assert mean.f is not None
        spread = Spreads.none(problem) if exact else spreads(self._oracle, x, number)
        terms = self._jacobian.times(np.abs(mean.J), np.abs(x))
        row_size = np.maximum(row_sizes(problem, terms, spread.c), MEMORY * sizes.rows)
        largest_x = np.maximum(sizes.x, np.abs(x))
        largest_x[largest_x <= ROUNDING * self._shares(mean.J, terms)] = 0.0
        request = Request(
            x, y, values, mean, largest_x, row_size, max(abs(mean.f), spread.f), confidence, relaxed
        )
        found = self._locator.located(
            SampleAverage(self._oracle, samples, curvature_samples), request
        )
        place = found.displacement
        objective_size = max(abs(mean.f), spread.f, MEMORY * sizes.objective)
        reach = quantile(confidence, values.count, problem.m) * standard_error(values.c)
        low, high = mean.c - reach, mean.c + reach
        certificate = Certificate(
            x=x,
            y=found.y,
            reduced_costs=mean.g + self._jacobian.transposed(mean.J, found.y),
            objective=mean.f,
            objective_error=float(standard_error(values.f[:, None])[0]),
            violation=problem.violation(mean.c),
            # the least and the largest distance of a point of [low, high] to the row's interval
            violation_lower=np.maximum(
                np.maximum(problem.row_lower - high, low - problem.row_upper), 0.0
            ),
            violation_bound=np.maximum(problem.violation(low), problem.violation(high)),
            row_size=row_size,
            displacement=place.bound,
            displacement_error=place.error,
            variable_size=variable_sizes(x, place.move, objective_size, found.curvature, sizes.x),
            move=place.move,
            gap=inf if found.failed else place.gap,
            gap_noise=place.gap_noise,
            objective_size=objective_size,
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
            spreading=not exact and _spreading(values, spread),
        )
        return certificate, values

    def _shares(self, J: Vector, terms: Vector) -> Vector:
        """The least value of every variable that would make up all of a row's terms."""
        problem, a = self._problem, np.abs(J)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(a > 0.0, terms[problem.jac_rows] / a, inf)
        least = np.full(problem.n, inf)
        np.minimum.at(least, problem.jac_indices, share)
        return np.where(np.isfinite(least), least, 0.0)


def _heavy(values: Values, gradients: NDArray[np.float64]) -> bool:
    return heavy_tailed(np.column_stack([values.f[:, None], values.c, gradients]))


def _rare(values: Values, spread: Spreads) -> bool:
    """Nothing varies at all, or, of what hardly ever varies, something does in a few replicates."""
    everything = np.column_stack([values.f[:, None], values.g, values.c])
    still = np.concatenate(([spread.f], spread.g, spread.c)) == 0.0
    silent = bool(still.all()) and not np.ptp(everything, axis=0).any()
    return silent or rare_events(everything[:, still])


def _spreading(values: Values, spread: Spreads) -> bool:
    everything = np.column_stack([values.f[:, None], values.g, values.c])
    few = np.concatenate(([spread.f], spread.g, spread.c))
    return spreading(everything, few, values.scenarios)
