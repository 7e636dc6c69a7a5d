r"""Values of H on its fixed pattern: what sparse back ends assemble, and the product H d.

    H d = U d + U'd - diag(H) d,        U the stored upper triangle.

One system may be factorised with different kinds of H in turn: the quasi-Newton matrix for the
step, the identity for least-squares multipliers. Every kind is therefore written on the one pattern
the symbolic analysis has seen, with zeros where a simpler kind has nothing.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.sparse import csc_array

from .pattern import KKTPattern
from .protocol import HELD, Hessian, KKTFailure, Vector


class HessianValues:
    """The current H of a sparse back end."""

    def __init__(self, pattern: KKTPattern):
        n = pattern.n
        self._rows, self._columns = pattern.hessian_entries()
        self._n = n
        self._diagonal_only = pattern.hessian_is_diagonal
        self._diagonal_slots = np.flatnonzero(self._rows == self._columns)
        #: one value per stored entry, in the pattern's order
        self.values: Vector = np.zeros(self._rows.size)
        self.diagonal: Vector = np.ones(n)
        if not self._diagonal_only:
            column_starts = np.searchsorted(self._columns, np.arange(n + 1))
            self._upper = csc_array((self.values, self._rows, column_starts), shape=(n, n))
            self._lower = self._upper.T

    def set(self, hessian: Hessian) -> None:
        """Take new values, in whichever kind they come."""
        h = np.asarray(hessian, dtype=float)
        if h.ndim == 0 or h.shape == (self._n,):
            self.values[:] = 0.0
            self.values[self._diagonal_slots] = h
        elif h.shape == (self._n, self._n) and not self._diagonal_only:
            self.values[:] = h[self._rows, self._columns]
        elif h.shape == self.values.shape:
            self.values[:] = h
        else:
            raise unusable(h, self._n, self.values.size)
        self.diagonal = self.values[self._diagonal_slots]
        check_positive(self.diagonal)

    def inverse_diagonal(self) -> Vector:
        """1 / H_ii, zero for held variables."""
        return np.where(self.diagonal < HELD, 1.0 / self.diagonal, 0.0)

    def times(self, d: Vector) -> Vector:
        if self._diagonal_only:
            return self.diagonal * d
        return self._upper @ d + self._lower @ d - self.diagonal * d


def unusable(h: Vector, n: int, stored: int) -> ValueError:
    return ValueError(
        f"a Hessian of shape {h.shape} does not fit the pattern: give a number, {n} diagonal "
        f"values or {stored} values of the stored upper triangle"
    )


def check_positive(diagonal: Vector) -> None:
    """A diagonal of a positive definite H is positive and finite."""
    smallest = float(np.minimum.reduce(diagonal))
    if smallest > 0.0 and math.isfinite(float(np.maximum.reduce(diagonal))):
        return
    usable = (diagonal > 0.0) & np.isfinite(diagonal)
    i = int(np.argmin(usable))
    raise KKTFailure(
        f"the Hessian has {diagonal[i]:g} on its diagonal for variable {i}: it must be positive "
        "definite and finite; use hessian='identity' or check the values that were given"
    )


def check_finite(jacobian_values: Vector, delta: float | Vector) -> None:
    """Name the first non-finite value of J or delta, if there is one."""
    wrong = np.flatnonzero(~np.isfinite(jacobian_values))
    if wrong.size:
        raise KKTFailure(
            f"the Jacobian holds {jacobian_values[wrong[0]]:g} in its stored entry {wrong[0]} "
            f"({wrong.size} such entries): evaluate the constraints where they are defined"
        )
    if not np.all(np.isfinite(delta)) or np.any(np.asarray(delta) < 0.0):
        raise KKTFailure("delta must be finite and not negative in every row")
