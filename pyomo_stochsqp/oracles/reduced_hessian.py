r"""Second derivatives after elimination: H = [I T'] M [I; T] (eliminated.py).

    H = M_xx + M_xt T + (M_xt T)' + T' M_tt T

M is the sum of matrices on fixed patterns, in x and t. With few variables all of it is full; with
many, T has an entry where a number t depends on a variable, and H has the pattern that follows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..oracle import Vector

Matrix = NDArray[np.float64]
Indices = NDArray[np.intp]

#: variables and numbers t up to which full matrices are used
FULL = 600


class ReducedHessian:
    """For patterns of upper triangles, compressed columns, with ``k`` numbers t behind n variables.

    ``supports``: which t depends on which variable.
    """

    def __init__(
        self, n: int, patterns: Sequence[tuple[Indices, Indices]], supports: NDArray[np.bool_]
    ):
        self._n, self._size = n, n + len(supports)
        self._rows, self._columns = [], []
        for indptr, indices in patterns:
            self._rows.append(indices)
            self._columns.append(np.repeat(np.arange(self._size), np.diff(indptr)))
        self._full = self._size <= FULL
        if self._full:
            j, i = np.tril_indices(n)  # an upper triangle, column by column
        else:
            M = self._sparse([np.ones(rows.size) for rows in self._rows])
            H = self._product(M, sparse.csr_array(supports.astype(float)))
            upper = sparse.triu(H).tocsc()
            upper.sort_indices()
            i, j = upper.indices, np.repeat(np.arange(n), np.diff(upper.indptr))
        self.indices: Indices = i.astype(np.intp)
        self.indptr: Indices = np.searchsorted(j, np.arange(n + 1)).astype(np.intp)
        self._entry_columns = j

    def values(self, parts: Sequence[Vector], T: Matrix) -> Vector:
        """H on its pattern; ``parts`` are the values of M on theirs."""
        if not self._full:
            H = self._product(self._sparse(parts), sparse.csr_array(T)).tocsr()
            return np.asarray(H[self.indices, self._entry_columns]).ravel()
        M = np.zeros((self._size, self._size))
        for rows, columns, values in zip(self._rows, self._columns, parts, strict=True):
            M[rows, columns] += values
        M = M + np.triu(M, 1).T
        n = self._n
        half = M[:n, n:] @ T
        H = M[:n, :n] + half + half.T + T.T @ M[n:, n:] @ T
        found: Vector = H[self.indices, self._entry_columns]
        return found

    def _sparse(self, parts: Sequence[Vector]) -> sparse.csr_array:
        rows, columns = np.concatenate(self._rows), np.concatenate(self._columns)
        M = sparse.coo_array((np.concatenate(parts), (rows, columns)), shape=(self._size,) * 2)
        return (M + sparse.triu(M, 1).T).tocsr()

    def _product(self, M: sparse.csr_array, T: sparse.csr_array) -> sparse.csr_array:
        n = self._n
        half = M[:n, n:] @ T
        return M[:n, :n] + half + half.T + T.T @ M[n:, n:] @ T
