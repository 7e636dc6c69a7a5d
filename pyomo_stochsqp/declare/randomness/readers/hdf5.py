r"""Datasets of HDF5: a matrix, columns that stand side by side in a group, a table of records.

Chunks of a dataset are compressed whole, so random rows are picked from blocks. A contiguous one is
nothing but numbers in a file, whose places are known (placed.py).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....errors import DataError, MissingLibraryError
from .placed import PlacedRows
from .protocol import RowReader

#: numbers that are read at once
BLOCK = 1 << 19


def hdf5(name: str) -> Any:
    """The library."""
    try:
        import h5py
    except ImportError as error:
        raise MissingLibraryError(
            f'{name}: HDF5 files need h5py. Install it with: pip install "pyomo_stochsqp[tables]"'
        ) from error
    return h5py


class MatrixRows:
    """A dataset with one column of numbers for each random one."""

    scans = True

    def __init__(self, path: str, inside: str, places: Sequence[int] | None = None):
        self.path, self.inside = os.path.abspath(path), inside
        self.files = [self.path]
        self._dataset = _opened(path)[inside]
        rows, width = (*self._dataset.shape, 1)[:2]
        self._places = list(range(width)) if places is None else list(places)
        self.shape = (int(rows), len(self._places))

    def __reduce__(self) -> Any:
        return MatrixRows, (self.path, self.inside, self._places)

    def only(self, columns: Sequence[int]) -> MatrixRows:
        """Some columns of it."""
        return MatrixRows(self.path, self.inside, [self._places[j] for j in columns])

    def read(self, start: int, stop: int) -> NDArray[Any]:
        """Consecutive rows."""
        if self._dataset.ndim == 1:
            return np.asarray(self._dataset[start:stop])[:, None][:, self._places]
        if not self._places:
            return np.empty((stop - start, 0))
        low, high = min(self._places), max(self._places)
        places = np.array(self._places) - low
        out = np.empty((stop - start, places.size), self._dataset.dtype)
        step = max(1, BLOCK // (high + 1 - low))
        for first in range(start, stop, step):
            block = np.asarray(self._dataset[first : min(first + step, stop), low : high + 1])
            out[first - start : first - start + len(block)] = block[:, places]
        return out


class ColumnRows:
    """Datasets of a group, or fields of one dataset of records, as named columns."""

    scans = True

    def __init__(self, path: str, inside: str, columns: Sequence[str]):
        self.path, self.inside = os.path.abspath(path), inside
        self.files = [self.path]
        self.columns = list(columns)
        self._given = _opened(path)[inside]
        self._records = hasattr(self._given, "dtype")
        first = self._given if self._records else self._given[self.columns[0]]
        self.shape = (int(first.shape[0]), len(self.columns))

    def __reduce__(self) -> Any:
        return ColumnRows, (self.path, self.inside, self.columns)

    def only(self, columns: Sequence[int]) -> ColumnRows:
        """Some columns of it."""
        return ColumnRows(self.path, self.inside, [self.columns[j] for j in columns])

    def read(self, start: int, stop: int) -> NDArray[Any]:
        """Consecutive rows."""
        given = self._given[start:stop] if self._records else self._given
        rows = slice(None) if self._records else slice(start, stop)
        return np.column_stack(
            [np.asarray(given[label][rows], dtype=float) for label in self.columns]
        )


def hdf5_rows(name: str, given: Any) -> RowReader:
    """A file, a group or a dataset."""
    h5py = hdf5(name)
    if isinstance(given, str):
        return _file_rows(name, given)
    path, inside = given.file.filename, given.name
    if given.file.mode != "r":
        given.file.flush()
    if isinstance(given, h5py.Dataset):
        return _dataset_rows(name, path, inside, given)
    columns = [
        label
        for label, item in given.items()
        if isinstance(item, h5py.Dataset) and item.ndim == 1 and item.dtype.kind in "biuf"
    ]
    if not columns or len({given[label].shape for label in columns}) > 1:
        raise DataError(
            f"{name}: '{inside}' of '{path}' holds no columns of equal length. Give one of its "
            f"datasets ({', '.join(given) or 'it has none'}): data=h5py.File(path)['name']."
        )
    return ColumnRows(path, inside, columns)


def _file_rows(name: str, path: str) -> RowReader:
    """The only dataset of a file, or its columns."""
    file = _opened(path)
    if len(file) == 1:
        return hdf5_rows(name, next(iter(file.values())))
    return hdf5_rows(name, file)


def _dataset_rows(name: str, path: str, inside: str, dataset: Any) -> RowReader:
    names = dataset.dtype.names
    if names is not None and dataset.ndim == 1:
        columns = [label for label in names if dataset.dtype[label].kind in "biuf"]
        return ColumnRows(path, inside, columns)
    if dataset.ndim not in (1, 2) or dataset.dtype.kind not in "biuf":
        raise DataError(
            f"{name}: dataset '{inside}' of '{path}' has shape {dataset.shape} and type "
            f"{dataset.dtype}; give a matrix of numbers with one row per scenario."
        )
    rows, width = (*dataset.shape, 1)[:2]
    offset = dataset.id.get_offset()
    if dataset.chunks is None and offset is not None and dataset.external is None:
        size = dataset.dtype.itemsize
        return PlacedRows(path, dataset.dtype, offset, (rows, width), (width * size, size))
    return MatrixRows(path, inside)


def _opened(path: str) -> Any:
    import h5py

    return h5py.File(path, "r")
