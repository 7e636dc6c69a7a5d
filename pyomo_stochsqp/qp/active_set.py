r"""Elastic QP, any H: guess which bounds and rows are active, solve, correct the guess.

    bounds_i = -1 (d_i = l_i), 0 (free), 1 (d_i = u_i)
    rows_j   = -2 (y_j = -rho), -1 (J_j d = a_j), 0 (y_j = 0), 1 (J_j d = b_j), 2 (y_j = rho)

A guess fixes d_B and y_I; what is left is one equality-constrained program,

    [ H_FF  J_AF' ] [ d_F ]     [ g + H d_B + J'y_I ]_F
    [ J_AF  0     ] [ y_A ] = - [ J d_B - target    ]_A ,      target_j = a_j or b_j.

If its solution has all signs right it is the program's solution. Otherwise every entry that is
wrong moves to its neighbour state (the primal-dual active set method), and the new guess is tried.
This ends after one or two corrections near the solution. From afar it may cycle, so their number is
limited.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..kkt import REMOVED, KKTBackend, KKTFailure
from ..oracle import Vector
from .quadratic_program import QP, Mask

#: wrong signs below this, relative to the largest entry of their kind, are rounding
ROUNDING = 1e-11


class ActivePoint(NamedTuple):
    """The solution for a guess that turned out right."""

    d: Vector
    y: Vector
    w: Vector
    bounds: Vector
    rows: Vector
    corrections: int


class ActiveSet:
    """The method for one problem shape; ``equality`` marks rows with a = b."""

    def __init__(self, backend: KKTBackend, equality: Mask):
        self._backend = backend
        self._equality = equality

    def first_guess(self, n: int) -> tuple[Vector, Vector]:
        """No bound active, no row except equalities."""
        return np.zeros(n), self._equality.astype(float)

    def solve(
        self, qp: QP, bounds: Vector, rows: Vector, max_corrections: int
    ) -> ActivePoint | None:
        """The solution, or None if the guess is still wrong after so many corrections."""
        for correction in range(max_corrections + 1):
            try:
                d, y, w = self._solution(qp, bounds, rows)
            except KKTFailure:
                return None
            new_bounds = self._corrected_bounds(qp, bounds, d, y)
            new_rows = self._corrected_rows(qp, rows, y, w)
            if (new_bounds == bounds).all() and (new_rows == rows).all():
                if self._misses(qp, rows, w):
                    return None  # dependent rows, whose equations contradict each other
                y = np.where(rows * y < 0.0, np.where(self._equality, y, 0.0), y)
                y = np.minimum(np.maximum(y, -qp.rho), qp.rho)
                return ActivePoint(qp.in_box(d), y, w, bounds, rows, correction)
            bounds, rows = new_bounds, new_rows
        return None

    def _solution(self, qp: QP, bounds: Vector, rows: Vector) -> tuple[Vector, Vector, Vector]:
        """(d, y, J d) for a guess."""
        d_fixed = np.where(bounds < 0.0, qp.lower, np.where(bounds > 0.0, qp.upper, 0.0))
        y_fixed = np.where(np.abs(rows) > 1.0, 0.5 * qp.rho * rows, 0.0)
        active = np.abs(rows) == 1.0
        target = np.where(rows < 0.0, qp.a, qp.b)
        sigma = np.where(bounds != 0.0, REMOVED, 0.0)
        self._backend.factorise(qp.hessian.plus(sigma), qp.J, np.where(active, 0.0, REMOVED))
        r_x = -(qp.pull(y_fixed) + qp.hessian.times(d_fixed))
        w_fixed = qp.times(d_fixed)
        solution = self._backend.solve(
            np.where(bounds != 0.0, 0.0, r_x), np.where(active, target - w_fixed, 0.0)
        )
        d = np.where(bounds != 0.0, d_fixed, solution.d)
        y = np.where(active, solution.y, y_fixed)
        return d, y, qp.times(d)

    def _misses(self, qp: QP, rows: Vector, w: Vector) -> bool:
        """Whether an active row is not where it was asked to be."""
        off = np.where(rows == 1.0, w - qp.b, np.where(rows == -1.0, w - qp.a, 0.0))
        size = qp.unconstrained_scale() + np.abs(w).max(initial=0.0)
        return float(np.abs(off).max(initial=0.0)) > ROUNDING * size

    def _corrected_bounds(self, qp: QP, bounds: Vector, d: Vector, y: Vector) -> Vector:
        pull = qp.pull(y)
        z = -(pull + qp.hessian.times(d))
        size = np.abs(qp.g).max(initial=0.0) + np.abs(pull).max(initial=0.0)
        leaves = (bounds != 0.0) & (bounds * z < -ROUNDING * size) & (qp.lower < qp.upper)
        slack = ROUNDING * np.abs(d).max(initial=0.0)
        free = bounds == 0.0
        hits = (free & (d > qp.upper + slack)).astype(float) - (free & (d < qp.lower - slack))
        return np.where(leaves, 0.0, bounds + hits)

    def _corrected_rows(self, qp: QP, rows: Vector, y: Vector, w: Vector) -> Vector:
        rho = qp.rho
        miss = ROUNDING * qp.unconstrained_scale()
        size = ROUNDING * np.abs(y).max(initial=0.0)
        at = np.abs(rows)
        above, below = w > qp.b + miss, w < qp.a - miss
        # an idle row that is violated becomes active
        new = np.where(at == 0.0, above.astype(float) - below, rows)
        # an active one with a wrong sign becomes idle, one that pushes too hard gives way
        wrong = (at == 1.0) & (rows * y < -size) & ~self._equality
        new = np.where(wrong, 0.0, new)
        too_hard = (at == 1.0) & (np.abs(y) > rho + size) & ~wrong
        new = np.where(too_hard, 2.0 * np.sign(y), new)
        # one that has given way but is satisfied again becomes active
        back = ((rows == 2.0) & (w < qp.b - miss)) | ((rows == -2.0) & (w > qp.a + miss))
        return np.where(back, 0.5 * rows, new)
