r"""Point sets in the unit cube: the ways to spread a batch.

Each method turns a generator into (iterations, batch, dimension) numbers u, every one uniform on
(0, 1), so that a batch mean stays unbiased:

    antithetic        u and 1 - u in pairs
    latin_hypercube   one point in each of the batch's equal cells, in every coordinate
    sobol             a Sobol' set, shifted by a fresh uniform vector modulo 1 in every iteration

``first`` is the number of coordinates that other parts of the same source use: parts that meet in
one integrand must not share coordinates of a Sobol' set, or their points would lie on a diagonal.

Fixed samples are larger and drawn once, so they can afford the better randomisation of a Sobol'
set, scrambled digits (:class:`ScrambledSobol`): on smooth integrands a shift needs up to four times
the points for the same error.
"""

from __future__ import annotations

import warnings
from functools import lru_cache
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import qmc

Points = NDArray[np.float64]

#: Beyond this many coordinates a Sobol' set costs more than it brings.
SOBOL_DIMENSIONS = 1000


def antithetic(
    rng: np.random.Generator, iterations: int, batch: int, dimension: int, first: int
) -> Points:
    half = rng.random((iterations, (batch + 1) // 2, dimension))
    return np.concatenate([half, 1.0 - half], axis=1)[:, :batch]


def latin_hypercube(
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


class ScrambledSobol:
    """One scrambled Sobol' sequence: ``take(count)`` gives its next points."""

    def __init__(self, rng: np.random.Generator, dimension: int):
        # SciPy spawns a generator from the one it is given, which counter-based ones do not offer.
        own = np.random.default_rng(rng.integers(1 << 63))
        self._engine = qmc.Sobol(dimension, scramble=True, **{_SEED: own})

    def take(self, count: int) -> Points:
        return _unwarned(self._engine, count)

    def skip(self, count: int) -> None:
        """Leave some points out."""
        if count:
            self._engine.fast_forward(count)


@lru_cache(maxsize=8)
def _sobol(batch: int, dimension: int) -> Points:
    return _unwarned(qmc.Sobol(dimension, scramble=False), batch)


def _unwarned(engine: Any, count: int) -> Points:
    if count & (count - 1) == 0:
        return engine.random(count)
    with warnings.catch_warnings():
        # A count that is no power of two loses a little balance, not its unbiasedness.
        warnings.simplefilter("ignore", UserWarning)
        return engine.random(count)


#: how this version of SciPy names its source of randomness
_SEED = "rng" if "rng" in signature(qmc.Sobol).parameters else "seed"

POINT_SETS = {
    "antithetic": antithetic,
    "latin_hypercube": latin_hypercube,
    "sobol": shifted_sobol,
}
METHODS = ("auto", "monte_carlo", *POINT_SETS)
