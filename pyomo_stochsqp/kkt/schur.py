r"""Solving with a sparse factorisation of the Schur complement, for a diagonal H.

With R = diag(sqrt(h)), z = R d and W = J R^-1:

    S = W W' + diag(δ + ε) = A A',        A = [ W   diag(sqrt(δ + ε)) ],
    y_0 = S^-1 (W R^-1 r_x - r_y),        y = y_0 + S^-1 (ε y_0),        z = R^-1 r_x - W'y,

and, as long as it pays, ρ = W z - δ y - r_y, dy = S^-1 ρ, y += dy, z -= W'dy.

The extra columns of A let a code that factorises A A' take another δ in every row without touching
the pattern of S; forming S with SciPy would drop exact zeros.
"""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np
from scipy.sparse import csc_array, csr_array

from .augmented import largest
from .hessian import HessianValues, check_finite
from .pattern import KKTPattern
from .protocol import (
    HELD,
    HELD_ROOT,
    MAX_PASSES,
    REFINED,
    REGULARISATION,
    WORTHWHILE_GAIN,
    Hessian,
    Solution,
    Vector,
    check_right_hand_side,
    judge,
)


class SchurRoot:
    """A in compressed sparse columns, with the index map of W's entries."""

    def __init__(self, pattern: KKTPattern):
        n, m, nnz = pattern.n, pattern.m, pattern.nnz
        rows = pattern.rows
        self._by_columns = np.lexsort((rows, pattern.indices))
        dtype = pattern.indptr.dtype
        row = np.concatenate((rows[self._by_columns], np.arange(m))).astype(dtype)
        starts = np.searchsorted(pattern.indices[self._by_columns], np.arange(n + 1))
        starts = np.concatenate((starts, nnz + 1 + np.arange(m))).astype(dtype)
        self.matrix = csc_array((np.zeros(nnz + m), row, starts), shape=(m, n + m))
        self._nnz = nnz

    def update(self, w: Vector, diagonal: Vector) -> None:
        """Write the values of W (row by row) and δ + ε."""
        np.take(w, self._by_columns, out=self.matrix.data[: self._nnz], mode="clip")
        np.sqrt(diagonal, out=self.matrix.data[self._nnz :])


class SchurFactoriser(Protocol):
    """A library's Cholesky factorisation of A A'."""

    root: SchurRoot

    def factorise(self) -> None:
        """Factorise ``root.matrix`` times its transpose. Raises ``KKTFailure``."""

    def solve(self, rhs: Vector) -> Vector: ...

    def describe(self) -> str: ...


class SchurBackend:
    """A back end that factorises J H^-1 J'."""

    def __init__(self, pattern: KKTPattern, name: str, factoriser: SchurFactoriser, reason: str):
        self.name = name
        self._factoriser = factoriser
        self._reason = reason
        self._columns = pattern.indices
        self._hessian = HessianValues(pattern)
        self._root = np.ones(pattern.n)
        structure = (pattern.indices, pattern.indptr)
        shape = (pattern.m, pattern.n)
        self._w = csr_array((np.zeros(pattern.nnz), *structure), shape=shape)
        self._wt = self._w.T
        self._squares = csr_array((np.zeros(pattern.nnz), *structure), shape=shape)
        self._ones = np.ones(pattern.n)
        self._delta: float | Vector = 0.0
        self._epsilon = np.zeros(pattern.m)

    def factorise(
        self, hessian: Hessian, jacobian_values: Vector, delta: float | Vector = 0.0
    ) -> None:
        self._hessian.set(hessian)
        h = self._hessian.diagonal
        self._root = np.where(h < HELD, np.sqrt(h), HELD_ROOT)
        w = self._w.data
        np.divide(jacobian_values, self._root[self._columns], out=w)
        np.square(w, out=self._squares.data)
        scale = self._squares @ self._ones
        scale[scale == 0.0] = 1.0
        self._delta = delta.copy() if isinstance(delta, np.ndarray) else float(delta)
        self._epsilon = REGULARISATION * scale
        diagonal = self._delta + self._epsilon
        if not np.isfinite(diagonal).all() or np.any(self._delta < 0.0):
            check_finite(jacobian_values, delta)
        self._factoriser.root.update(w, diagonal)
        self._factoriser.factorise()

    def solve(self, r_x: Vector, r_y: Vector) -> Solution:
        rhs = largest(r_y)
        if not math.isfinite(largest(r_x) + rhs):
            check_right_hand_side(r_x, r_y)
        start = r_x / self._root
        y = self._factoriser.solve(self._w @ start - r_y)
        y = y + self._factoriser.solve(self._epsilon * y)
        z = start - self._wt @ y
        error = math.inf
        for passes in range(2, MAX_PASSES + 1):
            rho = self._w @ z - self._delta * y - r_y
            previous, error = error, largest(rho)
            if error <= REFINED * rhs or error * WORTHWHILE_GAIN > previous or passes == MAX_PASSES:
                break
            dy = self._factoriser.solve(rho)
            y = y + dy
            z = z - self._wt @ dy
        terms = np.abs(z) + np.abs(start)
        residual, rank_deficient = judge(
            error,
            rhs,
            lambda: largest(abs(self._w) @ terms + np.abs(self._delta * y)),
        )
        return Solution(z / self._root, y, residual, rank_deficient)

    def describe(self) -> str:
        return f"{self.name}: {self._factoriser.describe()}; {self._reason}"
