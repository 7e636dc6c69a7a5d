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

Full steps alone may cycle. alpha = 1 is accepted if theta rises enough; otherwise the search goes
on from the exact maximiser along the line y + alpha dy. After a few steps without an end the method
gives up: from a distance, or with more active rows than free variables, it is not reliable.
"""

from __future__ import annotations

import numpy as np

from ..kkt import KKTBackend
from ..oracle import Vector
from .qp_model import QP, REMOVED

#: |r| relative to the size of the rows' values that counts as zero
SOLVED = 1e-11
#: the same where rounding allows no further progress
ROUNDING = 1e-9
ARMIJO = 1e-4
#: a step that cuts |r| by ten is a good one, even if rounding hides the rise of theta
CLEAR_CUT = 0.1
TRIALS = 5
SHORTENING = 0.25
#: turns the sign of y_j into the bound b_j or a_j by clipping w_j + STRESS y_j
STRESS = 1e40


class DualPoint:
    """y with d(y), the gradient r of theta, and theta itself."""

    __slots__ = ("d", "error", "pull", "r", "reach", "t", "theta", "v", "w", "y")

    def __init__(self, qp: QP, minus_inverse: float | Vector, y: Vector):
        self.y = y
        self.pull = pull = qp.pull(y)
        self.t = t = pull * minus_inverse
        self.d = d = np.minimum(np.maximum(t, qp.lower), qp.upper)
        self.w = w = qp.times(d)
        self.reach = reach = w + STRESS * y
        self.v = v = np.minimum(np.maximum(reach, qp.a), qp.b)
        self.r = r = w - v
        limit = qp.rho
        if float(y @ y) >= limit * limit:
            r[((y >= limit) & (r > 0.0)) | ((y <= -limit) & (r < 0.0))] = 0.0
        self.theta = float(pull @ d) + 0.5 * float(d @ (qp.hessian.diagonal * d)) - float(v @ y)
        self.error = float(r @ r) ** 0.5


class DualNewton:
    """The method for one problem shape; ``equality`` marks rows with a = b."""

    def __init__(self, backend: KKTBackend, equality: Vector, n: int):
        self._backend = backend
        self._equality = equality if equality.any() else None
        self._zeros = np.zeros(n)

    def solve(self, qp: QP, y: Vector, max_steps: int) -> tuple[DualPoint, int] | None:
        """(solution, steps) from the start y, or None."""
        minus_inverse = -1.0 / qp.hessian.diagonal
        here = DualPoint(qp, minus_inverse, y)
        if here.error == 0.0:
            return here, 0
        scale = qp.unconstrained_scale()
        for step in range(max_steps + 1):
            if here.error <= SOLVED * scale:
                return here, step
            there = None if step == max_steps else self._step(qp, minus_inverse, here)
            if there is None:
                return (here, step) if here.error <= ROUNDING * scale else None
            here = there
        return None

    def _step(self, qp: QP, minus_inverse: float | Vector, here: DualPoint) -> DualPoint | None:
        """A point with a larger theta, or None."""
        y, r, rho = here.y, here.r, qp.rho
        up, down = here.reach > here.v, here.reach < here.v
        if self._equality is not None:
            up |= self._equality
            down |= self._equality
        low, high = down * -rho, up * rho
        moving = up | down
        if float(y @ y) >= rho * rho:
            stuck = (np.abs(y) >= rho) & (r == 0.0)
            moving &= ~stuck
            low[stuck] = high[stuck] = y[stuck]
        h = np.where(here.t == here.d, qp.hessian.diagonal, REMOVED)
        self._backend.factorise(h, qp.J, np.where(moving, 0.0, REMOVED))
        dy = self._backend.solve(self._zeros, -r).y

        alpha = 1.0
        for trial in range(TRIALS):
            y_new = np.minimum(np.maximum(y + alpha * dy, low), high)
            there = DualPoint(qp, minus_inverse, y_new)
            rise = ARMIJO * float(r @ (y_new - y)) - 1e-14 * abs(here.theta)
            if there.theta >= here.theta + rise or there.error <= CLEAR_CUT * here.error:
                return there
            if trial == 0:
                alpha = min(SHORTENING, exact_step(qp, here, np.where(moving, dy, 0.0)))
            else:
                alpha *= SHORTENING
        return None


def exact_step(qp: QP, here: DualPoint, dy: Vector) -> float:
    """argmax of theta(y + alpha dy) over alpha in [0, 1], the pieces of y taken to be unbounded.

    The derivative r'dy - sum of k_i over what of [0, alpha] each t_i spends inside its bounds, with
    k = (J'dy)^2 / h, falls piecewise linearly: sort its 2n breakpoints and find its zero.
    """
    change = qp.pull(dy) - qp.g
    rate = -change / qp.hessian.diagonal
    moves = rate != 0.0
    rate, t = rate[moves], here.t[moves]
    first, second = (qp.lower[moves] - t) / rate, (qp.upper[moves] - t) / rate
    bend = change[moves] * rate
    times = np.maximum(np.concatenate((np.minimum(first, second), np.maximum(first, second))), 0.0)
    order = np.argsort(times)
    within = int(np.searchsorted(times, 1.0, sorter=order))
    times = np.append(times[order][:within], 1.0)
    slopes = np.cumsum(np.concatenate((bend, -bend))[order])[:within]
    falls = np.concatenate(([0.0], np.cumsum(np.diff(times) * slopes)))
    derivative = float(here.r @ dy) + falls
    past = np.flatnonzero(derivative <= 0.0)
    if not past.size:
        return 1.0
    k = int(past[0])
    if k == 0 or slopes[k - 1] >= 0.0:
        return float(times[k])
    return float(times[k] - derivative[k] / slopes[k - 1])
