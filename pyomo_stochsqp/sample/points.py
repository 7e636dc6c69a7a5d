r"""Point sets in the unit cube: the ways to spread a batch.

Each method turns a generator into (iterations, batch, dimension) numbers u, every one uniform on
(0, 1), so that a batch mean stays unbiased:

    antithetic   u and 1 - u in pairs
    stratified   one point in each of the batch's equal cells, in every coordinate (Latin hypercube)
    qmc          a Sobol' set, shifted by a fresh uniform vector modulo 1 in every iteration

``first`` is the number of coordinates that other parts of the same source use: parts that meet in
one integrand must not share coordinates of a Sobol' set, or their points would lie on a diagonal.
"""

from __future__ import annotations

import warnings
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.stats import qmc

Points = NDArray[np.float64]


def antithetic(
    rng: np.random.Generator, iterations: int, batch: int, dimension: int, first: int
) -> Points:
    half = rng.random((iterations, (batch + 1) // 2, dimension))
    return np.concatenate([half, 1.0 - half], axis=1)[:, :batch]


def stratified(
    rng: np.random.Generator, iterations: int, batch: int, dimension: int, first: int
) -> Points:
    shape = (iterations, batch, dimension)
    cells = rng.permuted(np.broadcast_to(np.arange(batch)[None, :, None], shape), axis=1)
    return (cells + rng.random(shape)) / batch


def shifted_sobol(
    rng: np.random.Generator, iterations: int, batch: int, dimension: int, first: int
) -> Points:
    points = _sobol(batch, first + dimension)[:, first:]
    return (points + rng.random((iterations, 1, dimension))) % 1.0


@lru_cache(maxsize=8)
def _sobol(batch: int, dimension: int) -> Points:
    with warnings.catch_warnings():
        # A batch that is no power of two loses a little balance, not its unbiasedness.
        warnings.simplefilter("ignore", UserWarning)
        return qmc.Sobol(dimension, scramble=False).random(batch)


POINT_SETS = {"antithetic": antithetic, "stratified": stratified, "qmc": shifted_sobol}
METHODS = ("monte_carlo", *POINT_SETS)
