r"""Numbers at regular places of a file: number j of row i stands at  offset + i s + j t.

So do those of .npy files, of memory maps and their views, of contiguous HDF5 datasets. Consecutive
rows are read by one call. That needs no address space, and where a file ends too early it says so;
touching a page of a memory map that is no longer there kills the process.

A few rows out of many are taken from a memory map without readahead (MADV_RANDOM), sorted, after
the kernel was told which pages will be needed (so that a disk has many requests at once); if there
is no room for a map, they are read one by one. Many rows, which stand on nearly all pages, are
picked from blocks.
"""

from __future__ import annotations

import mmap
import os
import time
from collections.abc import Sequence
from contextlib import suppress
from io import FileIO
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....errors import DataError
from ...user_numbers import check_kind

try:
    import resource
except ImportError:  # where there are no such limits
    resource = None  # type: ignore[assignment]

#: bytes that are read at once; rows that are picked from blocks: so many, nearer than so many bytes
BLOCK, MANY, NEAR = 1 << 22, 1 << 16, 1 << 14
#: part of the address space, where it has a limit, that a memory map may take
SHARE = 0.25
#: seconds per row above which a file is taken to be on disk rather than in memory
SLOW = 5e-6


class PlacedRows:
    """A table in a file; ``strides`` are (s, t) in bytes."""

    scans = False

    def __init__(
        self,
        path: str,
        dtype: Any,
        offset: int,
        shape: tuple[int, int],
        strides: tuple[int, int],
        places: Sequence[int] | None = None,
    ):
        self.path, self.offset, self.strides = os.path.abspath(path), offset, strides
        self.dtype = np.dtype(dtype)
        self.files = [self.path]
        self._given = shape
        self._places = np.arange(shape[1]) if places is None else np.asarray(places)
        self.shape = (shape[0], self._places.size)
        self._file: Any = None
        self._map: Any = None
        self._slow = True

    def __reduce__(self) -> Any:
        places = self._places.tolist()
        return PlacedRows, (
            self.path, self.dtype, self.offset, self._given, self.strides, places,
        )  # fmt: skip

    def only(self, columns: Sequence[int]) -> PlacedRows:
        """Some columns of it."""
        places = [int(self._places[j]) for j in columns]
        return PlacedRows(self.path, self.dtype, self.offset, self._given, self.strides, places)

    def read(self, start: int, stop: int) -> NDArray[Any]:
        """Consecutive rows."""
        if self._by_columns:
            runs = [self._run(start, stop, j)[:, 0] for j in self._places.tolist()]
            return np.column_stack(runs) if runs else np.empty((stop - start, 0))
        if self._all or (stop - start) * self.strides[0] <= BLOCK:
            return self._run(start, stop, None)
        out = np.empty((stop - start, self.shape[1]), self.dtype)
        for first in range(start, stop, self._step):
            last = min(first + self._step, stop)
            out[first - start : last - start] = self._run(first, last, None)
        return out

    def take(self, rows: NDArray[np.intp]) -> NDArray[Any]:
        """Single rows, whose numbers increase."""
        near = int(rows[-1] - rows[0] + 1) * self.strides[0] <= NEAR * rows.size
        matrix = None if near and rows.size >= MANY else self._mapped()
        if matrix is None and near:
            return self._picked(rows)
        if matrix is None:
            parts = [self._run(row, row + 1, None) for row in rows.tolist()]
            return np.concatenate(parts) if not self._by_columns else self._picked(rows)
        self._check_size()
        began = time.perf_counter()
        if self._slow:
            self._announce(rows)
        out = matrix.take(rows, 0) if self._all else matrix[rows[:, None], self._places]
        self._slow = time.perf_counter() - began > SLOW * rows.size
        return out

    # -- inside -----------------------------------------------------------------------------------

    @property
    def _by_columns(self) -> bool:
        """Whether a column's numbers stand nearer to each other than a row's."""
        return self._given[1] > 1 and self.strides[1] > self.strides[0]

    @property
    def _step(self) -> int:
        """Rows that are read at once."""
        return max(1, BLOCK // max(self.strides))

    @property
    def _all(self) -> bool:
        return self._places.size == self._given[1]

    def _run(self, start: int, stop: int, column: int | None) -> NDArray[Any]:
        """Consecutive rows, or one column of them."""
        s, t = self.strides
        places = self._places if column is None else np.array([column])
        low, high = (int(places.min()), int(places.max())) if places.size else (0, 0)
        length = (stop - start - 1) * s + (high - low) * t + self.dtype.itemsize
        content = self._bytes(self.offset + start * s + low * t, length)
        count = high - low + 1
        whole: NDArray[Any] = np.ndarray((stop - start, count), self.dtype, content, 0, (s, t))
        return whole if places.size == count else whole[:, places - low]

    def _bytes(self, first: int, length: int) -> bytearray:
        content = bytearray(length)
        view, done = memoryview(content), 0
        file = self._opened()
        file.seek(first)
        while done < length:
            count = file.readinto(view[done:])
            if not count:
                raise self._too_short()
            done += count
        return content

    def _picked(self, rows: NDArray[np.intp]) -> NDArray[Any]:
        """Rows that are near to each other, from blocks."""
        out = np.empty((rows.size, self.shape[1]), self.dtype)
        first = 0
        while first < rows.size:
            start = int(rows[first])
            last = int(np.searchsorted(rows, start + self._step))
            block = self.read(start, int(rows[last - 1]) + 1)
            out[first:last] = block[rows[first:last] - start]
            first = last
        return out

    def _announce(self, rows: NDArray[np.intp]) -> None:
        """Tell the kernel which places will be read."""
        if not hasattr(os, "posix_fadvise") or self._by_columns:
            return
        file, length = self._opened().fileno(), self._given[1] * self.strides[1]
        for place in (self.offset + rows * self.strides[0]).tolist():
            os.posix_fadvise(file, place, length, os.POSIX_FADV_WILLNEED)

    def _opened(self) -> Any:
        if self._file is None:
            self._file = FileIO(self.path)  # closed with this object
        return self._file

    def _mapped(self) -> Any:
        """The file as an array; None if there is no room for it."""
        if self._map is None:
            self._check_size()
            self._map = False
            with suppress(OSError, ValueError):
                if os.stat(self.path).st_size > SHARE * address_space():
                    return None
                content = mmap.mmap(self._opened().fileno(), 0, access=mmap.ACCESS_READ)
                if hasattr(content, "madvise") and hasattr(mmap, "MADV_RANDOM"):
                    content.madvise(mmap.MADV_RANDOM)
                self._map = np.ndarray(self._given, self.dtype, content, self.offset, self.strides)
        return None if self._map is False else self._map

    def _check_size(self) -> None:
        rows, columns = self._given
        end = self.offset + (rows - 1) * self.strides[0] + (columns - 1) * self.strides[1]
        if os.fstat(self._opened().fileno()).st_size < end + self.dtype.itemsize:
            raise self._too_short()

    def _too_short(self) -> DataError:
        size = os.fstat(self._opened().fileno()).st_size
        return DataError(
            f"'{self.path}' has {size} bytes, too few for {self._given[0]} rows: it was cut off. "
            "Copy or write it again, and solve again."
        )


def address_space() -> float:
    """Bytes that this process may use (ulimit -v)."""
    if resource is None:
        return inf
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return inf if limit == resource.RLIM_INFINITY else float(limit)


def npy_rows(name: str, path: str) -> PlacedRows:
    """A .npy file."""
    with open(path, "rb") as file:
        try:
            version = np.lib.format.read_magic(file)
            read = np.lib.format.read_array_header_1_0
            if version != (1, 0):
                read = np.lib.format.read_array_header_2_0
            shape, by_columns, dtype = read(file)
        except ValueError as error:
            raise DataError(f"{name}: '{path}' is no .npy file ({error}). Save it again.") from None
        offset = file.tell()
    check_kind(name, dtype)
    if dtype.hasobject or len(shape) not in (1, 2):
        raise DataError(
            f"{name}: '{path}' holds an array of shape {shape} and type {dtype}; save a matrix of "
            "numbers with one row per scenario."
        )
    rows, columns = shape if len(shape) == 2 else (shape[0], 1)
    size = dtype.itemsize
    strides = (size, rows * size) if by_columns else (columns * size, size)
    reader = PlacedRows(path, dtype, offset, (rows, columns), strides)
    if rows:
        reader._check_size()
    return reader


def mapped_rows(array: Any) -> PlacedRows | None:
    """The file behind a memory map or a view of one; None where its numbers are only in memory."""
    root = array
    while isinstance(root.base, np.ndarray):
        root = root.base
    path = getattr(root, "filename", None)
    if path is None or getattr(root, "mode", "c") == "c" or array.size == 0:
        return None
    rows, columns = array.strides
    if array.shape[1] == 1:
        columns = array.dtype.itemsize
    if min(rows, columns) <= 0:
        return None
    start = array.__array_interface__["data"][0] - root.__array_interface__["data"][0]
    offset = int(root.offset) + start
    return PlacedRows(os.fspath(path), array.dtype, offset, array.shape, (rows, columns))
