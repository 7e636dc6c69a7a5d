r"""Elastic QP, any H: a primal-dual interior point (Mehrotra's predictor and corrector).

The program is a saddle point with boxes only. Each finite bound of each row has its own multiplier
y_p, with sign_p = 1 for b and -1 for a, so that y_j = sum of sign_p y_p over the row's bounds:

    min_{l <= d <= u} max_{lo_p <= y_p <= rho}  g'd + 1/2 d'Hd + sum_p y_p sign_p (J_p d - bound_p),

lo_p = 0, or -rho for an equality, which counts as one bound. Every box side has a slack s > 0 and a
multiplier x > 0; iterates stay inside the boxes, and Newton's method is applied to

    g + H d + J'y - x_l + x_u = 0,      sign_p (J_p d - bound_p) + x_lo - x_rho = 0,      s x = mu.

With theta = x / s this condenses to the KKT system of the back end, on its one pattern:

    [ H + theta_l + theta_u   J'     ]          1 / delta_j = sum_p 1 / delta_p,
    [ J                       -delta ],         delta_p = theta_lo + theta_rho.

delta > 0 keeps rows apart that are dependent, and a row that cannot be satisfied simply drives its
y_p to rho: infeasible programs are no harder than others. Slacks are updated as variables of their
own, because d - l computed near the bound would be rounding.
"""

from __future__ import annotations

import numpy as np

from ..kkt import REMOVED, KKTBackend, KKTFailure
from ..oracle import Vector
from .quadratic_program import QP, Mask

#: share of the way to the boundary a step may go
LARGEST_SHARE = 0.9999
SMALLEST_SHARE = 0.99
#: the start: this share of the unconstrained step away from the bounds
PUSH = 0.1
#: ... with products s x that differ by no more than this factor
OFF_CENTRE = 100.0
#: the gap waits for the other equations when they are behind by this factor: dependent rows
LAG = 10.0
WAIT = 0.5
#: below this width, relative to the unconstrained step, a variable counts as fixed
FIXED = 1e-10
#: quotients beyond this would end in infinities
OVERFLOW = 1e60


class InteriorPoint:
    """The iterates for one program: call :meth:`advance` until satisfied."""

    def __init__(self, qp: QP, backend: KKTBackend, equality: Mask, expect_limits: bool = False):
        self._qp = qp
        self._backend = backend
        size, slope = self._scales(expect_limits)
        width = qp.upper - qp.lower
        self._fixed = fixed = width <= FIXED * size
        self._at_lower = np.flatnonzero((qp.lower > -np.inf) & ~fixed)
        self._at_upper = np.flatnonzero((qp.upper < np.inf) & ~fixed)
        above = np.flatnonzero(qp.b < np.inf)
        below = np.flatnonzero((qp.a > -np.inf) & ~equality)
        self._row = row = np.concatenate((above, below))
        self._sign = np.concatenate((np.ones(above.size), -np.ones(below.size)))
        self._bound = np.concatenate((qp.b[above], qp.a[below]))
        bounds_of_row = self._by_row(np.ones(row.size))
        self._has_bound = bounds_of_row > 0.0
        #: rows with two bounds, whose two multipliers share the row's step
        self._twice = bounds_of_row[row] > 1.0
        self._lo = np.where(equality[row], -qp.rho, 0.0)
        ends = np.cumsum([self._at_lower.size, self._at_upper.size, row.size])
        self._ends: tuple[int, int, int] = (int(ends[0]), int(ends[1]), int(ends[2]))
        self._start(size, slope, width)

    def _scales(self, expect_limits: bool) -> tuple[float, float]:
        """The length of the unconstrained step and the gradient it comes from.

        Where many multipliers end at rho, what they add to the gradient is the better measure.
        """
        qp = self._qp
        slope = float(np.abs(qp.g).max(initial=0.0))
        if expect_limits:
            slope = max(slope, qp.rho * self._largest_entry())
        size = float(np.abs(qp.in_box(-qp.g / qp.hessian.diagonal)).max(initial=0.0))
        miss = float(np.abs(qp.distances(np.zeros(qp.a.size))).max(initial=0.0))
        size = max(size, miss / self._largest_entry()) or 1.0
        return size, slope or size * float(np.max(qp.hessian.diagonal))

    def _largest_entry(self) -> float:
        return float(np.abs(self._qp.J).max(initial=0.0)) or 1.0

    def _start(self, size: float, slope: float, width: Vector) -> None:
        qp, row = self._qp, self._row
        push = np.minimum(0.5 * width, PUSH * size)
        inside = np.minimum(np.maximum(0.0, qp.lower + push), qp.upper - push)
        self.d = np.where(self._fixed, qp.in_box(np.zeros(push.size)), inside)
        moderate = min(0.5 * qp.rho, slope / self._largest_entry())
        self._y = np.where(self._lo < 0.0, 0.0, moderate)
        self._s = np.concatenate(
            (
                self.d[self._at_lower] - qp.lower[self._at_lower],
                qp.upper[self._at_upper] - self.d[self._at_upper],
                self._y - self._lo,
                qp.rho - self._y,
            )
        )
        gradient = qp.pull(self.y) + qp.hessian.times(self.d)
        above = self._sign * (qp.times(self.d)[row] - self._bound)
        needed = np.concatenate(
            (gradient[self._at_lower], -gradient[self._at_upper], -above, above)
        )
        central = PUSH * size * slope / self._s
        self._x = needed.clip(central, OFF_CENTRE * central)
        self._sizes = (slope, size * self._largest_entry(), 0.0)
        self._look()
        self._sizes = tuple(np.maximum(self._sizes, self._errors))
        self._judge()
        self._active = self._s < self._x

    @property
    def y(self) -> Vector:
        """Multipliers of the rows."""
        return self._by_row(self._sign * self._y)

    def _look(self) -> None:
        """The residuals of the two linear equations and the mean of s x, at the current point."""
        qp, x = self._qp, self._x
        i, j, k = self._ends
        dual = qp.pull(self.y) + qp.hessian.times(self.d)
        dual[self._at_lower] -= x[:i]
        dual[self._at_upper] += x[i:j]
        dual[self._fixed] = 0.0
        self._dual = dual
        self._primal = self._sign * (qp.times(self.d)[self._row] - self._bound) + x[j:k] - x[k:]
        self._errors = (
            float(np.abs(dual).max(initial=0.0)),
            float(np.abs(self._primal).max(initial=0.0)),
            self._mean(),
        )

    def _judge(self) -> None:
        """Errors of the linear equations and of s x = 0, both relative: from 1 towards 0."""
        dual, primal, mu = (e / (s or 1.0) for e, s in zip(self._errors, self._sizes, strict=True))
        self.infeasibility, self.gap = max(dual, primal), mu
        self.error = max(self.infeasibility, self.gap)

    def guess(self) -> tuple[Vector, Vector]:
        """Active bounds and rows as they look from here, in the terms of active_set.py.

        Of s and x one tends to zero. Comparing their last relative changes (Tapia's indicators)
        tells which, whatever the units of the two.
        """
        i, j, k = self._ends
        active = self._active
        bounds = np.zeros(self.d.size)
        bounds[self._at_lower[active[:i]]] = -1.0
        bounds[self._at_upper[active[i:j]]] = 1.0
        bounds[self._fixed] = -1.0
        at_lo, at_rho = active[j:k], active[k:]
        equality = self._lo < 0.0
        state = np.where(at_rho, 2.0, np.where(at_lo, np.where(equality, -2.0, 0.0), 1.0))
        return bounds, self._by_row(self._sign * state)

    def advance(self) -> bool:
        """One iteration; False when rounding, or the back end, allows no further one."""
        try:
            with np.errstate(all="ignore"):
                return self._advance()
        except KKTFailure:
            return False

    def _advance(self) -> bool:
        qp, row, sign = self._qp, self._row, self._sign
        i, j, k = self._ends
        s, x = self._s, self._x
        at_lower, at_upper, fixed = self._at_lower, self._at_upper, self._fixed
        dual, primal, mu = self._dual, self._primal, self._errors[2]
        theta = (x / s).clip(1.0 / OVERFLOW, OVERFLOW)
        sigma = np.zeros(self.d.size)
        sigma[at_lower] = theta[:i]
        sigma[at_upper] += theta[i:j]
        sigma[fixed] = REMOVED
        delta_p = theta[j:k] + theta[k:]
        conductance = self._by_row(1.0 / delta_p)
        delta = np.where(self._has_bound, 1.0 / conductance, REMOVED)
        self._backend.factorise(qp.hessian.plus(sigma), qp.J, delta)
        share = delta[row] / delta_p

        def newton_step(goal: Vector | float) -> tuple[Vector, Vector, Vector, Vector]:
            """(d, y_p, s, x) steps towards s x = s goal."""
            e = goal - x
            r_x = -dual
            r_x[at_lower] += e[:i]
            r_x[at_upper] -= e[i:j]
            r_p = e[k:] - e[j:k] - primal
            r_y = self._by_row(sign * share * r_p)
            solution = self._backend.solve(r_x, r_y)
            dy = share * sign * solution.y[row]
            if self._twice.any():
                total = self._by_row(r_p)[row]
                dy -= np.where(self._twice, total / self._by_row(delta_p)[row], 0.0)
            dd = np.where(fixed, 0.0, solution.d)
            ds = np.concatenate((dd[at_lower], -dd[at_upper], dy, -dy))
            return dd, dy, ds, e - theta * ds

        _, _, ds, dx = newton_step(0.0)
        alpha = min(_largest_step(s, ds), _largest_step(x, dx))
        pairs = max(s.size, 1)
        predicted = float((s + alpha * ds) @ (x + alpha * dx)) / pairs
        reduction = (predicted / mu) ** 3 if mu > 0.0 else 0.0
        if self.infeasibility > LAG * self.gap:
            reduction = max(reduction, WAIT)
        centre = reduction * mu
        dd, dy, ds, dx = newton_step((centre - ds * dx) / s)
        alpha = min(_largest_step(s, ds), _largest_step(x, dx))
        if alpha < 1.0:
            alpha *= min(max(SMALLEST_SHARE, 1.0 - self.gap), LARGEST_SHARE)
        if not alpha > 1e-8 or not np.isfinite(dd @ dd + dy @ dy + dx @ dx):
            return False
        self.d = self.d + alpha * dd
        self._y = self._y + alpha * dy
        self._s = s + alpha * ds
        self._x = x + alpha * dx
        self._active = self._s / s < self._x / x
        self._look()
        self._judge()
        return True

    def _by_row(self, values: Vector) -> Vector:
        """Sums over the bounds of each row."""
        sums: Vector = np.bincount(self._row, values, self._qp.a.size).astype(float, copy=False)
        return sums

    def _mean(self) -> float:
        return float(self._s @ self._x) / max(self._s.size, 1)


def _largest_step(value: Vector, change: Vector) -> float:
    """The largest alpha <= 1 with value + alpha change >= 0."""
    lowest = float((change / value).min(initial=0.0))
    return -1.0 / lowest if lowest < -1.0 else 1.0
