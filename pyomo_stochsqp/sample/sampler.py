r"""Drawing batches of a program's sources, iteration by iteration.

    Sampler.draw(stream, k, batch) -> one Batch per source

Equal arguments give equal batches. A batch as large as the source becomes the source itself: all
rows, with their probabilities, and no sampling error.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..declare.program import Batch, Part, Source
from ..errors import OptionError
from .fixed import FixedSample, SourceDraws
from .points import METHODS, POINT_SETS
from .row_numbers import rows_at, uniform_rows
from .streams import block_length, generator

#: combinations of independent parts that are enumerated rather than sampled
LARGEST_PRODUCT = 1 << 20


class Sampler:
    """Draws from every source of a program; see the module's docstring."""

    def __init__(
        self,
        sources: Sequence[Source],
        seed: int,
        method: str = "auto",
        replacement: bool = False,
    ):
        if method not in METHODS:
            choices = ", ".join(METHODS)
            raise OptionError(f"sampling='{method}' is unknown; choose one of {choices}.")
        self.sources = tuple(sources)
        self.seed = seed
        # Batches of single iterations are independent draws unless somebody asks for more.
        spread = "monte_carlo" if method == "auto" else method
        self._streams = [
            [
                _PartStream(seed, s, p, part, spread, replacement, first)
                for p, (part, first) in enumerate(zip(src.parts, _first(src), strict=True))
            ]
            for s, src in enumerate(self.sources)
        ]
        self._whole = [_whole_batch(src) for src in self.sources]
        self._draws = [
            SourceDraws(seed, s, src, method, whole)
            for s, (src, whole) in enumerate(zip(self.sources, self._whole, strict=True))
        ]

    def draw(
        self, stream: int, k: int, batch: Sequence[int]
    ) -> tuple[tuple[Batch, ...], int, bool]:
        """(batches, rows drawn in all, whether every source is complete)."""
        batches = []
        rows = 0
        exact = True
        for parts, whole, size in zip(self._streams, self._whole, batch, strict=True):
            if whole is not None and size >= whole.size:
                batches.append(whole)
                rows += whole.size
            else:
                batches.append(Batch(size, tuple([p.draw(stream, k, size) for p in parts])))
                rows += size
                exact = False
        return tuple(batches), rows, exact

    def replicates(self, stream: int, k: int, batch: Sequence[int], count: int) -> FixedSample:
        """A fixed sample of ``count`` replicates with ``batch[s]`` scenarios of source s each."""
        return FixedSample(self._draws, stream, k, batch, count)

    @property
    def spreads_evenly(self) -> bool:
        """Whether the points of fixed samples are spread better than independent ones."""
        return all(draws.method != "monte_carlo" for draws in self._draws)

    def prefix(self, stream: int, sizes: Sequence[int], largest: Sequence[int]) -> list[Batch]:
        """The first scenarios of one random order of finite sources, rows sorted.

        ``largest`` are the longest prefixes that will be asked for: shorter ones are part of them.
        """
        batches = []
        for s, (source, size, most) in enumerate(zip(self.sources, sizes, largest, strict=True)):
            whole = self._whole[s]
            if whole is not None and size >= whole.size:
                batches.append(whole)
                continue
            rng = generator(self.seed, stream, s, 0, 0, 0)
            assert source.size is not None
            rows = np.sort(rng.choice(source.size, max(most, size), replace=False)[:size])
            if len(source.parts) > 1:
                parts = np.unravel_index(rows, [p.size or 1 for p in source.parts])
            else:
                parts = (rows,)
            weights = None
            for part, r in zip(source.parts, parts, strict=True):
                if part.weights is not None:
                    weights = part.weights[r] if weights is None else weights * part.weights[r]
            batches.append(Batch(size, parts, None if weights is None else weights / weights.sum()))
        return batches


class _PartStream:
    """Draws of one part, kept one block at a time."""

    def __init__(
        self,
        seed: int,
        source: int,
        part: int,
        record: Part,
        method: str,
        replace: bool,
        first: int,
    ):
        self._first = first
        self._seed = seed
        self._source = source
        self._part = part
        self._record = record
        self._method = method
        self._replace = replace
        self._cumulative = None if record.weights is None else np.cumsum(record.weights)
        self._key: tuple[int, int, int] | None = None
        self._length = 1
        self._block: Any = None
        if method != "monte_carlo" and record.size is None and record.from_uniform is None:
            raise OptionError(
                f"sampling='{method}' needs quantiles, but source '{record.name}' is given by a "
                "sampler or by a distribution without ppf; use sampling='monte_carlo'."
            )

    def draw(self, stream: int, k: int, batch: int) -> Any:
        length = self._length if self._key and self._key[2] == batch else self._block_length(batch)
        block, row = divmod(k, length)
        key = (stream, block, batch)
        if key != self._key:
            self._length = length
            rng = generator(self._seed, stream, self._source, self._part, block, batch)
            self._block = self._draw_block(rng, length, batch)
            self._key = key
        if self._record.size is not None:
            return self._block[row]
        return tuple([field[row] for field in self._block])

    def _block_length(self, batch: int) -> int:
        """Iterations drawn together; a user's function is asked for what is used and no more."""
        return 1 if self._record.costly else block_length(batch)

    def _draw_block(self, rng: np.random.Generator, length: int, batch: int) -> Any:
        part = self._record
        points = POINT_SETS.get(self._method)
        if part.size is not None:
            if points is not None:
                u = points(rng, length, batch, 1, self._first)[..., 0]
                return rows_at(u, self._cumulative, part.size)
            if self._cumulative is not None:
                return rows_at(rng.random((length, batch)), self._cumulative, part.size)
            return uniform_rows(rng, length, batch, part.size, self._replace)
        if points is not None:
            assert part.from_uniform is not None
            u = points(rng, length, batch, part.dimension, self._first)
            # The ends of the unit interval have infinite quantiles for many distributions.
            u = np.clip(u, 2.0**-53, 1.0 - 2.0**-53)
            fields = part.from_uniform(u.reshape(length * batch, part.dimension))
        else:
            assert part.draw is not None
            fields = part.draw(rng, length * batch)
        return tuple(f.reshape(length, batch, f.shape[-1]) for f in fields)


def _first(source: Source) -> list[int]:
    """The first coordinate of every part in the unit cube that the source is drawn from."""
    widths = [1 if p.size is not None else p.dimension for p in source.parts]
    return [sum(widths[:i]) for i in range(len(widths))]


def whole_size(source: Source) -> int | None:
    """The scenarios of a source that can be drawn all at once; None if there are too many."""
    size = source.size
    if size is None or (len(source.parts) > 1 and size > LARGEST_PRODUCT):
        return None
    return size


def _whole_batch(source: Source) -> Batch | None:
    """All scenarios of a finite source: all rows of its part, or all combinations of its parts."""
    size = whole_size(source)
    if size is None:
        return None
    if len(source.parts) == 1:
        return Batch(size, (slice(0, size),), source.parts[0].weights)
    rows = np.unravel_index(np.arange(size), [p.size or 1 for p in source.parts])
    weights = np.full(size, 1.0)
    for part, r in zip(source.parts, rows, strict=True):
        weights *= 1.0 / (part.size or 1) if part.weights is None else part.weights[r]
    return Batch(size, tuple(rows), weights)
