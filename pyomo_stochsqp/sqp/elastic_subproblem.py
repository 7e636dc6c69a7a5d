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

from typing import Any, NamedTuple

from ..kkt import KKTBackend, KKTPattern
from ..oracle import Estimate, Jacobian, Problem, Vector
from ..qp.elastic_qp import ElasticQP
from ..qp.quadratic_program import QPSolution, WarmStart
from ..qp.quadratic_term import quadratic_form
from .parameters import Parameters
from .subproblem import Direction

#: multipliers up to this size are taken for real; larger ones mean rows that cannot be satisfied
RHO_HIGH = 1e4
#: rho_hi is at least this many times 1 / tau, so that tau can follow multipliers of any size
ABOVE = 100.0
#: violation left by QP(rho_hi), relative to 1 + v(c), above which rows count as contradictory
LEFT = 1e-8
#: share of QP(rho_hi)'s progress on the rows that is enough to keep tau, and how many standard
#: errors less are excused
ENOUGH = 0.1
NOISE_LEVELS = 2.0
#: g'd + 1/2 d'Hd below this share of its terms is positive by rounding only
ROUNDING = 1e-12


class Starts(NamedTuple):
    """What the next two programs start from: QP(rho_hi) and QP((1 - sigma) / tau)."""

    high: WarmStart | None = None
    low: WarmStart | None = None


class ElasticSubproblem:
    """Directions for rows with one, two or equal bounds, and variables in a box.

    ``noise`` is se above. A start from an earlier solution changes how the next one is found and
    not what it is.
    """

    def __init__(
        self,
        problem: Problem,
        backend: KKTBackend,
        jacobian: Jacobian,
        parameters: Parameters | None = None,
        pattern: KKTPattern | None = None,
    ):
        self._problem = problem
        self._qp = ElasticQP(problem, backend, jacobian, pattern)
        self._pattern = pattern
        self._p = parameters or Parameters()
        self._lower, self._upper = problem.x_lower, problem.x_upper
        #: Algorithm 1's own case
        self._plain = problem.equalities_only

    def direction(
        self,
        x: Vector,
        estimate: Estimate,
        H: Any,
        tau: float,
        noise: float = 0.0,
        warm: Starts | None = None,
    ) -> Direction:
        g, c, J, p = estimate.g, estimate.c, estimate.J, self._p
        high, low = warm or Starts()
        lower, upper = self._lower - x, self._upper - x
        violation = float(self._problem.violation(c).sum())
        rho_high = max(RHO_HIGH, ABOVE / tau)
        solution = self._qp.solve(g, H, c, J, lower, upper, rho_high, high)
        starts = Starts(solution.warm_start(), low)
        if solution.status == "failed":
            return Direction(
                solution.d, solution.y, 0.0, 0.0, violation, 0.0, warm=starts, failed=True
            )
        direction = _measured(solution, violation, starts)
        if self._plain and solution.method == "equality" and noise == 0.0:
            return direction

        progress = direction.feasibility_reduction
        quadratic = direction.slope + 0.5 * direction.curvature
        positive = quadratic > ROUNDING * (abs(direction.slope) + direction.curvature)
        if solution.left > LEFT * (1.0 + violation) or (
            positive and tau > (1.0 - p.eps_tau) * (1.0 - p.sigma) * progress / quadratic
        ):
            rho = (1.0 - p.sigma) / tau
            other = self._qp.solve(g, H, c, J, lower, upper, rho, low)
            direction.warm = starts = Starts(starts.high, other.warm_start())
            kept = _measured(other, violation, starts, keeps_tau=True)
            reduction = kept.feasibility_reduction
            if (
                other.status != "failed"
                and reduction >= ENOUGH * progress - NOISE_LEVELS * noise
                and reduction - tau * kept.slope >= 0.5 * tau * kept.curvature
            ):
                return kept
        return direction

    def quadratic_form(self, H: Any, d: Vector) -> float:
        return quadratic_form(H, d, self._pattern)


def _measured(
    solution: QPSolution, violation: float, warm: Starts, keeps_tau: bool = False
) -> Direction:
    qp, d = solution.qp, solution.d
    slope = float(qp.g @ d)
    curvature = float(d @ qp.hessian.times(d))
    return Direction(
        d, solution.y, slope, curvature, violation, violation - solution.left, keeps_tau, warm
    )
