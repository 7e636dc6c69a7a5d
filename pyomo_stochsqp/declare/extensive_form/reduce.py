r"""Few scenarios for many: k-means (Lloyd, 1957; Arthur and Vassilvitskii, 2007, for the start).

    centres  c_j   minimise   sum_i p_i min_j |D^{-1} (w_i - c_j)|^2,   D = standard deviations

Each scenario is the mean of its cluster and has the cluster's probability, so that means are kept
exactly; variances become smaller, by what is left of the sum above.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

Array = NDArray[np.float64]

#: Lloyd's iterations, which soon change hardly anything
ITERATIONS = 50


def k_means(
    rows: Array, weights: Array, count: int, rng: np.random.Generator
) -> tuple[NDArray[np.intp], Array]:
    """(the cluster of each row, the probabilities of clusters); at most ``count`` clusters."""
    mean = weights @ rows
    spread = np.sqrt(weights @ (rows - mean) ** 2)
    scaled = rows / np.where(spread > 0.0, spread, 1.0)
    centres = _start(scaled, weights, count, rng)
    cluster = cKDTree(centres).query(scaled)[1]
    for _ in range(ITERATIONS):
        centres = cluster_means(scaled, weights, cluster)
        before, cluster = cluster, cKDTree(centres).query(scaled)[1]
        if np.array_equal(before, cluster):
            break
    _, cluster = np.unique(cluster, return_inverse=True)
    mass = _sums(weights, cluster)
    return cluster, mass / mass.sum()


def cluster_means(rows: Array, weights: Array, cluster: NDArray[np.intp]) -> Array:
    """The mean of each cluster."""
    mass = _sums(weights, cluster)
    kept = mass > 0.0
    sums = [_sums(weights * column, cluster)[kept] for column in rows.T]
    return np.column_stack(sums) / mass[kept, None]


def _sums(numbers: Array, cluster: NDArray[np.intp]) -> Array:
    return np.bincount(cluster, numbers).astype(np.float64)


def _start(rows: Array, weights: Array, count: int, rng: np.random.Generator) -> Array:
    """Rows that are likely to be far from each other: drawn in proportion to p |w - nearest|^2."""
    first = rng.choice(len(rows), p=weights)
    chosen, distance = [first], np.sum((rows - rows[first]) ** 2, axis=1)
    while len(chosen) < count and (mass := weights @ distance) > 0.0:
        chosen.append(rng.choice(len(rows), p=weights * distance / mass))
        distance = np.minimum(distance, np.sum((rows - rows[chosen[-1]]) ** 2, axis=1))
    return rows[chosen]
