r"""Small batches, iteration by iteration, drawn many at a time.

Iterations k, k + 1, ... of one stream and one batch size are drawn together, because a call of a
distribution costs as much as thousands of its numbers (streams.py says how many). A run asks for a
few kinds of batches in turn, whole ones, half ones, probes; the last block of each is kept.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..declare.program import Batch, Part, Source
from ..errors import OptionError
from .points import POINT_SETS
from .row_numbers import rows_at, uniform_rows
from .streams import block_length, generator

#: kinds of batches whose last block is kept
KINDS = 4
EDGE = 2.0**-53


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
    ):
        self._whole = whole
        # Parts that meet in an integrand have coordinates of their own in the unit cube.
        first = 0
        self._parts = []
        for p, part in enumerate(source.parts):
            self._parts.append(_PartBlocks(seed, number, p, part, method, replace, first))
            first += 1 if part.size is not None else part.dimension

    def batch(self, stream: int, k: int, size: int) -> Batch:
        """The scenarios of one iteration; all there are, if there are no more."""
        if self._whole is not None and size >= self._whole.size:
            return self._whole
        return Batch(size, tuple([part.drawn(stream, k, size) for part in self._parts]))


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
