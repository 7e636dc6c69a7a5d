r"""CHOLMOD (scikit-sparse): LDL' of the KKT matrix, or Cholesky of the sparse Schur complement.

    K_ε = P' L_K D L_K' P        (always possible)
    J H^-1 J' + δ = P' L_S L_S' P        (H diagonal)

The second form wins when eliminating the variables first does not fill the matrix, and loses
without limit when it does: one variable present in every row makes J H^-1 J' dense. It is taken
when nnz(L_S) <= 0.7 nnz(L_K), or nnz(L_S) <= nnz(L_K) with so much fill that CHOLMOD works on
supernodes, which LDL' cannot. Two lower bounds on nnz(L_S) reject it before S is analysed: a column
of J with k entries is a clique of k rows, and L_S holds at least the lower triangle of S.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.sparse import csc_array, csr_array

from ..matrix import KKTMatrix
from ..pattern import KKTPattern
from ..protocol import KKTBackend, Vector
from .augmented import AugmentedBackend
from .cholmod_api import Factor
from .schur import SchurBackend, SchurRoot

#: Fill of L_S, relative to that of L_K, up to which the Schur complement is the faster form ...
SCHUR_FILL = 0.7
#: ... and the fill from which supernodes make it the faster form even at equal fill.
SUPERNODAL_FILL = 3e5


class CholmodFactoriser:
    """CHOLMOD's simplicial LDL' on the lower triangle of K."""

    def __init__(self, pattern: KKTPattern):
        self.kkt = KKTMatrix(pattern, "lower")
        fill_with_dominant_values(self.kkt, pattern)
        self._factor = Factor(self.kkt.matrix, "symmetric")
        self.fill = self._factor.fill(self.kkt.matrix)

    def factorise(self) -> None:
        self._factor.factorise(self.kkt.matrix)

    def solve(self, rhs: Vector) -> Vector:
        return self._factor.solve(rhs)

    def describe(self) -> str:
        return f"LDL' of the KKT matrix (CHOLMOD), {self.fill:.2g} nonzeros in L"


class CholmodSchur:
    """CHOLMOD's Cholesky of A A', where A A' is the Schur complement."""

    def __init__(self, pattern: KKTPattern):
        self.root = SchurRoot(pattern)
        self.root.matrix.data[:] = 1.0
        self._factor = Factor(self.root.matrix, "product")
        self.fill = self._factor.fill(self.root.matrix)

    def factorise(self) -> None:
        self._factor.factorise(self.root.matrix)

    def solve(self, rhs: Vector) -> Vector:
        return self._factor.solve(rhs)

    def describe(self) -> str:
        return f"Cholesky of J H^-1 J' (CHOLMOD), {self.fill:.2g} nonzeros in L"


def fill_with_dominant_values(kkt: KKTMatrix, pattern: KKTPattern) -> None:
    """Values that can be factorised, for versions that count fill only afterwards."""
    row, column = pattern.hessian_entries()
    size = float(pattern.n + pattern.m)
    hessian = np.where(row == column, 2.0 * size, 1.0)
    kkt.update(hessian, np.ones(pattern.nnz), np.full(pattern.m, 2.0 * size))


def schur_fill_bound(pattern: KKTPattern, give_up: float) -> float:
    """A lower bound on nnz(L_S); the second, dearer part is skipped once the first exceeds."""
    fullest = int(np.bincount(pattern.indices, minlength=pattern.n).max())
    clique = fullest * (fullest + 1) / 2
    if clique > give_up:
        return clique
    ones = np.ones(pattern.nnz)
    jacobian = csr_array((ones, pattern.indices, pattern.indptr), shape=(pattern.m, pattern.n))
    # sums of ones: nothing cancels, so that SciPy drops no entry of S here
    lower_triangle = (csc_array(jacobian @ jacobian.T).nnz + pattern.m) / 2
    return max(clique, lower_triangle)


@lru_cache(maxsize=1)
def schur_is_better(pattern: KKTPattern) -> bool:
    """The rule above. Remembered, since the choice of a back end and its construction both ask."""
    if not pattern.hessian_is_diagonal or pattern.m == 0:
        return False
    whole = CholmodFactoriser(pattern).fill
    if schur_fill_bound(pattern, whole) > whole:
        return False
    schur = CholmodSchur(pattern).fill
    return schur <= (SCHUR_FILL if schur < SUPERNODAL_FILL else 1.0) * whole


def build(pattern: KKTPattern, reason: str, regularise: bool) -> KKTBackend:
    if schur_is_better(pattern):
        return SchurBackend(pattern, "cholmod", CholmodSchur(pattern), reason, regularise)
    return AugmentedBackend(pattern, "cholmod", CholmodFactoriser(pattern), reason, regularise)
