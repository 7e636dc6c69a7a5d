r"""A sample by name: what was asked for, from which anybody draws the same scenarios.

Nothing is drawn before it is evaluated. A name is a plain tuple,

    ("batch", stream, k, sizes)                    of one iteration
    ("replicates", stream, k, sizes, count)        of a fixed sample
    ("prefix", sizes)                              of one random order of finite data
    ("section", name, starts, stops)               of another sample's scenarios

so that a process that has only the name (and the model, and the seed) can take its share of the
work.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from operator import gt
from typing import Any

from ..declare.program import Batch
from .blocks import SourceBlocks
from .rows import Cut, GivenRows, Rows

Named = tuple[Any, ...]


class Scenarios:
    """The scenarios of every source."""

    def __init__(self, name: Named, rows: Sequence[Rows]):
        self.name = name
        self.rows = rows
        self.sizes: Sequence[int] = [r.count for r in rows]

    def fits(self, limits: Sequence[int]) -> bool:
        """Whether no source has more scenarios than these."""
        return not any(map(gt, self.sizes, limits))

    @cached_property
    def batches(self) -> tuple[Batch, ...]:
        """All of them at once."""
        for rows in self.rows:
            rows.hold(0, rows.count)
        return tuple([rows.batch(0, rows.count)[1] for rows in self.rows])

    def cuts(self, limits: Sequence[int]) -> list[Cut]:
        """The pieces of every source."""
        return [Cut(r.count, r.each, limit) for r, limit in zip(self.rows, limits, strict=True)]

    @property
    def kept(self) -> bool:
        """They stay in memory once they were drawn (that of several processes, perhaps)."""
        return all(rows.kept for rows in self.rows)


class SectionOf(Scenarios):
    """Some of another sample's, which lives as long as they do."""

    def __init__(self, of: Scenarios, name: Named, rows: Sequence[Rows]):
        super().__init__(name, rows)
        self.of = of


class SmallBatch(Scenarios):
    """The scenarios of an iteration, which are drawn together with those of the next ones."""

    kept = True

    def __init__(self, name: Named, sizes: Sequence[int], sources: Sequence[SourceBlocks]):
        self.name = name
        self.sizes = sizes
        self._sources = sources
        self._drawn: tuple[Batch, ...] | None = None

    @property
    def batches(self) -> tuple[Batch, ...]:
        if self._drawn is None:
            _, stream, k, sizes = self.name
            sources = zip(self._sources, sizes, strict=True)
            self._drawn = tuple([blocks.batch(stream, k, size) for blocks, size in sources])
        return self._drawn

    @cached_property
    def rows(self) -> Sequence[Rows]:  # type: ignore[override]
        return [GivenRows(batch) for batch in self.batches]
