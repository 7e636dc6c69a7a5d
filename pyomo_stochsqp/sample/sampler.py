r"""Samples of a program's sources, by name (see scenarios.py).

Equal names give equal scenarios. A sample as large as the source becomes the source itself: all
rows, with their probabilities, and no sampling error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

import numpy as np

from ..declare.program import Batch, Source
from ..errors import OptionError
from ..oracle import PREFIX_STREAM
from .blocks import SourceBlocks
from .draws import Name, SourceDraws
from .order import RandomOrder
from .points import METHODS
from .reading import Reading, ReadRows
from .rows import BlocksOfRows, DrawnRows, GivenRows, Rows, Section, whole_batch, whole_size
from .scenarios import Named, Scenarios, SectionOf, SmallBatch
from .streams import CHUNK, generator
from .workers import Workers


class BatchSize(NamedTuple):
    """The size of an iteration's batch."""

    #: scenarios of every source, and of all
    sizes: list[int]
    scenarios: int
    #: it is drawn at once
    small: bool
    #: it holds all scenarios that there are
    whole: bool


class Sampler:
    """Draws from every source of a program; see the module's docstring."""

    def __init__(
        self,
        sources: Sequence[Source],
        seed: int,
        method: str = "auto",
        replacement: bool = False,
        workers: int = 1,
    ):
        if method not in METHODS:
            choices = ", ".join(METHODS)
            raise OptionError(f"sampling='{method}' is unknown; choose one of {choices}.")
        self.sources = tuple(sources)
        self.seed = seed
        # Batches of single iterations are independent draws unless somebody asks for more.
        spread = "monte_carlo" if method == "auto" else method
        numbered = list(enumerate(self.sources))
        self._whole = [
            None if whole_size(source) is None else whole_batch(source) for source in self.sources
        ]
        #: of sources whose tables are in files
        self._reading = [
            Reading(source) if any(p.stored for p in source.parts) else None
            for source in self.sources
        ]
        self._blocks = [
            SourceBlocks(seed, s, source, spread, replacement, self._whole[s], self._reading[s])
            for s, source in numbered
        ]
        self._batches = [SourceDraws(seed, s, src, spread, not replacement) for s, src in numbered]
        self._fixed = [SourceDraws(seed, s, source, method) for s, source in numbered]
        self._sizes = [None if whole is None else whole.size for whole in self._whole]
        #: iterations with a user's sampler are not drawn in advance
        simulated = [p.draw for s in self.sources for p in s.parts if p.costly and p.draw]
        self._costly = bool(simulated)
        #: makes the calls of users' samplers, if there are several processes for it
        self._workers = Workers(workers, simulated) if simulated and workers > 1 else None
        if self._workers is not None:
            for draws in (*self._batches, *self._fixed):
                draws.caller = self._workers
        self._known_sizes: dict[tuple[int, ...], BatchSize] = {}
        #: samples that somebody has
        self._known: WeakValueDictionary[Named, Scenarios] = WeakValueDictionary()

    def close(self) -> None:
        """End the processes that it has started."""
        if self._workers is not None:
            self._workers.close()

    def batch(self, stream: int, k: int, sizes: Sequence[int]) -> Scenarios:
        """The scenarios of an iteration."""
        name = ("batch", stream, k, tuple(sizes))
        size = self.size_of(name[3])
        return SmallBatch(name, size.sizes, self._blocks) if size.small else self.named(name)

    def size_of(self, sizes: tuple[int, ...]) -> BatchSize:
        """What a batch of these sizes is; there are few of them in a run."""
        known = self._known_sizes.get(sizes)
        if known is None:
            capped = [
                size if whole is None else min(size, whole)
                for size, whole in zip(sizes, self._sizes, strict=True)
            ]
            small = not self._costly and max(capped, default=0) <= CHUNK
            known = BatchSize(capped, sum(capped), small, capped == self._sizes)
            self._known_sizes[sizes] = known
        return known

    def replicates(self, stream: int, k: int, sizes: Sequence[int], count: int) -> Scenarios:
        """A fixed sample: ``count`` replicates with ``sizes[s]`` scenarios of source s each."""
        return self.named(("replicates", stream, k, tuple(sizes), count))

    def replicate(self, fixed: Scenarios, r: int) -> Scenarios:
        """One replicate of a fixed sample; of a source that has no more, all scenarios."""
        starts = [r * rows.each if rows.count > rows.each else 0 for rows in fixed.rows]
        stops = [start + rows.each for start, rows in zip(starts, fixed.rows, strict=True)]
        return self.section(fixed, starts, stops)

    def prefix(self, sizes: Sequence[int]) -> Scenarios:
        """The first scenarios of one random order of finite sources, rows sorted.

        Shorter ones are part of longer ones.
        """
        return self.named(("prefix", tuple(sizes)))

    def section(self, of: Scenarios, starts: Sequence[int], stops: Sequence[int]) -> Scenarios:
        """Consecutive scenarios of another sample, from starts[s] to stops[s] of source s."""
        return self.named(("section", of.name, tuple(starts), tuple(stops)))

    @property
    def spreads_evenly(self) -> bool:
        """Whether the points of fixed samples are spread better than independent ones."""
        return all(draws.method != "monte_carlo" for draws in self._fixed)

    def named(self, name: Named) -> Scenarios:
        """The sample of that name."""
        known = self._known.get(name)
        if known is None:
            known = self._known[name] = _KINDS[name[0]](self, name)
        return known

    def _batch(self, name: Named) -> Scenarios:
        _, stream, k, sizes = name
        size = self.size_of(sizes)
        if size.small:
            return SmallBatch(name, size.sizes, self._blocks)
        names = [[Name(stream, k, size, size)] for size in sizes]
        return Scenarios(name, self._rows(self._batches, names))

    def _replicates(self, name: Named) -> Scenarios:
        _, stream, k, sizes, count = name
        names = [[Name(stream, (k << 32) + r, 0, size) for r in range(count)] for size in sizes]
        return Scenarios(name, self._rows(self._fixed, names))

    def _rows(self, draws: Sequence[SourceDraws], names: Sequence[Sequence[Name]]) -> list[Rows]:
        """All scenarios of the sources that have no more than are asked for, draws of others."""
        found: list[Rows] = [
            DrawnRows(own, replicates)
            if whole is None or replicates[0].size < whole.size
            else GivenRows(whole)
            for own, replicates, whole in zip(draws, names, self._whole, strict=True)
        ]
        return self._readable(found)

    def _readable(self, found: Sequence[Rows]) -> list[Rows]:
        """Rows of tables that are in files are read."""
        return [
            rows if reading is None else ReadRows(rows, reading)
            for rows, reading in zip(found, self._reading, strict=True)
        ]

    def _prefix(self, name: Named) -> Scenarios:
        found = [self._first(s, size) for s, size in enumerate(name[1])]
        return Scenarios(name, self._readable(found))

    def _first(self, s: int, size: int) -> Rows:
        source, whole, reading = self.sources[s], self._whole[s], self._reading[s]
        if whole is not None and size >= whole.size:
            return GivenRows(whole)
        assert source.size is not None
        rng = generator(self.seed, PREFIX_STREAM, s, 0, 0, 0)
        if reading is not None and len(source.parts) == 1 and not reading.holds(size):
            return BlocksOfRows(rng, source.parts[0], size)
        rows = np.sort(RandomOrder(rng, source.size).rows(0, size))
        parts: tuple[Any, ...] = (rows,)
        if len(source.parts) > 1:
            parts = np.unravel_index(rows, [p.size or 1 for p in source.parts])
        weights = None
        for part, r in zip(source.parts, parts, strict=True):
            if part.weights is not None:
                weights = part.weights[r] if weights is None else weights * part.weights[r]
        return GivenRows(Batch(size, parts, None if weights is None else weights / weights.sum()))

    def _section(self, name: Named) -> Scenarios:
        _, of, starts, stops = name
        whole = self.named(of)
        parts = zip(whole.rows, starts, stops, strict=True)
        return SectionOf(whole, name, [Section(*part) for part in parts])


_KINDS: dict[str, Callable[[Sampler, Named], Scenarios]] = {
    "batch": Sampler._batch,
    "replicates": Sampler._replicates,
    "prefix": Sampler._prefix,
    "section": Sampler._section,
}
