r"""The answer of the complexity theorem: an iterate X_K with K uniform on the iterations.

Reservoir sampling: iterate k replaces the one kept with probability 1/k. The decision depends on
the seed and on k alone, so a resumed run draws the same iterate.
"""

from __future__ import annotations

import numpy as np

from .progress import Progress

#: apart from every stream of scenarios (see sample/streams.py)
_COUNTER = 1 << 63


class RandomIterate:
    """An observer that keeps ``progress.drawn`` uniform over the iterates so far."""

    def __init__(self, seed: int):
        self._seed = seed

    def __call__(self, progress: Progress) -> None:
        k = progress.state.k
        bits = np.random.Philox(key=self._seed, counter=[0, k, 0, _COUNTER])
        if np.random.Generator(bits).random() * k < 1.0:
            progress.drawn = progress.state.x
