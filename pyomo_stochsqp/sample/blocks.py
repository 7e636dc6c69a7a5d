r"""Small batches, iteration by iteration, drawn many at a time.

Iterations k, k + 1, ... of one stream and one batch size are drawn together, because a call of a
distribution costs as much as thousands of its numbers (streams.py says how many). A run asks for a
few kinds of batches in turn, whole ones, half ones, probes; the last block of each is kept.
"""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..declare.program import Batch, Part, Source
from ..errors import OptionError
from .points import POINT_SETS
from .reading import Fields, Reading
from .row_numbers import rows_at, uniform_rows
from .streams import block_length, generator

#: kinds of batches whose last block is kept
KINDS = 4
EDGE = 2.0**-53
#: rows that are read together where single ones cost as much as a pass
SCANNED = 1 << 16


class SourceBlocks:
    """Batches of one source."""

    def __init__(
        self,
        seed: int,
        number: int,
        source: Source,
        method: str,
        replace: bool,
        whole: Batch | None,
        reading: Reading | None,
    ):
        self._whole = whole
        self._reading = reading
        self._read_whole: Batch | None = None
        # Parts that meet in an integrand have coordinates of their own in the unit cube.
        first = 0
        self._parts: list[_PartBlocks | _ReadBlocks] = []
        for p, part in enumerate(source.parts):
            own = _PartBlocks(seed, number, p, part, method, replace, first)
            if reading is not None and part.stored:
                self._parts.append(_ReadBlocks(own, part, reading))
            else:
                self._parts.append(own)
            first += 1 if part.size is not None else part.dimension

    def batch(self, stream: int, k: int, size: int) -> Batch:
        """The scenarios of one iteration; all there are, if there are no more."""
        if self._whole is not None and size >= self._whole.size:
            return self._whole if self._reading is None else self._all()
        parts = tuple([part.drawn(stream, k, size) for part in self._parts])
        if self._reading is None:
            return Batch(size, parts)
        drawn = zip(self._parts, parts, strict=True)
        return Batch(size, parts, None, tuple([getattr(own, "numbers", p) for own, p in drawn]))

    def _all(self) -> Batch:
        assert self._reading is not None and self._whole is not None
        if self._read_whole is None:
            self._read_whole = self._reading.read(self._whole)
        return self._read_whole


class _PartBlocks:
    """Draws of one part."""

    def __init__(
        self,
        seed: int,
        source: int,
        number: int,
        part: Part,
        method: str,
        replace: bool,
        first: int,
    ):
        self._seed = seed
        self._source = source
        self._number = number
        self._part = part
        self._method = method
        self._replace = replace
        self._first = first
        self._cumulative = None if part.weights is None else np.cumsum(part.weights)
        #: (stream, batch) -> (block number, length, draws)
        self._blocks: dict[tuple[int, int], tuple[int, int, Any]] = {}
        if method != "monte_carlo" and part.size is None and part.from_uniform is None:
            raise OptionError(
                f"sampling='{method}' needs quantiles, but source '{part.name}' is given by a "
                "sampler or by a distribution without ppf; use sampling='monte_carlo'."
            )

    def drawn(self, stream: int, k: int, batch: int) -> Any:
        known = self._blocks.get((stream, batch))
        length = block_length(batch) if known is None else known[1]
        number, row = divmod(k, length)
        if known is None or known[0] != number:
            known = self._blocks.pop((stream, batch), None)
            if len(self._blocks) == KINDS:
                del self._blocks[next(iter(self._blocks))]
            rng = generator(self._seed, stream, self._source, self._number, number, batch)
            known = (number, length, self._block(rng, length, batch))
            self._blocks[stream, batch] = known
        block = known[2]
        if self._part.size is not None:
            return block[row]
        return tuple([field[row] for field in block])

    def _block(self, rng: np.random.Generator, length: int, batch: int) -> Any:
        part = self._part
        points = POINT_SETS.get(self._method)
        if part.size is not None:
            if points is not None:
                u = points(rng, length, batch, 1, self._first)[..., 0]
                return rows_at(u, self._cumulative, part.size)
            if self._cumulative is not None:
                return rows_at(rng.random((length, batch)), self._cumulative, part.size)
            repeat = self._replace or batch > part.size
            return uniform_rows(rng, length, batch, part.size, repeat)
        if points is not None:
            assert part.from_uniform is not None
            u = points(rng, length, batch, part.dimension, self._first)
            # The ends of the unit interval have infinite quantiles for many distributions.
            u = np.clip(u, EDGE, 1.0 - EDGE)
            fields = part.from_uniform(u.reshape(length * batch, part.dimension))
        else:
            assert part.draw is not None
            fields = part.draw(rng, length * batch)
        return tuple(f.reshape(length, batch, f.shape[-1]) for f in fields)


class _ReadBlocks:
    """A part whose rows are in files: read a block at a time, the next one meanwhile."""

    def __init__(self, drawn: _PartBlocks, part: Part, reading: Reading):
        self._drawn = drawn
        self._part = part
        self._reading = reading
        #: (stream, batch) -> the blocks that are here and those that a thread reads
        self._blocks: dict[tuple[int, int], _Read] = {}
        #: row numbers of the batch that was drawn last
        self.numbers: Any = None

    def drawn(self, stream: int, k: int, batch: int) -> Fields:
        known = self._blocks.get((stream, batch))
        if known is None:
            if len(self._blocks) == KINDS:
                del self._blocks[next(iter(self._blocks))]
            length = block_length(batch)
            if self._reading.scans:
                length *= max(1, SCANNED // (length * batch))
            known = self._blocks[stream, batch] = _Read(length)
        number, row = divmod(k, known.length)
        if known.number != number:
            if known.following is None or known.following[0] != number:
                known.here = self._read(self._rows(stream, number, batch, known.length))
            else:
                known.here = known.following[1].result()
            known.number, known.following = number, None
        if known.following is None and row >= known.length // 2 and not self._reading.scans:
            rows = self._rows(stream, number + 1, batch, known.length)
            future = self._reading.ahead(self._read, rows)
            known.following = None if future is None else (number + 1, future)
        rows, fields = known.here
        self.numbers = rows[row]
        return tuple([field[row] for field in fields])

    def _rows(self, stream: int, number: int, batch: int, length: int) -> NDArray[np.intp]:
        first = number * length
        drawn = self._drawn.drawn
        return np.stack([drawn(stream, k, batch) for k in range(first, first + length)])

    def _read(self, rows: NDArray[np.intp]) -> tuple[Any, Fields]:
        fields = self._reading.fields(self._part, rows.ravel())
        return rows, tuple(field.reshape(*rows.shape, field.shape[1]) for field in fields)


class _Read:
    """Batches of one size, so many at a time."""

    def __init__(self, length: int):
        self.length = length
        self.number = -1
        self.here: Any = None
        self.following: tuple[int, Future[Any]] | None = None
