r"""The scenarios of one source in a sample: drawn where and when they are asked for.

Scenarios are numbered 0, ..., count - 1, replicate after replicate of ``each``. They are evaluated
in pieces, cut so that a piece holds whole replicates or lies in a single one: then the same pieces
come out whether a sample is in memory or drawn again, and the mean over a piece is the same bits
whoever computes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..declare.program import Batch, Part, Source
from .draws import Name, SourceDraws
from .order import RandomOrder

#: combinations of independent parts that are enumerated rather than sampled
LARGEST_PRODUCT = 1 << 20
#: numbers of a source's scenarios that are kept in memory (1 GB)
KEPT_NUMBERS = 1 << 27
#: rows of a block, where tables are sampled by blocks
BLOCK = 1 << 13

#: (probability, scenarios); the weights of a batch sum to one
Piece = tuple[float, Batch]


class Cut(NamedTuple):
    """``total`` scenarios in pieces of at most ``limit``, which is at least one."""

    total: int
    each: int
    limit: int

    def __len__(self) -> int:
        if self.each > self.limit:
            return (self.total // self.each) * self._in_one
        return -(-self.total // self._together)

    def piece(self, i: int) -> tuple[int, int]:
        """(start, stop) of a piece."""
        if self.each <= self.limit:
            start = i * self._together
            return start, min(start + self._together, self.total)
        replicate, j = divmod(i, self._in_one)
        start = replicate * self.each + j * self.limit
        return start, min(start + self.limit, (replicate + 1) * self.each)

    @property
    def _in_one(self) -> int:
        """Pieces of a replicate."""
        return -(-self.each // self.limit)

    @property
    def _together(self) -> int:
        """Scenarios of as many replicates as fit a piece."""
        return self.limit // self.each * self.each


class Rows(Protocol):
    """What a sample is made of, source by source."""

    #: scenarios in all, and in one replicate
    count: int
    each: int

    @property
    def kept(self) -> bool:
        """All of them can be held, by one process or by several."""

    def share(self, start: int, stop: int) -> float:
        """The probability of scenarios start, ..., stop - 1."""

    def batch(self, start: int, stop: int) -> Piece:
        """These scenarios with their share of the probability of all."""

    def hold(self, start: int, stop: int) -> None:
        """These will be asked for again and again."""


class GivenRows:
    """Scenarios that are known: rows of tables, or a batch that was drawn."""

    kept = True

    def __init__(self, batch: Batch):
        self.count = self.each = batch.size
        self._all = batch

    def share(self, start: int, stop: int) -> float:
        weights = self._all.weights
        return (stop - start) / self.count if weights is None else float(weights[start:stop].sum())

    def batch(self, start: int, stop: int) -> Piece:
        return piece_of(self._all, start, stop - start)

    def hold(self, start: int, stop: int) -> None:
        pass


class BlocksOfRows:
    """Rows of a table in random blocks: a part of one that is too large to be held.

    Reading it costs its share of a pass, while single rows may cost as much as all of them.
    """

    kept = True

    def __init__(self, rng: np.random.Generator, part: Part, size: int):
        assert part.size is not None
        self.count = self.each = size
        self._weights = part.weights
        blocks = RandomOrder(rng, part.size // BLOCK).rows(0, -(-size // BLOCK))
        self._blocks = np.sort(blocks)
        self._all = 1.0 if part.weights is None else self._probability(0, size)

    def share(self, start: int, stop: int) -> float:
        if self._weights is None:
            return (stop - start) / self.count
        return self._probability(start, stop) / self._all

    def batch(self, start: int, stop: int) -> Piece:
        share, rows, weights = self.share(start, stop), self._rows(start, stop), None
        if self._weights is not None:
            weights = self._weights[rows] / (share * self._all or 1.0)
        return share, Batch(stop - start, (rows,), weights)

    def hold(self, start: int, stop: int) -> None:
        pass

    def _rows(self, start: int, stop: int) -> Any:
        """Numbers of rows that follow each other in their blocks."""
        first, offset = divmod(start, BLOCK)
        if first == (stop - 1) // BLOCK:
            begin = int(self._blocks[first]) * BLOCK + offset
            return slice(begin, begin + stop - start)
        places = np.arange(start, stop)
        return self._blocks[places // BLOCK] * BLOCK + places % BLOCK

    def _probability(self, start: int, stop: int) -> float:
        assert self._weights is not None
        total = 0.0
        for first in range(start, stop, BLOCK):
            total += float(self._weights[self._rows(first, min(first + BLOCK, stop))].sum())
        return total


class DrawnRows:
    """Replicates of equal size, drawn in chunks.

    What is held is drawn once; everything else is drawn again whenever it is asked for.
    """

    def __init__(self, draws: SourceDraws, names: Sequence[Name]):
        self._draws = draws
        self._names = names
        self.each = names[0].size
        self.count = len(names) * self.each
        #: scenarios first, ..., first + held.size - 1
        self._first = 0
        self._held: Batch | None = None
        #: the chunks drawn last, with the number of their first scenario
        self._recent: tuple[int, Batch] | None = None

    @property
    def kept(self) -> bool:
        return self._memory(self.count) <= KEPT_NUMBERS

    def share(self, start: int, stop: int) -> float:
        return (stop - start) / self.count

    def batch(self, start: int, stop: int) -> Piece:
        share = self.share(start, stop)
        if self._holds(start, stop):
            assert self._held is not None
            return share, part_of(self._held, start - self._first, stop - start)
        recent = self._recent
        if recent is None or not recent[0] <= start <= stop <= recent[0] + recent[1].size:
            recent = self._recent = self._drawn(start, stop)
        first, drawn = recent
        return share, part_of(drawn, start - first, stop - start)

    def hold(self, start: int, stop: int) -> None:
        if self._holds(start, stop):
            return
        if self._held is not None:
            start = min(start, self._first)
            stop = max(stop, self._first + self._held.size)
        if self._memory(stop - start) > KEPT_NUMBERS:
            return
        if self._held is None:
            self._first, self._held = self._drawn(start, stop)
            return
        first, last = self._first, self._first + self._held.size
        parts = [(first, self._held)]
        if start < first:
            parts.insert(0, self._drawn(start, first))
        if stop > last:
            parts.append(self._drawn(last, stop))
        batches = [batch for _, batch in parts]
        self._first = parts[0][0]
        self._held = joined(batches, sum(batch.size for batch in batches))

    def _memory(self, scenarios: int) -> int:
        return scenarios * self._draws.numbers_per_scenario

    def _holds(self, start: int, stop: int) -> bool:
        held = self._held
        return held is not None and self._first <= start and stop <= self._first + held.size

    def _drawn(self, start: int, stop: int) -> tuple[int, Batch]:
        """(the first of them, scenarios): all chunks that these have a share in."""
        chunks = []
        for r in range(start // self.each, -(-stop // self.each)):
            low, high = max(start - r * self.each, 0), min(stop - r * self.each, self.each)
            chunks += self._draws.chunks(self._names[r], low, high)
        first = start - start % self.each + chunks[0].start
        size = sum(chunk.size for chunk in chunks)
        return first, joined(self._draws.drawn(chunks), size)


class Section:
    """Some consecutive scenarios of others."""

    def __init__(self, rows: Rows, start: int, stop: int):
        self._rows = rows
        self._start = start
        self.count = self.each = stop - start
        self._all = rows.share(start, stop)

    @property
    def kept(self) -> bool:
        return self._rows.kept

    def share(self, start: int, stop: int) -> float:
        return self._rows.share(self._start + start, self._start + stop) / self._all

    def batch(self, start: int, stop: int) -> Piece:
        share, batch = self._rows.batch(self._start + start, self._start + stop)
        if batch.weights is None:
            return batch.size / self.count, batch
        return share / self._all, batch

    def hold(self, start: int, stop: int) -> None:
        self._rows.hold(self._start + start, self._start + stop)


def joined(batches: Any, size: int) -> Batch:
    """Batches of one source with ``size`` scenarios in all, one after the other in one array."""
    whole: list[Any] = []
    start = 0
    for batch in batches:
        if batch.size == size:
            return batch
        if not whole:
            whole = [_room(part, size) for part in batch.parts]
        rows = slice(start, start + batch.size)
        for room, part in zip(whole, batch.parts, strict=True):
            if isinstance(part, tuple):
                for field, values in zip(room, part, strict=True):
                    field[rows] = values
            else:
                room[rows] = part
        start += batch.size
    return Batch(size, tuple(whole))


def _room(part: Any, size: int) -> Any:
    if isinstance(part, tuple):
        return tuple(np.empty((size, *field.shape[1:])) for field in part)
    return np.empty(size, dtype=part.dtype)


def part_of(batch: Batch, start: int, size: int) -> Batch:
    """Some consecutive scenarios of a batch with equal weights; nothing is copied."""
    if size == batch.size:
        return batch
    rows = slice(start, start + size)
    parts = tuple(
        tuple(field[rows] for field in part) if isinstance(part, tuple) else _rows(part, rows)
        for part in batch.parts
    )
    if batch.numbers is batch.parts:
        return Batch(size, parts)
    numbers = [n if isinstance(n, tuple) else _rows(n, rows) for n in batch.numbers]
    return Batch(size, parts, None, tuple(numbers))


def piece_of(batch: Batch, start: int, size: int) -> Piece:
    """The same of a batch that may have weights."""
    part = part_of(batch, start, size)
    if batch.weights is None or part is batch:
        return size / batch.size, part
    weights = batch.weights[start : start + size]
    share = float(weights.sum())
    return share, Batch(size, part.parts, weights / share if share > 0.0 else weights, part.numbers)


def _rows(part: Any, rows: slice) -> Any:
    """Row numbers of a piece; a slice of the table stays one."""
    if isinstance(part, slice):
        return slice(part.start + rows.start, part.start + rows.stop)
    return part[rows]


def whole_batch(source: Source) -> Batch:
    """All scenarios of a finite source: all rows of its part, or all combinations of its parts."""
    size = source.size
    assert size is not None
    if len(source.parts) == 1:
        return Batch(size, (slice(0, size),), source.parts[0].weights)
    rows = np.unravel_index(np.arange(size), [p.size or 1 for p in source.parts])
    weights = np.full(size, 1.0)
    for part, r in zip(source.parts, rows, strict=True):
        weights *= 1.0 / (part.size or 1) if part.weights is None else part.weights[r]
    return Batch(size, tuple(rows), weights)


def whole_size(source: Source) -> int | None:
    """The scenarios of a source that can be drawn all at once; None if there are too many."""
    size = source.size
    if size is None or (len(source.parts) > 1 and size > LARGEST_PRODUCT):
        return None
    return size
