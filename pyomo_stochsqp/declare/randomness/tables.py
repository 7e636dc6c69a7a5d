r"""Finite random data: one row per scenario, one column per random number.

What may be given: a NumPy array, a SciPy sparse matrix, a DataFrame or a mapping from column name
to array, all of which are in memory; a memory map, a file or a row reader, which are read while
they are used (readers/). Float arrays are kept as they are, without a copy; a table never changes,
so clones of a model share it.

The columns that are read are checked to be finite, except in files: reading all of a large one just
to declare it could take minutes, so only its first rows are looked at, and the others when they are
drawn.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ...errors import DataError
from ..user_numbers import NotNumbers, as_floats, check_kind
from .readers import Stored, opened
from .readers.placed import mapped_rows

_PEEKED_ROWS = 4
_CHUNK_NUMBERS = 1 << 20
#: numbers of a file up to which it is read at once
_SMALL_FILE = 1 << 22


class Table:
    """A matrix of scenario rows, with column labels if the data had names."""

    def __init__(self, matrix: Any, labels: Sequence[Any] | None = None):
        self.matrix = matrix
        self.labels = None if labels is None else list(labels)
        #: the user's own object, while it lives; only to notice that two tables are the same one
        self.given: weakref.ref[Any] | None = None
        #: the file or folder that was given, for the same purpose
        self.path: str | None = None

    @property
    def size(self) -> int:
        return int(self.matrix.shape[0])

    @property
    def width(self) -> int:
        return int(self.matrix.shape[1])

    @property
    def stored(self) -> bool:
        """It is read while it is used."""
        return isinstance(self.matrix, Stored)

    def mean(self, weights: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Column means, read in chunks so that a memory-mapped file is never loaded whole."""
        total = np.zeros(self.width)
        for rows in _chunks(self.size, self.width):
            p = np.full(rows.stop - rows.start, 1 / self.size) if weights is None else weights[rows]
            total += np.asarray(p @ self.matrix[rows]).ravel()
        return total

    def rows(self, numbers: Any) -> NDArray[np.float64]:
        """Some scenarios, as a dense array."""
        rows = self.matrix[numbers]
        return np.asarray(rows.toarray() if sparse.issparse(rows) else rows, dtype=float)

    def check_finite(self, name: str, columns: Sequence[int]) -> None:
        """Raise if a number of these columns is not finite (first rows only, if memory-mapped)."""
        if sparse.issparse(self.matrix):
            blocks: Iterable[Any] = [(np.arange(self.matrix.nnz), self.matrix.data[:, None])]
        elif self.stored or _is_memory_mapped(self.matrix):
            blocks = [(range(_PEEKED_ROWS), self.matrix[:_PEEKED_ROWS, columns])]
        else:
            whole = len(columns) == self.width
            blocks = (
                (range(s.start, s.stop), self.matrix[s] if whole else self.matrix[s][:, columns])
                for s in _chunks(self.size, self.width)
            )
        for rows, block in blocks:
            finite = np.isfinite(block)
            if not finite.all():
                i, j = np.argwhere(~finite)[0]
                raise self._not_finite(name, int(rows[i]), columns[j])

    def _not_finite(self, name: str, row: int, column: int) -> DataError:
        if sparse.issparse(self.matrix):  # here, row is a position among the stored entries
            column = int(self.matrix.indices[row])
            row = int(np.searchsorted(self.matrix.indptr, row, side="right")) - 1
        label = column if self.labels is None else repr(self.labels[column])
        return DataError(
            f"{name}: data has NaN or infinity at row {row}, column {label} (masked and missing "
            "entries are NaN). Remove or impute such rows first."
        )

    def __deepcopy__(self, memo: Any) -> Table:
        return self

    def __reduce__(self) -> Any:
        return Table, (self.matrix, self.labels)


def table(name: str, data: Any, wanted: Sequence[Any] | None = None) -> Table:
    """A table from any accepted kind of data; of named columns, only the ``wanted`` ones.

    ``name`` opens the error messages.
    """
    given, data = data, opened(name, data)
    if isinstance(data, Stored):
        made = _of_file(data, name, wanted)
    elif sparse.issparse(data):
        made = Table(_rows_of(name, data))
    elif isinstance(data, Mapping) or hasattr(data, "columns"):
        made = _labelled(name, data, wanted)
    else:
        if _is_memory_mapped(data) and not isinstance(data, np.ma.MaskedArray):
            check_kind(name, data.dtype)
            matrix = data
        else:
            matrix = as_floats(name, data)
        if matrix.ndim == 1:
            matrix = matrix[:, None]
        _check_shape(name, matrix)
        reader = mapped_rows(matrix) if _is_memory_mapped(matrix) else None
        made = Table(matrix if reader is None else Stored(name, reader))
    if made.size == 0:
        raise DataError(f"{name}: data has no rows, so there is nothing to draw.")
    with suppress(TypeError):  # lists and dicts cannot be referred to weakly
        made.given = weakref.ref(given)
    return made


def same_data(a: Any, b: Any) -> bool:
    """Whether two tables were made from the same object or file."""
    if not (isinstance(a, Table) and isinstance(b, Table)):
        return False
    if a.path is not None and a.path == b.path:
        return True
    if a.given is None or b.given is None:
        return False
    return a.given() is not None and a.given() is b.given()


def column_labels(data: Any) -> list[Any] | None:
    """The column names of a mapping, DataFrame or file; None for data without names."""
    if isinstance(data, Stored):
        return data.labels
    if isinstance(data, Mapping):
        return list(data)
    return list(data.columns) if hasattr(data, "columns") else None


def positions(name: str, wanted: Sequence[Any], labels: Sequence[Any]) -> list[int]:
    """Where the wanted columns are among the labels."""
    place = {label: j for j, label in enumerate(labels)}
    missing = [w for w in wanted if w not in place]
    if missing:
        shown = ", ".join([*map(repr, labels[:8]), *(["..."] if len(labels) > 8 else [])])
        raise DataError(
            f"{name}: there is no numeric column {', '.join(repr(w) for w in missing[:5])} in the "
            f"data (it has {shown}). Rename the columns after the index, or say with columns= "
            "which column each member reads."
        )
    return [place[w] for w in wanted]


def _labelled(name: str, data: Any, wanted: Sequence[Any] | None) -> Table:
    """Columns of a DataFrame or mapping, side by side; those that are not numbers are left out."""
    given = column_labels(data) or []
    if wanted is not None:
        positions(name, wanted, given)
    columns: dict[Any, NDArray[np.float64]] = {}
    for label in given if wanted is None else wanted:
        try:
            columns[label] = as_floats(f"{name}, column {label!r}", data[label])
        except NotNumbers:
            if wanted is not None:
                raise
    lengths = {label: column.shape for label, column in columns.items()}
    if not columns or len(set(lengths.values())) > 1 or any(len(s) != 1 for s in lengths.values()):
        raise DataError(
            f"{name}: every column needs one number per scenario; the shapes are {lengths}."
        )
    return Table(np.column_stack(list(columns.values())), list(columns))


def _of_file(stored: Stored, name: str, wanted: Sequence[Any] | None) -> Table:
    """A file, or the wanted ones of its named columns; a small one is read at once."""
    labels = stored.labels
    if labels is not None and wanted is not None:
        stored = stored.only(positions(name, wanted, labels))
    small = stored.shape[0] * stored.shape[1] <= _SMALL_FILE and stored.stamps()
    made = Table(stored[:] if small else stored, stored.labels)
    made.path = stored.path
    return made


def _check_shape(name: str, matrix: Any) -> None:
    if matrix.ndim != 2:
        raise DataError(
            f"{name}: data has shape {matrix.shape}; give a matrix with one row per scenario and "
            "one column per random number."
        )


def _rows_of(name: str, matrix: Any) -> Any:
    """A sparse matrix of floats, compressed by rows, every entry stored once."""
    _check_shape(name, matrix)
    check_kind(name, matrix.dtype)
    rows = matrix.tocsr().astype(float, copy=False)
    if not rows.has_canonical_format:
        rows = rows.copy()  # the user's matrix is not ours to rearrange
        rows.sum_duplicates()
    return rows


def _is_memory_mapped(data: Any) -> bool:
    while isinstance(data, np.ndarray):
        if isinstance(data, np.memmap):
            return True
        data = data.base
    return False


def _chunks(size: int, width: int) -> Iterable[slice]:
    step = max(1, _CHUNK_NUMBERS // max(1, width))
    return (slice(start, min(start + step, size)) for start in range(0, size, step))
