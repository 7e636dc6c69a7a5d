r"""Tolerances: when a certificate is good enough.

    feasible   every row's violation bound <= tol_feas * size of the row
    optimal    gap <= tol_opt * size of the objective, and besides
               either every displacement <= 3 tol_opt * size of the variable
               or     the gap along the rows <= 1e-2 tol_opt |f|: a flat objective leaves x
                      undetermined (but where it has no gradient, the displacement alone must do)
               or, whatever the gap, every displacement <= 1e-3 of its tolerance: an objective that
               is zero at its minimum has no size that a gap could be compared with

and the point must not be a saddle. ``excess`` is the worst of these in units of its tolerance.

Where the tails of the replicates are too heavy for Student's quantile, the noise counts twice: that
is what Chebyshev's inequality, which holds for every distribution, asks for at 95 %.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite

from .certificate import Certificate
from .replicates import quantile

#: displacements may be this many times the tolerance of the objective
DISPLACEMENT = 3.0
#: a gap this small, relative to |f| and the tolerance, excuses any displacement; a displacement
#: this small, relative to its tolerance, any gap
NEGLIGIBLE_GAP, NEGLIGIBLE_MOVE = 1e-2, 1e-3
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
        distance = min(max(gap, min(move, self._negligible(c, c.gap_along))), self._tight(c, move))
        worst = max(c.relative_infeasibility_bound / self.feasibility, distance)
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
        rows = float(c.row_ratio(c.violation_bound - c.violation).max(initial=0.0))
        gap = c.objective_ratio(c.gap_noise) / self.optimality
        moves = float(c.variable_ratio(t * c.displacement_error).max(initial=0.0))
        moves /= DISPLACEMENT * self.optimality
        distance = max(gap, min(moves, self._negligible(c, c.gap_along_noise)))
        return max(rows / self.feasibility, min(distance, self._tight(c, moves)))

    def _tight(self, c: Certificate, move: float) -> float:
        """The displacement in units of what excuses any gap; directions without curvature have no
        displacement that could."""
        return inf if c.flat or c.first_order or not isfinite(c.gap) else move / NEGLIGIBLE_MOVE

    def _negligible(self, c: Certificate, gap: float) -> float:
        """The gap along the rows in units of what excuses any displacement."""
        if c.objective_size == 0.0 or not c.has_gradient:
            return inf  # nothing but the rows decides where the solution is
        return c.objective_ratio(gap) / (NEGLIGIBLE_GAP * self.optimality)
