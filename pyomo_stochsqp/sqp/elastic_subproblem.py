r"""The search direction with inequalities and bounds: an elastic QP inside Algorithm 1.

With v(c) = dist_1(c, [row_lower, row_upper]), the l1 violation, and

    QP(rho):   min_d  g'd + 1/2 d'Hd + rho v(c + J d)     s.t.  x_lower <= x + d <= x_upper,

which always has a solution, the direction is that of QP(rho_hi) for a large rho_hi, unless the
merit parameter would have to fall for it (eq. merit_parameter_update) or it leaves rows violated.
Then QP((1 - sigma) / tau) is asked, whose solution suits the current tau by construction:

    (d, y) <- QP(rho_hi),    Dc <- v(c) - v(c + J d),    q <- g'd + 1/2 d'Hd
    if v(c + J d) > 1e-8 (1 + v(c))  or  q > 0 and tau > (1 - eps_tau) (1 - sigma) Dc / q:
        (d', y') <- QP((1 - sigma) / tau),    Dc' <- v(c) - v(c + J d')
        if Dc' >= 0.1 Dc - 2 se  and  -tau g'd' + Dc' >= 1/2 tau d'Hd':  take d' and keep tau

se is the standard error of c, summed over rows: less than that much progress cannot be told from
noise, and tau should not pay for it. Either way optimality of d in its QP gives

    Delta l(tau, d) >= 1/2 tau d'Hd + sigma Dc

after the merit parameter's update, the inequality that Algorithm 1's theory rests on.

With equalities only, no bounds, J of full rank and se = 0 (or not measured), the direction is
eq. linear_system's to the last bit, tau is never kept, and the method is Algorithm 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kkt import KKTBackend, KKTPattern
from ..oracle import Estimate, Jacobian, Problem, Vector
from ..qp.elastic_qp import ElasticQP
from ..qp.quadratic_program import QPSolution, Status, WarmStart
from ..qp.quadratic_term import quadratic_form
from .parameters import Parameters
from .subproblem import Direction

#: multipliers up to this size are taken for real; larger ones mean rows that cannot be satisfied
RHO_HIGH = 1e4
#: rho_hi is at least this many times 1 / tau, so that tau can follow multipliers of any size
ABOVE = 100.0
#: without noise rho_hi may grow to RHO_LIMIT, by this factor, as long as less violation is left
RHO_LIMIT = 1e10
RAISE = 100.0
WORTHWHILE = 0.9
#: the same where rows are known to be consistent (least-squares multipliers), times |g| / |J|
RHO_MULTIPLIERS = 1e8
#: violation left by QP(rho_hi), relative to 1 + v(c), above which rows count as contradictory
LEFT = 1e-8
#: share of QP(rho_hi)'s progress on the rows that is enough to keep tau, and how many standard
#: errors less are excused
ENOUGH = 0.1
NOISE_LEVELS = 2.0
#: g'd + 1/2 d'Hd below this share of its terms is positive by rounding only
ROUNDING = 1e-12


class ElasticSubproblem:
    """Directions and multipliers for rows with one, two or equal bounds, and variables in a box.

    ``noise`` is se above. Every call starts from the solution of the one before, which changes how
    it is found and not what it is. ``status`` says how the last direction came out: a failed one
    is d = 0.
    """

    def __init__(
        self,
        problem: Problem,
        backend: KKTBackend,
        jacobian: Jacobian,
        parameters: Parameters | None = None,
        pattern: KKTPattern | None = None,
        rho_high: float = RHO_HIGH,
        rho_limit: float = RHO_HIGH,
    ):
        self._problem = problem
        self._qp = ElasticQP(problem, backend, jacobian, pattern)
        self._jacobian = jacobian
        self._pattern = pattern
        self._p = parameters or Parameters()
        self._rho_high = rho_high
        self._rho_limit = rho_limit
        self._lower, self._upper = problem.x_lower, problem.x_upper
        equalities = bool((problem.row_lower == problem.row_upper).all())
        #: Algorithm 1's own case
        self._plain = equalities and not (
            np.isfinite(problem.x_lower).any() or np.isfinite(problem.x_upper).any()
        )
        self.status: Status = "solved"
        #: what the next programs start from: QP(rho_hi), QP((1 - sigma) / tau), multipliers
        self.high: WarmStart | None = None
        self.low: WarmStart | None = None
        self.least_squares: WarmStart | None = None

    @property
    def warm(self) -> tuple[WarmStart | None, WarmStart | None]:
        """What the next direction starts from: it decides the last digits."""
        return self.high, self.low

    @warm.setter
    def warm(self, starts: tuple[WarmStart | None, WarmStart | None] | None) -> None:
        self.high, self.low = starts or (None, None)

    def direction(
        self, x: Vector, estimate: Estimate, H: Any, tau: float, noise: float = 0.0
    ) -> Direction:
        g, c, J, p = estimate.g, estimate.c, estimate.J, self._p
        lower, upper = self._lower - x, self._upper - x
        violation = float(self._problem.violation(c).sum())
        rho_high = max(self._rho_high, ABOVE / tau)
        solution = self._qp.solve(g, H, c, J, lower, upper, rho_high, self.high)
        while solution.left > LEFT * (1.0 + violation) and rho_high < self._rho_limit:
            rho_high *= RAISE
            other = self._qp.solve(g, H, c, J, lower, upper, rho_high, solution.warm_start())
            if other.status != "solved" or other.left > WORTHWHILE * solution.left:
                break
            solution = other
        self.high = solution.warm_start()
        self.status = solution.status
        if solution.status == "failed":
            return Direction(solution.d, solution.y, 0.0, 0.0, violation, 0.0)
        direction = self._measured(solution, violation)
        if self._plain and solution.method == "equality" and noise == 0.0:
            return direction

        progress = direction.feasibility_reduction
        quadratic = direction.slope + 0.5 * direction.curvature
        positive = quadratic > ROUNDING * (abs(direction.slope) + direction.curvature)
        if solution.left > LEFT * (1.0 + violation) or (
            positive and tau > (1.0 - p.eps_tau) * (1.0 - p.sigma) * progress / quadratic
        ):
            rho = (1.0 - p.sigma) / tau
            other = self._qp.solve(g, H, c, J, lower, upper, rho, self.low)
            self.low = other.warm_start()
            kept = self._measured(other, violation, keeps_tau=True)
            reduction = kept.feasibility_reduction
            if (
                other.status != "failed"
                and reduction >= ENOUGH * progress - NOISE_LEVELS * noise
                and reduction - tau * kept.slope >= 0.5 * tau * kept.curvature
            ):
                self.status = other.status
                return kept
        return direction

    def multipliers(self, x: Vector, estimate: Estimate) -> tuple[Vector, Vector]:
        """(y, r): multipliers at x and the projected gradient clip(x - (g + J'y)) - x they leave.

        They are those of the projected-gradient step with H = I: rows that are violated count as
        just satisfied, so that a stationary point of violation gives r = 0 too.
        """
        g, J, problem = estimate.g, estimate.J, self._problem
        c = estimate.c.clip(problem.row_lower, problem.row_upper)
        slope = float(np.abs(g).max(initial=0.0))
        size = slope / (float(np.abs(J).max(initial=0.0)) or 1.0)
        rho = RHO_MULTIPLIERS * max(size, 1.0)
        solution = self._qp.solve(
            g, 1.0, c, J, self._lower - x, self._upper - x, rho, self.least_squares
        )
        self.least_squares = solution.warm_start()
        y = solution.y
        target = x - (g + self._jacobian.transposed(J, y))
        return y, target.clip(self._lower, self._upper) - x

    def quadratic_form(self, H: Any, d: Vector) -> float:
        return quadratic_form(H, d, self._pattern)

    def _measured(
        self, solution: QPSolution, violation: float, keeps_tau: bool = False
    ) -> Direction:
        qp, d = solution.qp, solution.d
        slope = float(qp.g @ d)
        curvature = float(d @ qp.hessian.times(d))
        return Direction(
            d, solution.y, slope, curvature, violation, violation - solution.left, keeps_tau
        )
