r"""Row numbers of finite parts: with or without replacement, equal or given probabilities.

A batch of B rows estimates sum_i p_i F_i by the plain mean over rows drawn with probability p_i.
Equal probabilities allow drawing without replacement within a batch, which lowers the variance by
the factor (N - B)/(N - 1) and is exact at B = N.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.intp]


def uniform_rows(
    rng: np.random.Generator, iterations: int, batch: int, size: int, replacement: bool
) -> Rows:
    """(iterations, batch) row numbers with equal probabilities."""
    if replacement:
        return rng.integers(0, size, (iterations, batch))
    if batch * batch <= size:
        # Few duplicates: draw freely and redo the rows of the block that have one.
        rows = rng.integers(0, size, (iterations, batch))
        ordered = np.sort(rows, axis=1)
        for i in np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1)):
            rows[i] = rng.choice(size, batch, replace=False)
        return rows
    return np.stack([rng.choice(size, batch, replace=False) for _ in range(iterations)])


def rows_at(u: NDArray[np.float64], cumulative: NDArray[np.float64] | None, size: int) -> Rows:
    """The rows that uniform numbers u fall on (inverse distribution function)."""
    if cumulative is None:
        return np.minimum((u * size).astype(np.intp), size - 1)
    return np.minimum(np.searchsorted(cumulative, u, side="right"), size - 1)
