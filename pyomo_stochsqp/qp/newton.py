r"""Elastic QP, diagonal H: Newton's method on the dual (semismooth, projected, warm-started).

For given multipliers y the minimiser over the box and the gradient of theta are explicit:

    t = -(g + J'y) / h,      d = clip(t, l, u),      w = J d,
    v_j = b_j if y_j > 0, a_j if y_j < 0, clip(w_j, a_j, b_j) if y_j = 0,      r = w - v.

theta is concave and piecewise quadratic. Around y, each row j lives on one piece: [0, rho] if it
pushes down from b_j, [-rho, 0] if up from a_j, a single point if r_j = 0 = y_j or if y_j is at its
limit and r_j points outwards. With A the rows free to move and F = {i : l_i < t_i < u_i},

    (J_AF diag(h_F)^-1 J_AF') dy = r,        y <- clip(y + alpha dy, piece).

The system goes to the KKT back end, with variables outside F and rows outside A removed; its
regularisation covers dependent rows. r = 0 is optimality, and d is then optimal to rounding.

Full steps alone may cycle. alpha = 1 is accepted if theta rises enough, then alpha = 1/4; if not
even that, the search goes on from the exact maximiser along the line y + alpha dy, which takes a
sort. After a few steps without an end the method gives up: from a distance, or with more active
rows than free variables, it is not reliable.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.blas import ddot

from ..kkt import REMOVED, KKTBackend, KKTFailure
from ..oracle import Vector
from .quadratic_program import QP, norm

#: |r| relative to the rows' values that counts as zero, and relative to what rounding makes of them
SOLVED = 1e-12
ROUNDING = 1e-15
#: where no step makes progress any more, an error larger by this factor is put down to rounding
TOLERATED = 10.0
EPSILON = float(np.finfo(float).eps)
ARMIJO = 1e-4
#: a step that cuts |r| by ten is a good one, even if rounding hides the rise of theta
CLEAR_CUT = 0.1
#: after so many steps an error still above this share of the first is not going to vanish soon
HALFWAY, HOPELESS = 6, 0.5
TRIALS = 6
SHORTENING = 0.25
#: turns the sign of y_j into the bound b_j or a_j by clipping w_j + STRESS y_j
STRESS = 1e40
#: diagonal entries by whether a row moves
DELTA = np.array([REMOVED, 0.0])


class DualPoint:
    """y with d(y) and the gradient r of theta."""

    __slots__ = ("at_limit", "d", "error", "pull", "r", "reach", "t", "v", "w", "y")

    def __init__(self, qp: QP, minus_inverse: float | Vector, y: Vector):
        self.y = y
        self.pull = pull = qp.pull(y)
        self.t = t = pull * minus_inverse
        self.d = d = qp.in_box(t)
        self.w = w = qp.times(d)
        self.reach = reach = w + STRESS * y
        self.v = v = qp.in_rows(reach)
        self.r = r = w - v
        limit = qp.rho
        #: whether some |y_j| may be at its limit; the 2-norm is the cheaper test
        self.at_limit = norm(y) >= limit
        if self.at_limit:
            r[((y >= limit) & (r > 0.0)) | ((y <= -limit) & (r < 0.0))] = 0.0
        self.error = norm(r)

    def theta(self, qp: QP) -> float:
        """The dual function, wanted only where a step does not speak for itself."""
        d = self.d
        value = ddot(self.pull, d) + 0.5 * ddot(d, qp.hessian.times(d)) - ddot(self.v, self.y)
        return float(value)


class DualNewton:
    """The method for the rows of one problem."""

    def __init__(self, backend: KKTBackend, n: int, row_lower: Vector, row_upper: Vector):
        self._backend = backend
        self._zero = np.zeros(n)
        self._equality = row_lower == row_upper
        below, above = row_lower > -np.inf, row_upper < np.inf
        self._ranged = below & above & ~self._equality
        self._has_ranged = bool(self._ranged.any())
        self._unit_low, self._unit_high = -below.astype(float), above.astype(float)
        self._set_limits(1.0)

    def _set_limits(self, rho: float) -> None:
        """The pieces for one rho; rows with two bounds have one above and one below zero."""
        self._rho = rho
        self._low, self._high = rho * self._unit_low, rho * self._unit_high
        self._low_above = np.where(self._ranged, 0.0, self._low)
        self._high_below = np.where(self._ranged, 0.0, self._high)

    def solve(self, qp: QP, y: Vector | None, max_steps: int) -> tuple[DualPoint, int] | None:
        """(solution, steps) from the start y, or None; y = None is a cold start."""
        if qp.rho != self._rho:
            self._set_limits(qp.rho)
        try:
            return self._solve(qp, self._cold_start(qp) if y is None else y, max_steps)
        except KKTFailure:
            return None

    def _solve(self, qp: QP, y: Vector, max_steps: int) -> tuple[DualPoint, int] | None:
        minus_inverse = -1.0 / qp.hessian.diagonal
        here = DualPoint(qp, minus_inverse, y)
        if here.error == 0.0:
            return here, 0
        first = here.error
        blur = ROUNDING * norm(qp.J) * norm(qp.g * minus_inverse)
        for step in range(max_steps + 1):
            tolerance = blur + SOLVED * (norm(here.w) + norm(here.v))
            if here.error <= tolerance:
                return here, step
            lost = step == max_steps or (step == HALFWAY and here.error > HOPELESS * first)
            there = None if lost else self._step(qp, minus_inverse, here)
            if there is None:
                return (here, step) if self._is_rounding(qp, here, tolerance) else None
            here = there
        return None

    def _is_rounding(self, qp: QP, here: DualPoint, tolerance: float) -> bool:
        """Whether the error is what evaluating d(y) leaves of it."""
        sizes = qp.absolute()
        between = here.t == here.d
        blur = np.where(between, sizes.pull(np.abs(here.y)) / qp.hessian.diagonal, np.abs(here.d))
        return here.error <= max(TOLERATED * tolerance, EPSILON * norm(sizes.times(blur)))

    def _cold_start(self, qp: QP) -> Vector:
        """The multipliers that the rows violated by clip(-g / h) would have without box."""
        w = qp.times(qp.in_box(-qp.g / qp.hessian.diagonal))
        target = qp.in_rows(w)
        excess = w - target
        moving = excess != 0.0
        moving |= self._equality
        self._backend.factorise(qp.hessian.diagonal, qp.J, DELTA.take(moving))
        y = self._backend.solve(-qp.g, moving * target).y
        y *= self._equality | (excess * y > 0.0)
        return np.minimum(np.maximum(y, self._low), self._high)

    def _step(self, qp: QP, minus_inverse: float | Vector, here: DualPoint) -> DualPoint | None:
        """A point with a larger theta, or None."""
        y, r = here.y, here.r
        moving = here.reach != here.v
        moving |= self._equality
        low, high = self._low, self._high
        if self._has_ranged:
            above = here.reach > here.v
            low = np.where(above, self._low_above, low)
            high = np.where(above, high, self._high_below)
        if here.at_limit:
            moving &= (np.abs(y) < qp.rho) | (r != 0.0)
        h = np.where(here.t == here.d, qp.hessian.diagonal, REMOVED)
        self._backend.factorise(h, qp.J, DELTA.take(moving))
        dy = self._backend.solve(self._zero, -r).y
        dy *= moving

        y_new = np.minimum(np.maximum(y + dy, low), high)
        alpha = 1.0
        for trial in range(TRIALS):
            there = DualPoint(qp, minus_inverse, y_new)
            if there.error <= CLEAR_CUT * here.error:
                return there
            theta = here.theta(qp)
            rise = ARMIJO * ddot(r, y_new - y) - 1e-14 * abs(theta)
            if there.theta(qp) >= theta + rise:
                return there
            alpha *= SHORTENING
            if trial == 1:
                alpha = min(alpha, exact_step(qp, here, dy))
            y_new = np.minimum(np.maximum(y + alpha * dy, low), high)
        return None


def exact_step(qp: QP, here: DualPoint, dy: Vector) -> float:
    """argmax of theta(y + alpha dy) over alpha in [0, 1], the pieces of y taken to be unbounded.

    The derivative r'dy - sum of k_i over what of [0, alpha] each t_i spends inside its bounds, with
    k = (J'dy)^2 / h, falls piecewise linearly: sort the breakpoints met on the way, find its zero.
    """
    change = qp.pull(dy) - qp.g
    rate = -change / qp.hessian.diagonal
    moves = rate != 0.0
    rate, t = rate[moves], here.t[moves]
    with np.errstate(over="ignore"):
        first, second = (qp.lower[moves] - t) / rate, (qp.upper[moves] - t) / rate
    bend = change[moves] * rate
    times = np.concatenate((np.minimum(first, second), np.maximum(first, second)))
    jumps = np.concatenate((bend, -bend))
    past = times <= 0.0
    slope = float(jumps[past].sum())
    met = np.flatnonzero(~past & (times < 1.0))
    met = met[np.argsort(times[met])]
    times = np.concatenate(([0.0], times[met], [1.0]))
    slopes = slope + np.concatenate(([0.0], np.cumsum(jumps[met])))
    derivative = float(here.r @ dy) + np.cumsum(np.diff(times) * slopes)
    k = int(np.argmax(derivative <= 0.0))
    if derivative[k] > 0.0:
        return 1.0
    if slopes[k] >= 0.0:
        return float(times[k + 1])
    return max(0.0, float(times[k + 1] - derivative[k] / slopes[k]))
