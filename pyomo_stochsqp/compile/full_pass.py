r"""All rows of a finite source, a chunk at a time.

    mean over all rows = sum over chunks of  p(chunk) * mean over the chunk ,

p(chunk) being the probability of its rows. A source of several independent parts is the product of
their rows; its combinations are numbered row-major.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..deadline import check_time
from ..declare.program import Batch, Source
from ..errors import ModelError


def chunks(source: Source, rows_at_once: int) -> Iterator[tuple[float, Batch]]:
    """(probability, batch) of consecutive rows; weights of a batch sum to one."""
    parts = source.parts
    sizes = []
    for part in parts:
        if part.size is None:
            raise ModelError(
                f"Source '{source.name}' is drawn from a distribution, so it has no full data. "
                "Evaluate on a large sample instead."
            )
        sizes.append(part.size)
    total = int(np.prod(sizes))
    plain = all(p.weights is None for p in parts)
    for start in range(0, total, rows_at_once):
        check_time()
        stop = min(start + rows_at_once, total)
        rows: tuple[Any, ...] = (slice(start, stop),)
        if len(parts) > 1:
            rows = np.unravel_index(np.arange(start, stop), sizes)
        if plain:
            yield (stop - start) / total, Batch(stop - start, rows)
            continue
        weights = np.ones(stop - start)
        for part, size, r in zip(parts, sizes, rows, strict=True):
            weights *= 1.0 / size if part.weights is None else part.weights[r]
        share = float(weights.sum())
        if share > 0.0:
            yield share, Batch(stop - start, rows, weights / share)
