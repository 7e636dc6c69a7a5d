r"""Fixed samples: scenarios that are drawn once and then averaged over again and again.

    S = S_1 + ... + S_R,      every replicate n scenarios, randomised independently of the others

so that the mean over S has a standard error, std(means of S_1..S_R) / sqrt(R), whatever the
spreading of the points inside a replicate: scrambled Sobol' sets where all numbers have quantiles
(``auto``), independent draws otherwise.

A replicate is drawn in chunks of ``CHUNK`` scenarios, one after the other; what is drawn depends on
(seed, stream, number of the sample, replicate, source) alone. So a sample that does not fit memory
is not kept: its chunks are drawn again in every evaluation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ..deadline import check_time
from ..declare.program import Batch, Part, Source
from .points import POINT_SETS, SOBOL_DIMENSIONS, Points, ScrambledSobol
from .row_numbers import rows_at, uniform_rows
from .streams import generator

CHUNK = 1 << 13
#: numbers of a sample that are kept in memory (1 GB)
KEPT_NUMBERS = 1 << 27
#: Distance from the ends of the unit interval, where many quantiles are infinite.
EDGE = 2.0**-53

Piece = tuple[float, Batch]


class SourceDraws:
    """Draws of one source of a fixed sample."""

    def __init__(self, seed: int, number: int, source: Source, method: str, whole: Batch | None):
        self.source = source
        self.whole = whole
        self._seed = seed
        self._number = number
        self._widths = [1 if p.size is not None else p.dimension for p in source.parts]
        self._cumulative = [
            None if p.weights is None else np.cumsum(p.weights) for p in source.parts
        ]
        if method == "auto":
            invertible = all(p.size is not None or p.from_uniform for p in source.parts)
            spread = invertible and sum(self._widths) <= SOBOL_DIMENSIONS
            method = "sobol" if spread else "monte_carlo"
        self.method = method

    @property
    def numbers_per_scenario(self) -> int:
        """What a drawn scenario takes of memory."""
        return sum(
            1 if p.size is not None else sum(f.width for f in p.fields) for p in self.source.parts
        )

    def chunks(self, stream: int, k: int, replicate: int, count: int) -> Iterator[Batch]:
        """The ``count`` scenarios of one replicate of sample k."""
        block = (k << 32) + replicate
        rng = generator(self._seed, stream, self._number, 0, block, 0)
        sobol = ScrambledSobol(rng, sum(self._widths)) if self.method == "sobol" else None
        for start in range(0, count, CHUNK):
            check_time()
            size = min(CHUNK, count - start)
            yield Batch(size, self._parts(rng, sobol, size))

    def _parts(
        self, rng: np.random.Generator, sobol: ScrambledSobol | None, size: int
    ) -> tuple[Any, ...]:
        if self.method == "monte_carlo":
            return tuple(
                self._drawn(rng, part, cumulative, size)
                for part, cumulative in zip(self.source.parts, self._cumulative, strict=True)
            )
        if sobol is not None:
            u = sobol.take(size)
        else:
            u = POINT_SETS[self.method](rng, 1, size, sum(self._widths), 0)[0]
        u = np.clip(u, EDGE, 1.0 - EDGE)
        coordinates = np.split(u, np.cumsum(self._widths)[:-1], axis=1)
        return tuple(
            self._at(part, cumulative, v)
            for part, cumulative, v in zip(
                self.source.parts, self._cumulative, coordinates, strict=True
            )
        )

    def _drawn(self, rng: np.random.Generator, part: Part, cumulative: Any, size: int) -> Any:
        if part.size is None:
            assert part.draw is not None
            return tuple(part.draw(rng, size))
        if cumulative is not None:
            return rows_at(rng.random(size), cumulative, part.size)
        return uniform_rows(rng, 1, size, part.size, replacement=True)[0]

    def _at(self, part: Part, cumulative: Any, u: Points) -> Any:
        if part.size is not None:
            return rows_at(u[:, 0], cumulative, part.size)
        assert part.from_uniform is not None
        return tuple(np.ascontiguousarray(f) for f in part.from_uniform(u))


class FixedSample:
    """Sample k of a stream: ``replicates`` times ``sizes[s]`` scenarios of each source s.

    A source that is asked for at least all of its scenarios gives them all, with their
    probabilities, in every replicate.
    """

    def __init__(
        self, draws: Sequence[SourceDraws], stream: int, k: int, sizes: Sequence[int], count: int
    ):
        self._draws = draws
        self._name = (stream, k)
        self._whole = [
            d.whole if d.whole is not None and size >= d.whole.size else None
            for d, size in zip(draws, sizes, strict=True)
        ]
        self._sizes = [
            size if whole is None else whole.size
            for size, whole in zip(sizes, self._whole, strict=True)
        ]
        self.count = count
        numbers = sum(
            count * size * d.numbers_per_scenario
            for d, size, whole in zip(draws, self._sizes, self._whole, strict=True)
            if whole is None
        )
        self._kept: list[Batch] | None = None
        if numbers <= KEPT_NUMBERS:
            self._kept = [self._collected(s) for s in range(len(draws))]

    @property
    def source_count(self) -> int:
        return len(self._draws)

    @property
    def scenarios(self) -> int:
        """Scenarios of one replicate, over all sources."""
        return sum(self._sizes)

    def sizes(self, replicate: int | None) -> list[int]:
        """Scenarios of every source in one replicate, or in all."""
        count = self.count if replicate is None else 1
        return [
            size if whole is not None else count * size
            for whole, size in zip(self._whole, self._sizes, strict=True)
        ]

    def batches(self, replicate: int | None) -> tuple[Batch, ...] | None:
        """The scenarios of one replicate, or of all, where they are in memory."""
        if self._kept is None:
            return None
        if replicate is None:
            return tuple(self._kept)
        return tuple(
            kept if whole is not None else part_of(kept, replicate * size, size)
            for kept, whole, size in zip(self._kept, self._whole, self._sizes, strict=True)
        )

    def joined(self) -> list[Batch]:
        """All scenarios of every source, in memory."""
        return self._kept or [self._collected(s) for s in range(len(self._draws))]

    def pieces(self, source: int, replicate: int | None) -> Iterator[Piece]:
        """(share, scenarios) of a source, a chunk at a time, drawn again."""
        whole = self._whole[source]
        if whole is not None:
            yield 1.0, whole
            return
        chosen = range(self.count) if replicate is None else (replicate,)
        size = self._sizes[source]
        for r in chosen:
            for batch in self._draws[source].chunks(*self._name, r, size):
                yield batch.size / (size * len(chosen)), batch

    def _collected(self, source: int) -> Batch:
        """All replicates, one after the other."""
        whole = self._whole[source]
        if whole is not None:
            return whole
        return joined(
            (batch for _, batch in self.pieces(source, None)), self.count * self._sizes[source]
        )


def joined(batches: Iterable[Batch], size: int) -> Batch:
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
    """Some consecutive scenarios of a batch drawn with equal weights; nothing is copied."""
    rows = slice(start, start + size)
    parts = tuple(
        tuple(field[rows] for field in part) if isinstance(part, tuple) else part[rows]
        for part in batch.parts
    )
    return Batch(size, parts)
