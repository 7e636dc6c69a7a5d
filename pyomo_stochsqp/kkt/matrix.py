r"""The KKT matrix in compressed sparse columns, with an index map from values to storage.

    K = [ H   J'            ]        of which a code wants the upper or the lower triangle, or all,
        [ J  -diag(δ + ε)   ]        possibly in another order of rows and columns.

Every stored entry is placed once, when the pattern is known; a new set of values is then one gather
``data = (H, J, -(δ + ε))[source]`` into the same arrays. SciPy's sparse sums and products would
drop exact zeros, and with them the fixed pattern the factorisation was analysed for.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy.sparse import csc_array

from .pattern import Indices, KKTPattern
from .protocol import Vector

Part = Literal["upper", "lower", "all"]


class KKTMatrix:
    """K with fixed arrays: ``matrix`` is always the same object, only its data change."""

    def __init__(self, pattern: KKTPattern, part: Part, order: Indices | None = None):
        size = pattern.n + pattern.m
        row, column = upper_triangle(pattern)
        entry = np.arange(row.size)
        self._values = np.zeros(row.size)
        self._end_of_hessian = row.size - pattern.nnz - pattern.m
        self._end_of_jacobian = row.size - pattern.m
        if order is not None:
            position = np.empty(size, dtype=np.int64)
            position[order] = np.arange(size)
            row, column = position[row], position[column]
        if part == "upper":
            row, column = np.minimum(row, column), np.maximum(row, column)
        elif part == "lower":
            row, column = np.maximum(row, column), np.minimum(row, column)
        else:
            off = row != column
            row, column = np.r_[row, column[off]], np.r_[column, row[off]]
            entry = np.r_[entry, entry[off]]
        storage = np.lexsort((row, column))
        self._source = entry[storage]
        dtype = pattern.indptr.dtype
        starts = np.searchsorted(column[storage], np.arange(size + 1)).astype(dtype)
        self.matrix = csc_array(
            (np.zeros(storage.size), row[storage].astype(dtype), starts), shape=(size, size)
        )

    def update(self, hessian: Vector, jacobian: Vector, negative_block: Vector) -> None:
        """Write values of H (its stored triangle), J and δ + ε."""
        values = self._values
        values[: self._end_of_hessian] = hessian
        values[self._end_of_hessian : self._end_of_jacobian] = jacobian
        np.negative(negative_block, out=values[self._end_of_jacobian :])
        np.take(values, self._source, out=self.matrix.data, mode="clip")


def upper_triangle(pattern: KKTPattern) -> tuple[Indices, Indices]:
    """(row, column) of the entries of K's upper triangle: those of H, of J', of the lower block."""
    h_row, h_column = pattern.hessian_entries()
    below = pattern.n + np.arange(pattern.m)
    row = np.concatenate((h_row, pattern.indices, below))
    column = np.concatenate((h_column, pattern.n + pattern.rows, below))
    return row, column
