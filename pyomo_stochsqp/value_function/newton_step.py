r"""One Newton step of many interior points (see interior_point.py).

What belongs to bounds is eliminated: with d the distance to a bound and z its multiplier,

    dz = mu/d - z - (z/d) * (change of d),

so that only (dy, dm) are left, and D = (s's part) + p/(M + m) + n/(M - m).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..compile.each_scenario import Derivatives
from .iterate import Box, Iterate
from .stage_functions import taken

Array = NDArray[np.float64]

#: the first and the largest multiple of the identity; growth; decay from one iteration to the next
SHIFT, MOST_SHIFT, GROWTH, DECAY = 1e-4, 1e10, 8.0, 0.25
#: curvature along a step that counts as positive
POSITIVE = 1e-12


@dataclass(frozen=True, eq=False)
class Local:
    """Values and derivatives with respect to y, in scaled units; one line per scenario."""

    cost: Array
    c: Array
    cost_gradient: Array
    J: Array
    H: Array
    #: unscaled ones, with respect to x, too
    whole: Derivatives

    def some(self, which: Any) -> Local:
        parts = (self.c, self.cost_gradient, self.J, self.H)
        c, gradient, J, H = (taken(a, which) for a in parts)
        return Local(self.cost[which], c, gradient, J, H, self.whole)


@dataclass(frozen=True, eq=False)
class Matrix:
    """The matrices of the reduced systems, without a shift."""

    K: Array
    of_y: Array
    of_s: Array
    fixed: NDArray[np.bool_]

    @classmethod
    def of(cls, local: Local, at: Iterate, of_y: Box, of_s: Box) -> Matrix:
        m, n = local.J.shape[1:]
        sy = at.y_low / of_y.below(at.y) + at.y_up / of_y.above(at.y)
        ss = at.s_low / of_s.below(at.s) + at.s_up / of_s.above(at.s)
        K = np.zeros((len(local.c), n + m, n + m))
        K[:, :n, :n] = local.H
        K[:, n:, :n] = local.J
        K[:, :n, n:] = local.J.transpose(0, 2, 1)
        if of_y.fixed.any():
            K[:, :n][of_y.fixed] = 0.0
            K[:, :, :n].transpose(0, 2, 1)[of_y.fixed] = 0.0
        i, k = np.arange(n), n + np.arange(m)
        K[:, i, i] += np.where(of_y.fixed, 1.0, sy)
        K[:, k, k] = -(_inverse(ss, of_s) + at.p / at.of_p
                       + at.n / at.of_n)  # fmt: skip
        return cls(K, sy, ss, of_y.fixed)

    def solved(self, right: Array, shift: Array | None = None) -> Array:
        """One system per scenario; ``right`` is (S, n + m, columns)."""
        K = self.K
        if shift is not None and shift.any():
            K = K.copy()
            i = np.arange(self.of_y.shape[1])
            K[:, i, i] += shift[:, None]
        try:
            return np.asarray(np.linalg.solve(K, right), dtype=float)
        except np.linalg.LinAlgError:
            return np.stack([_one(k, r) for k, r in zip(K, right, strict=True)])


def _one(K: Array, right: Array) -> Array:
    try:
        return np.asarray(np.linalg.solve(K, right), dtype=float)
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.lstsq(K, right, rcond=None)[0], dtype=float)


def _inverse(ss: Array, of_s: Box) -> Array:
    """1 / ss; 0 for equalities; large for rows without bounds."""
    return np.where(of_s.fixed, 0.0, 1.0 / np.maximum(ss, 1e-20))


@dataclass(frozen=True, eq=False)
class Step:
    """Changes of everything."""

    y: Array
    s: Array
    p: Array
    n: Array
    multipliers: Array
    y_low: Array
    y_up: Array
    s_low: Array
    s_up: Array

    def primal(self, at: Iterate, length: Array) -> Iterate:
        """The iterate with y, s, p, n moved by a length per scenario."""
        a = length[:, None]
        return Iterate(
            at.y + a * self.y, at.s + a * self.s, at.p + a * self.p, at.n + a * self.n,
            at.multipliers, at.y_low, at.y_up, at.s_low, at.s_up, at.of_p, at.of_n,
        )  # fmt: skip

    def taken(
        self, at: Iterate, length: Array, dual: Array, of_y: Box, of_s: Box, mu: Array
    ) -> Iterate:
        """The next iterate; multipliers of bounds stay near mu / distance."""
        moved, b = self.primal(at, length), dual[:, None]
        moved.multipliers = at.multipliers + b * self.multipliers
        moved.of_p = at.of_p + b * self.multipliers
        moved.of_n = at.of_n - b * self.multipliers

        def near(z: Array, distance: Array, there: NDArray[np.bool_]) -> Array:
            central = mu[:, None] / np.maximum(distance, 1e-300)
            return np.where(there, np.clip(z, 1e-10 * central, 1e10 * central), 0.0)

        moved.y_low = near(at.y_low + b * self.y_low, of_y.below(moved.y), of_y.has_low)
        moved.y_up = near(at.y_up + b * self.y_up, of_y.above(moved.y), of_y.has_up)
        moved.s_low = near(at.s_low + b * self.s_low, of_s.below(moved.s), of_s.has_low)
        moved.s_up = near(at.s_up + b * self.s_up, of_s.above(moved.s), of_s.has_up)
        return moved

    def lengths(self, at: Iterate, of_y: Box, of_s: Box, share: float) -> tuple[Array, Array]:
        """The longest primal and dual steps that keep away from the bounds."""
        primal = np.minimum.reduce(
            [
                _longest(of_y.below(at.y), np.where(of_y.has_low, self.y, 0.0)),
                _longest(of_y.above(at.y), np.where(of_y.has_up, -self.y, 0.0)),
                _longest(of_s.below(at.s), np.where(of_s.has_low, self.s, 0.0)),
                _longest(of_s.above(at.s), np.where(of_s.has_up, -self.s, 0.0)),
                _longest(at.p, self.p),
                _longest(at.n, self.n),
            ]
        )
        dual = np.minimum.reduce(
            [
                _longest(at.y_low, self.y_low),
                _longest(at.y_up, self.y_up),
                _longest(at.s_low, self.s_low),
                _longest(at.s_up, self.s_up),
                _longest(at.of_p, self.multipliers),
                _longest(at.of_n, -self.multipliers),
            ]
        )
        return np.minimum(share * primal, 1.0), np.minimum(share * dual, 1.0)

    def slope(
        self, local: Local, at: Iterate, of_y: Box, of_s: Box, mu: Array, price: Array, M: float
    ) -> Array:
        """The derivative of the merit function along the step, at most 0."""
        m = mu[:, None]
        rows = local.c - at.s + at.p - at.n
        total = (local.cost_gradient * self.y).sum(axis=1)
        total += ((M - m / at.p) * self.p + (M - m / at.n) * self.n).sum(axis=1)
        total += _barrier(of_y, at.y, self.y, m) + _barrier(of_s, at.s, self.s, m)
        return np.minimum(total - (price * np.abs(rows)).sum(axis=1), 0.0)


def _barrier(box: Box, v: Array, dv: Array, mu: Array) -> Array:
    slope = np.where(box.has_up, mu / box.above(v), 0.0)
    slope -= np.where(box.has_low, mu / box.below(v), 0.0)
    return np.asarray((slope * dv).sum(axis=1))


def _longest(distance: Array, change: Array) -> Array:
    """Until a distance is zero; infinite if none gets smaller."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(change < 0.0, -distance / change, np.inf)
    return ratio.min(axis=1, initial=np.inf)


def newton_step(
    local: Local, at: Iterate, of_y: Box, of_s: Box, mu: Array, shift: Array
) -> tuple[Step, Array]:
    """The steps, and the multiples of the identity that they needed."""
    m, matrix = mu[:, None], Matrix.of(local, at, of_y, of_s)
    n = at.y.shape[1]
    dp, dn = at.of_p, at.of_n
    central_y = _central(of_y, at.y, m)
    central_s = _central(of_s, at.s, m)
    rows = local.c - at.s + at.p - at.n
    inverse = _inverse(matrix.of_s, of_s)
    off = at.multipliers + central_s
    gradient = local.cost_gradient + np.einsum("ski,sk->si", local.J, at.multipliers) - central_y
    right = np.empty((len(rows), matrix.K.shape[1], 1))
    right[:, :n, 0] = np.where(of_y.fixed, 0.0, -gradient)
    right[:, n:, 0] = -rows + inverse * off - (m / dp - at.p) + (m / dn - at.n)
    shift = DECAY * shift
    shift[shift < SHIFT * DECAY] = 0.0
    found = matrix.solved(right, shift)
    while True:
        dy, dm = found[:, :n, 0], found[:, n:, 0]
        ds = np.where(of_s.fixed, 0.0, inverse * (dm + off))
        step_p = (m - at.p * dp - at.p * dm) / dp
        step_n = (m - at.n * dn + at.n * dm) / dn
        curved = np.einsum("si,sij,sj->s", dy, local.H, dy)
        curved += ((matrix.of_y + shift[:, None]) * dy**2).sum(axis=1)
        curved += (matrix.of_s * ds**2).sum(axis=1)
        curved += (dp / at.p * step_p**2 + dn / at.n * step_n**2).sum(axis=1)
        bad = ~(curved >= POSITIVE * (dy**2).sum(axis=1)) & (shift < MOST_SHIFT)
        if not bad.any():
            break
        shift[bad] = np.maximum(GROWTH * shift[bad], SHIFT)
        part = Matrix(matrix.K[bad], matrix.of_y[bad], matrix.of_s[bad], matrix.fixed[bad])
        found[bad] = part.solved(right[bad], shift[bad])
    return Step(
        dy, ds, step_p, step_n, dm,
        *_multiplier_steps(of_y, at.y, dy, at.y_low, at.y_up, m),
        *_multiplier_steps(of_s, at.s, ds, at.s_low, at.s_up, m),
    ), shift  # fmt: skip


def _central(box: Box, v: Array, mu: Array) -> Array:
    """mu / (v - low) - mu / (up - v)."""
    low = np.where(box.has_low, mu / box.below(v), 0.0)
    return low - np.where(box.has_up, mu / box.above(v), 0.0)


def _multiplier_steps(
    box: Box, v: Array, dv: Array, low: Array, up: Array, mu: Array
) -> tuple[Array, Array]:
    below, above = box.below(v), box.above(v)
    return (
        np.where(box.has_low, mu / below - low - low / below * dv, 0.0),
        np.where(box.has_up, mu / above - up + up / above * dv, 0.0),
    )
