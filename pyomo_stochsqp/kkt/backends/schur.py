r"""Solving with a sparse factorisation of the Schur complement, for a diagonal H.

With R = diag(sqrt(h)) and W = J R^-1 (see eliminated.py):

    S = W W' + diag(δ) = A A',        A = [ W   diag(sqrt(δ)) ],

with δ + ε in place of δ where rows are dependent. The extra columns of A let a code that factorises
A A' take another δ in every row without touching the pattern of S; forming S with SciPy would drop
exact zeros.
"""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np
from scipy.sparse import csc_array, csr_array

from ..hessian_values import HessianValues, check_finite
from ..pattern import KKTPattern
from ..protocol import (
    HELD,
    HELD_ROOT,
    REGULARISATION,
    Hessian,
    KKTFailure,
    Solution,
    TwoLevels,
    Vector,
    check_right_hand_side,
)
from .augmented import largest
from .eliminated import EliminatedSolution


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
        """Write the values of W (row by row) and δ or δ + ε."""
        np.take(w, self._by_columns, out=self.matrix.data[: self._nnz], mode="clip")
        np.sqrt(diagonal, out=self.matrix.data[self._nnz :])


class SchurFactoriser(Protocol):
    """A library's Cholesky factorisation of A A'."""

    root: SchurRoot

    def factorise(self) -> None:
        """Factorise ``root.matrix`` times its transpose. Raises ``KKTFailure``."""

    def solve(self, rhs: Vector) -> Vector: ...

    def describe(self) -> str: ...


class SchurBackend(TwoLevels):
    """A back end that factorises J H^-1 J'."""

    #: a sparse factorisation does not tell
    well_conditioned = False

    def __init__(
        self,
        pattern: KKTPattern,
        name: str,
        factoriser: SchurFactoriser,
        reason: str,
        regularise: bool = True,
    ):
        super().__init__(regularise)
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
        self._none = np.zeros(pattern.m)
        self.delta: float | Vector | None = None
        self.row_norms = np.ones(pattern.m)

    def factorise(
        self, hessian: Hessian, jacobian_values: Vector, delta: float | Vector = 0.0
    ) -> None:
        self._hessian.set(hessian)
        h = self._hessian.diagonal
        self._root = np.where(h < HELD, np.sqrt(h), HELD_ROOT)
        w = self._w.data
        np.divide(jacobian_values, self._root[self._columns], out=w)
        np.square(w, out=self._squares.data)
        squares = self._squares @ self._ones
        if not np.isfinite(squares + delta).all() or np.any(delta < 0.0):
            check_finite(jacobian_values, delta)
        self.row_norms = np.sqrt(squares)
        self.row_norms[squares == 0.0] = 1.0
        self.delta = delta.copy() if isinstance(delta, np.ndarray) else delta or None
        self._regularised = False
        self._factoriser.root.update(w, self._none if self.delta is None else self._none + delta)
        try:
            self._factoriser.factorise()
        except KKTFailure:
            self._regularise()

    def _factorise_regularised(self) -> None:
        epsilon = REGULARISATION * np.square(self.row_norms)
        diagonal = epsilon if self.delta is None else self.delta + epsilon
        self._factoriser.root.update(self._w.data, diagonal)
        self._factoriser.factorise()

    def _solve(self, r_x: Vector, r_y: Vector) -> Solution:
        if not math.isfinite(largest(r_x) + largest(r_y)):
            check_right_hand_side(r_x, r_y)
        found = EliminatedSolution(self, r_x / self._root, r_y)
        residual, rank_deficient = found.judged()
        return Solution(found.z / self._root, found.y, residual, rank_deficient)

    def excess(self, z: Vector, r_y: Vector) -> Vector:
        return self._w @ z - r_y

    def pulled(self, z: Vector, y: Vector) -> Vector:
        return z - self._wt @ y

    def inverse(self, r: Vector) -> Vector:
        return self._factoriser.solve(r)

    def terms(self, z: Vector) -> Vector:
        return abs(self._w) @ z

    def describe(self) -> str:
        return f"{self.name}: {self._factoriser.describe()}; {self._reason}"
