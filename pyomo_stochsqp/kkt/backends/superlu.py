r"""LU of the KKT matrix by SciPy's SuperLU: the last resort, present wherever SciPy is.

    P K_ε P' = L U,      pivots on the diagonal (K_ε is quasi-definite, so none can vanish).

``splu`` keeps nothing between calls, but the order P can be kept: minimum degree on K + K', once,
and the natural order of the permuted matrix ever after. Minimum degree takes quadratic time on a
nearly full row or column, so nodes of degree above 10 sqrt(size) are put last, as AMD does.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csc_array
from scipy.sparse.linalg import SuperLU, splu

from ..matrix import KKTMatrix
from ..pattern import Indices, KKTPattern
from ..protocol import KKTBackend, KKTFailure, Vector
from .augmented import AugmentedBackend

#: A node coupled to more than this times sqrt(size) others is ordered last (AMD's own default).
FULL_NODE = 10.0
DIAGONAL_PIVOTS: dict[str, Any] = {"diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True}}


class SuperLUFactoriser:
    """SuperLU on all of K, in the order found when the pattern was analysed."""

    def __init__(self, pattern: KKTPattern):
        self._order = elimination_order(KKTMatrix(pattern, "all").matrix)
        self.kkt = KKTMatrix(pattern, "all", self._order)
        self._lu: SuperLU | None = None

    def factorise(self) -> None:
        try:
            self._lu = splu(self.kkt.matrix, permc_spec="NATURAL", **DIAGONAL_PIVOTS)
        except RuntimeError as error:
            raise KKTFailure(f"SuperLU: {error}") from error

    def solve(self, rhs: Vector) -> Vector:
        assert self._lu is not None, "factorise before solve"
        solution = np.empty_like(rhs)
        solution[self._order] = self._lu.solve(rhs[self._order])
        return solution

    def describe(self) -> str:
        return f"LU of the KKT matrix (SuperLU), {self.kkt.matrix.nnz:.2g} nonzeros"


def elimination_order(matrix: csc_array) -> Indices:
    """Minimum degree of the symmetric pattern, nearly full nodes last."""
    size = matrix.shape[0]
    degree = np.diff(matrix.indptr)
    last = degree > max(16.0, FULL_NODE * np.sqrt(size))
    first = np.flatnonzero(~last)
    if not first.size:
        return np.arange(size)
    stand_in = matrix.copy()
    # any values that need no pivoting will do: a strictly dominant diagonal
    stand_in.data[:] = 1.0
    stand_in.setdiag(2.0 * size)
    part = csc_array(stand_in[first][:, first])
    position = splu(part, permc_spec="MMD_AT_PLUS_A", **DIAGONAL_PIVOTS).perm_c
    return np.concatenate((first[np.argsort(position)], np.flatnonzero(last)))


def build(pattern: KKTPattern, reason: str, regularise: bool) -> KKTBackend:
    return AugmentedBackend(pattern, "superlu", SuperLUFactoriser(pattern), reason, regularise)
