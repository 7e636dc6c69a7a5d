r"""A table behind a row reader, with the face of a matrix.

Rows are real numbers when they leave: arrays of floats, of the right shape. Random rows of a reader
that has no ``take`` are picked from blocks, each of which is read once and in order.

Files may change while a run goes on (a job that still writes, a disk that is full). Whoever reads
in mid-run remembers their :meth:`Stored.stamps` and compares them.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....errors import DataError
from ....given import asked
from ...user_numbers import as_floats
from .protocol import RowReader

#: rows that are read at once where single ones are wanted; numbers read at once of a whole column
BLOCK = 1 << 16
CHUNK_NUMBERS = 1 << 20

Floats = NDArray[np.float64]


class Stamp(NamedTuple):
    """The state of a file."""

    path: str
    size: int
    changed: int

    @classmethod
    def of(cls, path: str) -> Stamp:
        try:
            found = os.stat(path)
        except OSError as error:
            raise DataError(
                f"'{path}' cannot be read any more ({error.strerror}). Put the file back, and "
                "solve again."
            ) from None
        return cls(path, found.st_size, found.st_mtime_ns)

    def check(self) -> None:
        """Raise if the file is another one now."""
        now = Stamp.of(self.path)
        if now != self:
            what = f"it has {now.size} bytes, and had {self.size}" if now.size != self.size else ""
            raise DataError(
                f"'{self.path}' was changed while it was used ({what or 'its time is another'}). "
                "Wait until it is complete, or work on a copy, and solve again."
            )


class Stored:
    """``name`` opens the error messages. ``taken``: which of the reader's columns these are."""

    ndim = 2
    dtype = np.dtype(float)

    def __init__(self, name: str, reader: RowReader, taken: Sequence[int] | None = None):
        self.name = name
        self.reader = reader
        self._taken = None if taken is None else list(taken)
        width = reader.shape[1] if taken is None else len(taken)
        self.shape = (int(reader.shape[0]), int(width))
        self._parts: dict[tuple[int, ...], Stored] = {}
        #: one thread reads at a time; parts of a table have one reader
        self.lock = threading.RLock()
        #: the path that was given
        self.path: str | None = None

    @property
    def labels(self) -> list[Any] | None:
        """Names of the columns."""
        names = getattr(self.reader, "columns", None)
        if names is None:
            return None
        return list(names) if self._taken is None else [names[j] for j in self._taken]

    @property
    def scans(self) -> bool:
        """Few random rows cost about as much as many."""
        return bool(getattr(self.reader, "scans", not hasattr(self.reader, "take")))

    def stamps(self) -> list[Stamp]:
        """The present state of the files behind it."""
        return [Stamp.of(os.fspath(path)) for path in getattr(self.reader, "files", ())]

    def only(self, columns: Sequence[int]) -> Stored:
        """Some columns; the same object whenever they are asked for."""
        key = tuple(columns)
        if key == tuple(range(self.shape[1])):
            return self
        if key not in self._parts:
            if self._taken is None and hasattr(self.reader, "only"):
                part = Stored(self.name, self.reader.only(list(key)))
            else:
                places = range(self.shape[1]) if self._taken is None else self._taken
                part = Stored(self.name, self.reader, [places[j] for j in key])
                part.lock = self.lock
            part.path = self.path
            self._parts[key] = part
        return self._parts[key]

    def rows(self, numbers: slice | NDArray[np.intp]) -> Floats:
        """Consecutive rows, or those with these numbers, in any order."""
        with self.lock:
            if isinstance(numbers, slice):
                start, stop, step = numbers.indices(self.shape[0])
                assert step == 1
                return self._read(start, max(start, stop))
            numbers = np.asarray(numbers, dtype=np.intp)
            if numbers.size == 0:
                return np.empty((0, self.shape[1]))
            if numbers.size == 1 or (np.diff(numbers) > 0).all():
                return self._take(numbers)
            rows, place = np.unique(numbers, return_inverse=True)
            return self._take(rows)[place]

    def __getitem__(self, key: Any) -> Floats:
        """Rows, some columns of rows, or the column of that name."""
        if isinstance(key, str):
            labels = self.labels or []
            return self[:, [labels.index(key)]].ravel()
        rows, columns = key if isinstance(key, tuple) else (key, None)
        table = self if columns is None else self.only(np.arange(self.shape[1])[columns].tolist())
        if isinstance(rows, slice):
            start, stop, _ = rows.indices(self.shape[0])
            return table._whole(start, max(start, stop))
        return table.rows(np.atleast_1d(rows))

    def __reduce__(self) -> Any:
        return Stored, (self.name, self.reader, self._taken)

    def __deepcopy__(self, memo: Any) -> Stored:
        return self

    def _whole(self, start: int, stop: int) -> Floats:
        out = np.empty((stop - start, self.shape[1]))
        step = max(1, CHUNK_NUMBERS // max(1, self.reader.shape[1]))
        for first in range(start, stop, step):
            last = min(first + step, stop)
            out[first - start : last - start] = self.rows(slice(first, last))
        return out

    def _read(self, start: int, stop: int) -> Floats:
        if start == stop:
            return np.empty((0, self.shape[1]))
        found = asked(f"{self.name}: reading rows", self.reader.read, start, stop)
        return self._numbers(found, stop - start)

    def _take(self, rows: NDArray[np.intp]) -> Floats:
        if hasattr(self.reader, "take"):
            found = asked(f"{self.name}: reading rows", self.reader.take, rows)
            return self._numbers(found, rows.size)
        out = np.empty((rows.size, self.shape[1]))
        first = 0
        while first < rows.size:
            start = int(rows[first])
            last = int(np.searchsorted(rows, start + BLOCK))
            stop = int(rows[last - 1]) + 1
            out[first:last] = self._read(start, stop)[rows[first:last] - start]
            first = last
        return out

    def _numbers(self, found: Any, count: int) -> Floats:
        numbers = as_floats(self.name, found)
        expected = (count, self.reader.shape[1])
        if numbers.shape != expected:
            raise DataError(
                f"{self.name}: the row reader returned an array of shape {numbers.shape} for "
                f"{count} rows; return {expected}, one row per scenario."
            )
        return numbers if self._taken is None else numbers[:, self._taken]
