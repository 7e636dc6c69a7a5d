r"""Tolerances: when a certificate is good enough.

    feasible   every row's violation bound <= tol_feas * size of the row
    optimal    gap <= tol_opt * size of the objective, and besides
               either every displacement <= 3 tol_opt * size of the variable
               or     gap <= 1e-3 tol_opt |f|: a flat objective leaves x undetermined (but where
                      the objective has no gradient, the displacement alone must do)

and the point must not be a saddle. ``excess`` is the worst of these in units of its tolerance.

Where the tails of the replicates are too heavy for Student's quantile, the noise counts twice: that
is what Chebyshev's inequality, which holds for every distribution, asks for at 95 %.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np

from ..oracle import Vector
from .certificate import Certificate
from .replicates import quantile

#: displacements may be this many times the tolerance of the objective
DISPLACEMENT = 3.0
#: a gap this small, relative to |f| and the tolerance, excuses any displacement
NEGLIGIBLE = 1e-3
#: factor of the noise where tails are heavy
HEAVY = 2.0


@dataclass(frozen=True)
class Tolerances:
    """Relative tolerances of feasibility and of optimality."""

    feasibility: float
    optimality: float

    def excess(self, c: Certificate) -> float:
        """The worst bound in units of its tolerance."""
        gap = c.relative_gap / self.optimality
        move = c.relative_displacement / (DISPLACEMENT * self.optimality)
        worst = max(
            c.relative_infeasibility_bound / self.feasibility,
            gap,
            min(move, self._negligible(c, c.gap)),
        )
        return worst + (HEAVY - 1.0) * self._noise(c) if c.heavy_tails else worst

    def better(self, c: Certificate, than: Certificate | None) -> bool:
        """Whether a certificate says more for its point; one that has seen nothing says nothing."""
        if than is None or c.rare_events != than.rare_events:
            return than is None or than.rare_events
        return self.excess(c) <= self.excess(than)

    def noise(self, c: Certificate) -> float:
        """What of the excess is sampling noise: it falls with the size of the sample."""
        return HEAVY * self._noise(c) if c.heavy_tails else self._noise(c)

    def met(self, c: Certificate) -> bool:
        """Whether the point may be called optimal."""
        return self.excess(c) <= 1.0 and not (c.saddle or c.rare_events or c.spreading)

    def feasible(self, c: Certificate) -> bool:
        """Upper bounds of all violations are within the tolerance."""
        return c.relative_infeasibility_bound <= self.feasibility

    def infeasible(self, c: Certificate) -> bool:
        """Some lower bound of a violation is beyond the tolerance."""
        return c.relative_infeasibility_lower > self.feasibility

    def _noise(self, c: Certificate) -> float:
        t = quantile(c.confidence, c.replicates, c.x.size)
        rows = _largest(c.violation_bound - c.violation, c.row_size) / self.feasibility
        gap = 0.0
        if c.has_gradient:
            gap = _largest(np.array([c.gap_noise]), np.array([c.objective_size])) / self.optimality
        moves = _largest(t * c.displacement_error, c.variable_size)
        moves /= DISPLACEMENT * self.optimality
        return max(rows, gap, min(moves, self._negligible(c, c.gap_noise)))

    def _negligible(self, c: Certificate, gap: float) -> float:
        if c.objective == 0.0 or not c.has_gradient:
            return inf  # nothing but the rows decides where the solution is
        return gap / abs(c.objective) / (NEGLIGIBLE * self.optimality)


def _largest(error: Vector, size: Vector) -> float:
    """The largest error relative to its size; no error has no size to be compared with."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.where(error > 0.0, error / size, 0.0).max(initial=0.0))
