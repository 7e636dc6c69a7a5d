r"""The tail average: the mean iterate of about the last half of the samples.

Two sums are kept, each iterate weighted by its own samples: since the samples last doubled, and of
the doubling before that. Together they reach back over half to three quarters of all samples.
Iterates from larger batches carry less noise and count accordingly.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..oracle import Vector


class TailAverage(NamedTuple):
    """The average so far; without sampling it is the last iterate."""

    mean: Vector
    older: Vector
    newer: Vector
    #: weights of the two sums, samples at the next doubling, samples seen
    weights: tuple[int, int]
    restart: int = 1
    seen: int = 0

    @classmethod
    def beginning(cls, x: Vector) -> TailAverage:
        return cls(x, np.zeros_like(x), np.zeros_like(x), (0, 0))

    def with_iterate(self, samples: int, x: Vector) -> TailAverage:
        """Take in one iterate, made when ``samples`` had been used in all."""
        older, newer = self.older, self.newer
        (old, new), restart = self.weights, self.restart
        if samples >= restart:
            older, old = newer, new
            newer, new = np.zeros_like(x), 0
            restart = 2 * samples
        own = samples - self.seen
        newer = newer + own * x
        new += own
        mean = (older + newer) / (old + new) if old + new else x
        return TailAverage(mean, older, newer, (old, new), restart, samples)
