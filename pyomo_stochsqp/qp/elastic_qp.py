r"""The elastic QP of an iteration, by the cheapest method that can (see quadratic_program.py):

    min_d  g'd + 1/2 d'Hd + rho dist_1(c + J d, [row_lower, row_upper])    s.t.  lower <= d <= upper

    1. no rows, H diagonal    d = clip(-g / h), in closed form
    2. equalities only        the equality-constrained step, if it meets the bounds and |y| <= rho
    3. H diagonal             Newton's method on the dual, from the last multipliers (newton.py)
       H full                 corrections of the last active set (active_set.py)
    4. where 3 gives up       an interior point (interior.py), finished by 3 from its guess

All of them share one KKT back end and its one symbolic analysis. 2 and 3 cost one to three
factorisations where the active set changes little from iteration to iteration; 4 costs some ten,
from anywhere. Whatever happens numerically ends in a status, never in an exception.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

import numpy as np

from ..kkt import KKTBackend, KKTFailure, KKTPattern
from ..oracle import Jacobian, Problem, Vector
from .active_set import ActivePoint, ActiveSet
from .interior import InteriorPoint
from .newton import DualNewton, DualPoint
from .quadratic_program import QP, QPSolution, Status, WarmStart, norm
from .quadratic_term import Diagonal, quadratic_term

#: what may be tried before the interior point
SHORTCUTS = ("equality", "newton", "active_set")

#: steps from a warm or cold start; beyond them the interior point is the better bet
NEWTON_STEPS = 12
CORRECTIONS = 6
#: the number of variables up to which Newton's method is tried from a cold start
COLD_NEWTON = 500
#: steps when an interior iterate is finished off
FINISHING = 4
#: gap of the interior point at which its guess is first tried, and the gain between trials
READY = 1e-5
BETWEEN_TRIALS = 1e-2
INTERIOR_STEPS = 60
#: a start that has not brought errors down to NOT_MUCH after so many steps was a bad one
PATIENCE, NOT_MUCH = 8, 0.1
#: a gap that grows by this factor means that rounding has taken over
RELAPSE = 1e3
#: gap beyond which nothing but rounding is left
EXHAUSTED = 1e-25
#: relative residual up to which an unfinished interior iterate still counts as a solution
ACCEPTABLE = 1e-9


class ElasticQP:
    """A solver for the subproblems of one problem.

    ``pattern`` is needed only if H comes as values on a sparse pattern; ``shortcuts`` is for tests
    and benchmarks.
    """

    def __init__(
        self,
        problem: Problem,
        backend: KKTBackend,
        jacobian: Jacobian,
        pattern: KKTPattern | None = None,
        shortcuts: Sequence[str] = SHORTCUTS,
    ):
        self._n, self._m = problem.n, problem.m
        self._row_lower, self._row_upper = problem.row_lower, problem.row_upper
        self._backend = backend
        self._jacobian = jacobian
        self._pattern = pattern
        self._shortcuts = frozenset(shortcuts)
        self._equality = problem.row_lower == problem.row_upper
        self._try_equality = "equality" in shortcuts and bool(self._equality.all())
        self._unbounded = bool(
            np.isneginf(problem.x_lower).all() and np.isposinf(problem.x_upper).all()
        )
        self._newton = DualNewton(backend, problem.n, problem.row_lower, problem.row_upper)
        self._active_set = ActiveSet(backend, self._equality)

    def solve(
        self,
        g: Vector,
        H: Any,
        c: Vector,
        J: Vector,
        lower: Vector,
        upper: Vector,
        rho: float,
        warm: WarmStart | None = None,
    ) -> QPSolution:
        """The solution for lower <= 0 <= upper; ``warm`` comes from a similar program."""
        a = self._row_lower - c
        b = a if self._try_equality else self._row_upper - c
        qp = QP(g, quadratic_term(H, self._n, self._pattern), J, a, b, lower, upper, rho,
                self._jacobian)  # fmt: skip
        if not norm(g) + norm(c) + norm(J) < inf:
            return self._failed(qp)
        if self._m == 0 and isinstance(qp.hessian, Diagonal):
            d = qp.in_box(-g / qp.hessian.diagonal)
            return QPSolution(qp, d, c, 0.0, "clip", 0)
        found = self._equality_step(qp, H) if self._hopes_for_equality(warm) else None
        return found or self._corrected(qp, warm) or self._interior(qp.without_distant_rows())

    def _hopes_for_equality(self, warm: WarmStart | None) -> bool:
        """Only equalities, and no bounds or none that stopped the last solution."""
        return self._try_equality and (self._unbounded or warm is None or warm.unhindered)

    def _equality_step(self, qp: QP, H: Any) -> QPSolution | None:
        """The KKT step with every row active and no bound, if that is the solution."""
        try:
            self._backend.factorise(H, qp.J)
            solution = self._backend.solve(-qp.g, qp.a)
        except KKTFailure:
            return None
        d, y = solution.d, solution.y
        if solution.rank_deficient:
            return None
        if not self._unbounded:
            outside = d - qp.in_box(d)
            if float(outside @ outside) > 0.0:
                return None
        # the 2-norm is a cheap bound of the largest entry
        if float(y @ y) > qp.rho * qp.rho and float(np.abs(y).max(initial=0.0)) > qp.rho:
            return None
        return QPSolution(qp, d, y, 0.0, "equality", 1, unhindered=True)

    def _corrected(self, qp: QP, warm: WarmStart | None) -> QPSolution | None:
        """From the last solution's multipliers or active set."""
        if isinstance(qp.hessian, Diagonal):
            if "newton" not in self._shortcuts:
                return None
            y = None
            if warm is not None:
                y = warm.y if warm.rho <= qp.rho else warm.y.clip(-qp.rho, qp.rho)
            elif self._n > COLD_NEWTON:
                return None
            return self._from_newton(qp, self._newton.solve(qp, y, NEWTON_STEPS), 0)
        if "active_set" not in self._shortcuts:
            return None
        if warm is None or warm.bounds is None or warm.rows is None:
            bounds, rows = self._active_set.first_guess(self._n)
        else:
            bounds, rows = warm.bounds, warm.rows
        found = self._active_set.solve(qp, bounds, rows, CORRECTIONS)
        return self._from_active_set(qp, found, 0)

    def _interior(self, qp: QP) -> QPSolution:
        """From scratch: expecting moderate multipliers first, multipliers at their limits next."""
        steps = 0
        best: tuple[float, QPSolution] | None = None
        for expect_limits in (False, True):
            point = InteriorPoint(qp, self._backend, self._equality, expect_limits)
            trial_at, smallest = READY, inf
            for step in range(INTERIOR_STEPS):
                slow = step >= PATIENCE and not expect_limits and point.error > NOT_MUCH
                if slow or not point.advance() or point.gap > max(READY, RELAPSE * smallest):
                    break
                steps += 1
                smallest = min(smallest, point.gap)
                if point.gap <= trial_at and point.infeasibility <= READY:
                    trial_at = point.gap * BETWEEN_TRIALS
                    found = self._finished(qp, point, steps)
                    if found is not None:
                        return found
                    candidate = self._as_it_is(qp, point, steps)
                    if best is None or candidate[0] < best[0]:
                        best = candidate
                if point.gap <= EXHAUSTED:
                    break
            if best is not None and best[1].status == "solved":
                break
        if steps == 0:
            return self._failed(qp)
        return (best or self._as_it_is(qp, point, steps))[1]

    def _failed(self, qp: QP) -> QPSolution:
        d = qp.in_box(np.zeros(self._n))
        return QPSolution(qp, d, np.zeros(self._m), inf, "none", 0, "failed")

    def _finished(self, qp: QP, point: InteriorPoint, steps: int) -> QPSolution | None:
        """An interior iterate brought to full accuracy, if its guess of the active set is right."""
        bounds, rows = point.guess()
        if isinstance(qp.hessian, Diagonal):
            y = snapped(qp, point.y, rows)
            finished = self._from_newton(qp, self._newton.solve(qp, y, FINISHING), steps)
            if finished is not None:
                return finished
            # multipliers so large that d(y) is rounding: their rows are better kept as equations
        found = self._active_set.solve(qp, bounds, rows, FINISHING)
        return self._from_active_set(qp, found, steps)

    def _as_it_is(self, qp: QP, point: InteriorPoint, steps: int) -> tuple[float, QPSolution]:
        """(residual, an interior iterate), for programs so degenerate that no guess is right.

        Either with its guess made exact or as it stands, whichever is nearer to the solution.
        """
        bounds, rows = point.guess()
        snapped_d = np.where(bounds < 0.0, qp.lower, np.where(bounds > 0.0, qp.upper, point.d))
        candidates = (
            (qp.in_box(snapped_d), snapped(qp, point.y, rows)),
            (qp.in_box(point.d), point.y.clip(-qp.rho, qp.rho)),
        )
        residual, d, y = min(
            ((qp.residual(d, y), d, y) for d, y in candidates), key=lambda found: found[0]
        )
        left = float(np.abs(qp.distances(qp.times(d))).sum())
        status: Status = "solved" if residual <= ACCEPTABLE else "inaccurate"
        return residual, QPSolution(qp, d, y, left, "interior", steps, status, bounds, rows)

    def _from_newton(
        self, qp: QP, found: tuple[DualPoint, int] | None, before: int
    ) -> QPSolution | None:
        if found is None:
            return None
        point, steps = found
        # a row is left violated only where its multiplier is at its limit
        left = float(np.abs(qp.distances(point.w)).sum()) if point.at_limit else 0.0
        method = "interior" if before else "newton"
        unhindered = self._try_equality and bool((point.t == point.d).all()) and not left
        return QPSolution(qp, point.d, point.y, left, method, before + steps, unhindered=unhindered)

    def _from_active_set(self, qp: QP, found: ActivePoint | None, before: int) -> QPSolution | None:
        if found is None:
            return None
        d, y, w, bounds, rows, corrections = found
        left = float(np.abs(qp.distances(w)).sum())
        if not qp.objective(d) <= qp.objective(np.zeros_like(d)):
            return None  # solved on paper, by an H so ill-conditioned that rounding decides
        method = "interior" if before else "active_set"
        steps = before + corrections + 1
        unhindered = self._try_equality and not bounds.any() and bool((np.abs(rows) < 2.0).all())
        return QPSolution(qp, d, y, left, method, steps, "solved", bounds, rows, unhindered)


def snapped(qp: QP, y: Vector, rows: Vector) -> Vector:
    """Multipliers with exact zeros and exact limits where the guess says so."""
    y = np.where(np.abs(rows) == 1.0, y, 0.5 * qp.rho * rows)
    return np.minimum(np.maximum(y, -qp.rho), qp.rho)
