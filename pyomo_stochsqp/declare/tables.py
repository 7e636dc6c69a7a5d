r"""Finite random data: one row per scenario, one column per random number.

What may be given: a NumPy array, a memory-mapped array, a SciPy sparse matrix, a pandas DataFrame
or a mapping from column name to array. Arrays are kept as they are, without a copy; a table is
immutable for us, so clones of a model share it.

Every number is checked to be finite, except in memory-mapped arrays: reading all of a large file
just to declare it would take minutes, so only some rows spread over it are looked at, and the
solver reports a NaN when it draws the row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..errors import DataError

_PEEKED_ROWS = 64
_CHUNK_NUMBERS = 1 << 20


class Table:
    """A matrix of scenario rows, with column labels if the data had names."""

    dimension = 1  # a row is chosen by one uniform number

    def __init__(self, name: str, matrix: Any, labels: Sequence[Any] | None = None):
        self.matrix = matrix
        self.labels = None if labels is None else list(labels)
        if matrix.shape[0] == 0:
            raise DataError(f"{name}: data has no rows, so there is nothing to draw.")
        _check_finite(name, matrix, self.labels)

    @property
    def size(self) -> int:
        return int(self.matrix.shape[0])

    @property
    def width(self) -> int:
        return int(self.matrix.shape[1])

    def mean(self, weights: NDArray[np.float64] | None) -> NDArray[np.float64]:
        """Column means, read in chunks so that a memory-mapped file is never loaded whole."""
        total = np.zeros(self.width)
        step = max(1, _CHUNK_NUMBERS // max(1, self.width))
        for start in range(0, self.size, step):
            rows = slice(start, min(start + step, self.size))
            p = np.full(rows.stop - start, 1 / self.size) if weights is None else weights[rows]
            total += np.asarray(p @ self.matrix[rows]).ravel()
        return total

    def row(self, number: int) -> NDArray[np.float64]:
        row = self.matrix[[number]]
        return np.asarray(row.toarray() if sparse.issparse(row) else row, dtype=float).ravel()

    def __deepcopy__(self, memo: Any) -> Table:
        return self

    def __reduce__(self) -> Any:
        return _restore, (*_portable(self.matrix), self.labels)


def table(name: str, data: Any) -> Table:
    """A table from any of the accepted kinds of data; ``name`` opens the error messages."""
    if isinstance(data, Table):
        return data
    if sparse.issparse(data):
        return Table(name, data.tocsr())
    if hasattr(data, "columns") and hasattr(data, "to_numpy"):
        try:
            return Table(name, data.to_numpy(dtype=float), list(data.columns))
        except (TypeError, ValueError):
            raise DataError(
                f"{name}: the DataFrame has columns that are not numbers ({_not_numeric(data)}). "
                "Select the numeric columns, or name them with columns=."
            ) from None
    if isinstance(data, Mapping):
        return Table(name, _stack(name, data), list(data))
    matrix = data if _is_memory_mapped(data) else _as_floats(name, data)
    if matrix.ndim == 1:
        matrix = matrix[:, None]
    if matrix.ndim != 2:
        raise DataError(
            f"{name}: data has shape {matrix.shape}; give a matrix with one row per scenario and "
            "one column per random number."
        )
    return Table(name, matrix)


def columns_of(name: str, labels: Sequence[Any] | None, width: int, wanted: Any) -> list[int]:
    """Positions of the wanted columns, given as labels or, for data without labels, as numbers."""
    wanted = list(range(width))[wanted] if isinstance(wanted, slice) else list(wanted)
    positions = {j: j for j in range(width)}
    if labels is not None:
        positions = {label: j for j, label in enumerate(labels)}
    missing = [w for w in wanted if w not in positions]
    if missing:
        raise DataError(
            f"{name}: there is no column {', '.join(repr(w) for w in missing[:5])} in the data "
            f"(columns: {_listed(list(positions))}). Rename the columns after the index, or say "
            "which column each member reads with columns=."
        )
    return [positions[w] for w in wanted]


def _listed(items: list[Any]) -> str:
    shown = ", ".join(repr(i) for i in items[:8])
    return shown + (f", ... {len(items)} in all" if len(items) > 8 else "")


def _not_numeric(frame: Any) -> str:
    return ", ".join(repr(c) for c in frame.columns if frame[c].dtype.kind not in "fiub")


def _stack(name: str, data: Mapping[Any, Any]) -> NDArray[np.float64]:
    columns = [_as_floats(name, column) for column in data.values()]
    lengths = {label: len(c) for label, c in zip(data, columns, strict=True)}
    if len(set(lengths.values())) > 1 or any(c.ndim != 1 for c in columns):
        raise DataError(
            f"{name}: a mapping needs one array of the same length for each column; the lengths "
            f"are {lengths}."
        )
    return np.column_stack(columns)


def _as_floats(name: str, data: Any) -> NDArray[np.float64]:
    try:
        return np.asarray(data, dtype=float)
    except (TypeError, ValueError):
        raise DataError(f"{name}: data of type {type(data).__name__} is not numeric.") from None


def _is_memory_mapped(data: Any) -> bool:
    while isinstance(data, np.ndarray):
        if isinstance(data, np.memmap):
            return True
        data = data.base
    return False


def _check_finite(name: str, matrix: Any, labels: list[Any] | None) -> None:
    size, width = matrix.shape
    if sparse.issparse(matrix):
        bad = np.flatnonzero(~np.isfinite(matrix.data))
        if bad.size:
            row = int(np.searchsorted(matrix.indptr, bad[0], side="right")) - 1
            raise _not_finite(name, row, matrix.indices[bad[0]], labels)
        return
    if _is_memory_mapped(matrix):
        peeked = np.unique(np.linspace(0, size - 1, _PEEKED_ROWS).astype(int))
        chunks = [(peeked, matrix[peeked])]
    else:
        step = max(1, _CHUNK_NUMBERS // max(1, width))
        starts = range(0, size, step)
        chunks = ((np.arange(s, min(s + step, size)), matrix[s : s + step]) for s in starts)
    for rows, block in chunks:
        finite = np.isfinite(block)
        if not finite.all():
            i, j = np.argwhere(~finite)[0]
            raise _not_finite(name, rows[i], j, labels)


def _not_finite(name: str, row: Any, column: Any, labels: list[Any] | None) -> DataError:
    label = column if labels is None else repr(labels[column])
    return DataError(
        f"{name}: data has NaN or infinity at row {row}, column {label}. Remove or impute such rows "
        "first."
    )


def _portable(matrix: Any) -> tuple[Callable[..., Any] | None, Any]:
    """How a matrix is pickled: a whole memory-mapped file by its name, all else by its numbers."""
    if isinstance(matrix, np.memmap) and not isinstance(matrix.base, np.ndarray):
        order = "C" if matrix.flags.c_contiguous else "F"
        return np.memmap, (matrix.filename, matrix.dtype, "r", matrix.offset, matrix.shape, order)
    return None, matrix


def _restore(opener: Callable[..., Any] | None, content: Any, labels: list[Any] | None) -> Table:
    restored = object.__new__(Table)
    restored.matrix = content if opener is None else opener(*content)
    restored.labels = labels
    return restored
