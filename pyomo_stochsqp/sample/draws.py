r"""Draws of one source, a chunk at a time.

A sample of a source is a number of scenarios with one name, (stream, block, batch): a batch of one
iteration, or a replicate of a fixed sample. It is divided into chunks of at most ``CHUNK``
scenarios, and chunk c can be drawn without the others:

    independent draws        from the random stream of chunk c
    rows without repetition  elements c CHUNK, ... of a random order (order.py)
    scrambled Sobol' sets    points c CHUNK, ... of the sequence
    other point sets         one for every chunk, from its random stream
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..deadline import check_time
from ..declare.program import Batch, Part, Source
from .order import RandomOrder
from .points import POINT_SETS, SOBOL_DIMENSIONS, Points, ScrambledSobol
from .row_numbers import rows_at
from .simulation import Call, Caller, Fields, one_by_one
from .streams import CHUNK, costly_chunk, generator

#: Distance from the ends of the unit interval, where many quantiles are infinite.
EDGE = 2.0**-53


class Name(NamedTuple):
    """What the random streams of a sample are called, and how many scenarios it has."""

    stream: int
    block: int
    batch: int
    size: int


class Chunk(NamedTuple):
    """Scenarios start, ..., stop - 1 of a sample."""

    name: Name
    start: int
    stop: int

    @property
    def size(self) -> int:
        return self.stop - self.start


class SourceDraws:
    """Draws a source's chunks. ``distinct``: rows with equal probabilities do not repeat."""

    def __init__(self, seed: int, number: int, source: Source, method: str, distinct: bool = False):
        self.source = source
        self._seed = seed
        self._number = number
        self._distinct = distinct
        self._widths = [1 if p.size is not None else p.dimension for p in source.parts]
        self._cumulative = [
            None if p.weights is None else np.cumsum(p.weights) for p in source.parts
        ]
        if method == "auto":
            invertible = all(p.size is not None or p.from_uniform for p in source.parts)
            spread = invertible and sum(self._widths) <= SOBOL_DIMENSIONS
            method = "sobol" if spread else "monte_carlo"
        self.method = method
        self._costly = any(p.costly for p in source.parts)
        #: makes the calls of users' samplers
        self.caller: Caller = one_by_one
        #: the set that was read last, and how far
        self._sobol: tuple[Name, ScrambledSobol, int] | None = None
        self._order: tuple[Name, int, RandomOrder] | None = None

    @property
    def numbers_per_scenario(self) -> int:
        """What a drawn scenario takes of memory."""
        return sum(
            1 if p.size is not None else sum(f.width for f in p.fields) for p in self.source.parts
        )

    def step(self, count: int) -> int:
        """Scenarios of a chunk in a sample of so many."""
        return costly_chunk(count) if self._costly else CHUNK

    def chunks(self, name: Name, start: int, stop: int) -> list[Chunk]:
        """The chunks that hold these scenarios of a sample."""
        step = self.step(name.size)
        first, last = start // step, -(-stop // step)
        return [Chunk(name, c * step, min((c + 1) * step, name.size)) for c in range(first, last)]

    def drawn(self, chunks: Sequence[Chunk]) -> Iterator[Batch]:
        """The scenarios of chunks, one batch for each."""
        simulated = {
            p: iter(self._simulated(p, part, chunks))
            for p, part in enumerate(self.source.parts)
            if part.costly
        }
        for chunk in chunks:
            check_time()
            if self.method == "monte_carlo":
                parts = tuple(
                    next(simulated[p]) if p in simulated else self._independent(p, part, chunk)
                    for p, part in enumerate(self.source.parts)
                )
            else:
                parts = self._spread(chunk)
            yield Batch(chunk.size, parts)

    # -- independent draws ------------------------------------------------------------------------

    def _simulated(self, p: int, part: Part, chunks: Sequence[Chunk]) -> list[Fields]:
        assert part.draw is not None
        calls = [
            Call(stream, self._number, p, block, batch, start // self.step(count), stop - start)
            for (stream, block, batch, count), start, stop in chunks
        ]
        return self.caller(part.draw, self._seed, calls)

    def _independent(self, p: int, part: Part, chunk: Chunk) -> Any:
        cumulative = self._cumulative[p]
        without = self._distinct and cumulative is None
        if without and part.size is not None and chunk.name.size <= part.size:
            return self._random_order(p, part.size, chunk.name).rows(chunk.start, chunk.stop)
        rng = self._generator(p, chunk)
        if part.size is None:
            assert part.draw is not None
            return tuple(part.draw(rng, chunk.size))
        if cumulative is None:
            return rng.integers(0, part.size, chunk.size)
        return rows_at(rng.random(chunk.size), cumulative, part.size)

    def _random_order(self, p: int, size: int, name: Name) -> RandomOrder:
        if self._order is None or self._order[:2] != (name, p):
            self._order = (name, p, RandomOrder(self._generator(p, Chunk(name, 0, 0)), size))
        return self._order[2]

    def _generator(self, p: int, chunk: Chunk) -> np.random.Generator:
        stream, block, batch, count = chunk.name
        number = chunk.start // self.step(count)
        return generator(self._seed, stream, self._number, p, block, batch, number)

    # -- points of the unit cube ------------------------------------------------------------------

    def _spread(self, chunk: Chunk) -> tuple[Any, ...]:
        dimension = sum(self._widths)
        if self.method == "sobol":
            u = self._sobol_points(chunk, dimension)
        else:
            u = POINT_SETS[self.method](self._generator(0, chunk), 1, chunk.size, dimension, 0)[0]
        u = np.clip(u, EDGE, 1.0 - EDGE)
        coordinates = np.split(u, np.cumsum(self._widths)[:-1], axis=1)
        return tuple(
            self._at(part, cumulative, v)
            for part, cumulative, v in zip(
                self.source.parts, self._cumulative, coordinates, strict=True
            )
        )

    def _sobol_points(self, chunk: Chunk, dimension: int) -> Points:
        known = self._sobol
        if known is None or known[0] != chunk.name or known[2] > chunk.start:
            start = Chunk(chunk.name, 0, 0)
            known = (chunk.name, ScrambledSobol(self._generator(0, start), dimension), 0)
        name, points, position = known
        points.skip(chunk.start - position)
        self._sobol = (name, points, chunk.stop)
        return points.take(chunk.size)

    def _at(self, part: Part, cumulative: Any, u: Points) -> Any:
        if part.size is not None:
            return rows_at(u[:, 0], cumulative, part.size)
        assert part.from_uniform is not None
        return tuple(np.ascontiguousarray(f) for f in part.from_uniform(u))
