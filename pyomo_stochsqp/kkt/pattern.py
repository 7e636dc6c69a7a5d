r"""The fixed sparsity of a KKT system: J row by row, H as a diagonal, an upper triangle or full.

    J: (m, n), compressed sparse rows, column indices sorted in each row
    H: diagonal unless ``hessian_indptr`` and ``hessian_indices`` give the upper triangle, diagonal
       included, in compressed sparse columns, or ``hessian_dense`` says that all of it is stored

A J that stores all m n entries needs no index map: its values are a matrix, row by row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.integer[Any]]


@dataclass(frozen=True, eq=False)
class KKTPattern:
    """Sizes and sparsity of the system; values come later, many times."""

    n: int
    m: int
    indptr: Indices
    indices: Indices
    hessian_indptr: Indices | None = None
    hessian_indices: Indices | None = None
    hessian_dense: bool = False

    def __post_init__(self) -> None:
        if self.n < 1 or self.m < 0:
            raise ValueError(f"a KKT pattern needs n >= 1 and m >= 0, not n={self.n}, m={self.m}")
        indptr, indices = compressed("J", self.indptr, self.indices, self.m, self.n)
        object.__setattr__(self, "indptr", indptr)
        object.__setattr__(self, "indices", indices)
        if (self.hessian_indptr is None) != (self.hessian_indices is None):
            raise ValueError("give both hessian_indptr and hessian_indices, or neither")
        if self.hessian_indptr is None or self.hessian_indices is None:
            return
        if self.hessian_dense:
            raise ValueError("a Hessian is either dense or has a sparse pattern, not both")
        indptr, indices = compressed("H", self.hessian_indptr, self.hessian_indices, self.n, self.n)
        filled = np.diff(indptr) > 0
        if not filled.all() or np.any(indices[indptr[1:] - 1] != np.arange(self.n)):
            raise ValueError(
                "the pattern of H must be its upper triangle by columns with the whole diagonal: "
                "the last row index of column i has to be i"
            )
        object.__setattr__(self, "hessian_indptr", indptr)
        object.__setattr__(self, "hessian_indices", indices)

    @classmethod
    def full(cls, n: int, m: int, hessian_dense: bool = False) -> KKTPattern:
        """Every entry of J stored, row by row."""
        indices = np.tile(np.arange(n), m)
        return cls(n, m, n * np.arange(m + 1), indices, hessian_dense=hessian_dense)

    @property
    def nnz(self) -> int:
        """Stored entries of J."""
        return self.indices.size

    @property
    def jacobian_is_full(self) -> bool:
        return self.nnz == self.n * self.m

    @property
    def density(self) -> float:
        return self.nnz / max(1, self.n * self.m)

    @property
    def hessian_is_diagonal(self) -> bool:
        return self.hessian_indptr is None and not self.hessian_dense

    @property
    def rows(self) -> Indices:
        """The row of every stored entry of J."""
        return np.repeat(np.arange(self.m), np.diff(self.indptr))

    def hessian_entries(self) -> tuple[Indices, Indices]:
        """(row, column) of every stored entry of H's upper triangle, column by column."""
        if self.hessian_dense:
            column, row = np.tril_indices(self.n)
            return row, column
        if self.hessian_indptr is None or self.hessian_indices is None:
            return np.arange(self.n), np.arange(self.n)
        return self.hessian_indices, np.repeat(np.arange(self.n), np.diff(self.hessian_indptr))


def compressed(
    what: str, indptr: Indices, indices: Indices, lines: int, width: int
) -> tuple[Indices, Indices]:
    """Checked pattern arrays, with 32-bit indices where they fit (what the C codes use).

    The check costs one pass and is made once; a wrong pattern would otherwise give wrong answers
    silently, since the factorisation codes do not look.
    """
    indptr, indices = np.asarray(indptr), np.asarray(indices)
    if (
        indptr.shape != (lines + 1,)
        or indptr[0] != 0
        or indptr[-1] != indices.size
        or np.any(np.diff(indptr) < 0)
    ):
        raise ValueError(f"the pattern of {what}: indptr must rise from 0 to {indices.size}")
    if indices.size:
        if indices.min() < 0 or indices.max() >= width:
            raise ValueError(f"the pattern of {what}: an index is outside 0..{width - 1}")
        starts_line = np.zeros(indices.size, dtype=bool)
        starts_line[indptr[:-1][indptr[:-1] < indices.size]] = True
        if np.any((np.diff(indices) <= 0) & ~starts_line[1:]):
            raise ValueError(f"the pattern of {what}: sort the indices and merge duplicates")
    small = max(indices.size, width, lines) < np.iinfo(np.int32).max
    dtype = np.int32 if small else np.int64
    return indptr.astype(dtype), indices.astype(dtype)


def with_diagonal(
    indptr: NDArray[np.intp], indices: NDArray[np.intp], n: int
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """(where the given entries stand, indptr, indices) of a triangle with its whole diagonal."""
    columns = np.repeat(np.arange(n), np.diff(indptr))
    given = columns * n + indices
    keys = np.union1d(given, np.arange(n) * (n + 1))
    columns, rows = np.divmod(keys, n)
    return np.searchsorted(keys, given), np.searchsorted(columns, np.arange(n + 1)), rows
