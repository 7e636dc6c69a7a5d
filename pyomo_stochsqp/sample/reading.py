r"""Scenarios whose numbers are in files: read when they are evaluated, ahead of that if possible.

Row numbers are drawn as for tables in memory; here they become rows. What fits is read once and
held. Of what does not fit, a thread reads the next piece while the last one is evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..deadline import check_time
from ..declare.program import Batch, Part, Source
from ..declare.randomness.readers.placed import address_space
from ..declare.randomness.tables import Table
from ..errors import DataError
from .rows import Piece, Rows, part_of

#: numbers of files that a sample keeps in memory (256 MB), and the share of a limit set by ulimit
KEPT_NUMBERS, SHARE_OF_LIMIT = 1 << 25, 1 / 8
#: scenarios that are read between two looks at the clock
PORTION = 1 << 18

Fields = tuple[NDArray[np.float64], ...]


class Reading:
    """Reads the scenarios of one source; the files may not change meanwhile."""

    def __init__(self, source: Source):
        self._parts = source.parts
        stored = [f for p in source.parts if p.stored for f in p.fields if f.taken is not None]
        #: numbers of a scenario
        self.width = sum(f.width for p in source.parts if p.stored for f in p.fields)
        #: single rows cost as much as passes
        self.scans = any(f.matrix.scans for f in stored)
        self._stamps = {stamp.path: stamp for f in stored for stamp in f.matrix.stamps()}
        self._thread: ThreadPoolExecutor | None = None

    def holds(self, scenarios: int) -> bool:
        """Whether there is room for so many."""
        return scenarios * self.width <= _room()

    def read(self, batch: Batch) -> Batch:
        """The scenarios behind row numbers."""
        parts = tuple(
            self.fields(part, rows) if part.stored else rows
            for part, rows in zip(self._parts, batch.parts, strict=True)
        )
        return Batch(batch.size, parts, batch.weights, batch.numbers)

    def fields(self, part: Part, rows: Any) -> Fields:
        """Rows of a part, whose numbers are given."""
        self.check_files()
        found = []
        for field in part.fields:
            numbers = Table(field.matrix).rows(rows)
            if not np.isfinite(numbers.sum()):  # the sum of large numbers may overflow
                _check_finite(part, field.matrix, numbers, rows)
            found.append(numbers)
        return tuple(found)

    def check_files(self) -> None:
        """Raise if one of them has changed since the solve began."""
        for stamp in self._stamps.values():
            stamp.check()

    def ahead(self, read: Callable[[Any], Any], rows: Any) -> Future[Any] | None:
        """What a function returns that reads, by a thread; None where there is no room for one."""
        if address_space() < inf:
            return None
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1)
        return self._thread.submit(read, rows)


class ReadRows:
    """Rows of tables that are given by their numbers."""

    def __init__(self, numbers: Rows, reading: Reading):
        self._numbers = numbers
        self._reading = reading
        self.count, self.each = numbers.count, numbers.each
        #: scenarios first, ..., first + held.size - 1
        self._first = 0
        self._held: Batch | None = None
        #: the pass that is under way ends here; its next piece
        self._until = 0
        self._next: tuple[int, int, Future[Batch]] | None = None
        self._one: Batch | None = None

    @property
    def kept(self) -> bool:
        return self._reading.holds(self.count)

    def share(self, start: int, stop: int) -> float:
        return self._numbers.share(start, stop)

    def batch(self, start: int, stop: int) -> Piece:
        share, numbers = self._numbers.batch(start, stop)
        held = self._held
        if held is not None and self._first <= start and stop <= self._first + held.size:
            rows = part_of(held, start - self._first, stop - start)
            return share, Batch(numbers.size, rows.parts, numbers.weights, numbers.numbers)
        if (start, stop) == (0, 1):  # stands in for sources that are already through
            self._one = self._one or self._reading.read(numbers)
            return share, self._one
        batch = self._from_thread(start, stop) or self._reading.read(numbers)
        after = min(2 * stop - start, self._until)
        if stop < after:
            following = self._numbers.batch(stop, after)[1]
            future = self._reading.ahead(self._reading.read, following)
            self._next = None if future is None else (stop, after, future)
        return share, batch

    def hold(self, start: int, stop: int) -> None:
        """Scenarios that a pass goes through."""
        self._until = stop
        if self._held is not None:
            last = self._first + self._held.size
            if self._first <= start and stop <= last:
                return
            start, stop = min(start, self._first), max(stop, last)
        if not self._reading.holds(stop - start):
            return
        found = None
        for first in range(start, stop, PORTION):
            check_time()
            last = min(first + PORTION, stop)
            batch = self._known(first, last) or self._reading.read(
                self._numbers.batch(first, last)[1]
            )
            if batch.size == stop - start:
                found = batch
                break
            found = found or Batch(
                stop - start, tuple(_room_for(p, stop - start) for p in batch.parts)
            )
            _put(batch, found, first - start)
        self._first, self._held = start, found

    def _known(self, start: int, stop: int) -> Batch | None:
        held = self._held
        if held is None or not self._first <= start <= stop <= self._first + held.size:
            return None
        return part_of(held, start - self._first, stop - start)

    def _from_thread(self, start: int, stop: int) -> Batch | None:
        following, self._next = self._next, None
        if following is None or following[:2] != (start, stop):
            return None
        return following[2].result()


def _room_for(part: Any, size: int) -> Any:
    if isinstance(part, tuple):
        return tuple(np.empty((size, field.shape[1])) for field in part)
    return part if isinstance(part, slice) else np.empty(size, dtype=part.dtype)


def _put(batch: Batch, into: Batch, at: int) -> None:
    rows = slice(at, at + batch.size)
    for room, part in zip(into.parts, batch.parts, strict=True):
        if isinstance(part, tuple):
            for field, numbers in zip(room, part, strict=True):
                field[rows] = numbers
        elif not isinstance(part, slice):
            room[rows] = part


def _room() -> int:
    """Numbers that may be kept in memory."""
    return int(min(KEPT_NUMBERS, SHARE_OF_LIMIT * address_space() / 8))


def _check_finite(part: Part, matrix: Any, numbers: NDArray[np.float64], rows: Any) -> None:
    bad = np.argwhere(~np.isfinite(numbers))
    if len(bad) == 0:
        return
    i, j = bad[0].tolist()
    row = rows.start + i if isinstance(rows, slice) else int(rows[i])
    labels: Sequence[Any] | None = getattr(matrix, "labels", None)
    raise DataError(
        f"Source '{part.name}': data has NaN or infinity at row {row}, column "
        f"{j if labels is None else repr(labels[j])} (missing entries are NaN). Remove or impute "
        "such rows first."
    )
