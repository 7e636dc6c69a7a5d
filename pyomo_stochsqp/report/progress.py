r"""Everything a run has gathered so far: what observers see, and what a checkpoint keeps."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..oracle import Vector
from .certificate import Certificate
from .history import History

#: columns of the table of certificates, named as in :class:`Certificate`
CERTIFICATE_COLUMNS = (
    "iteration",
    "samples",
    "infeasibility",
    "stationarity",
    "infeasibility_bound",
    "stationarity_bound",
    "objective",
    "objective_error",
    "rows",
)


class TailAverage:
    """The mean iterate of about the last half of the samples, each weighted by its own samples.

    Two sums are kept: since the samples last doubled, and of the doubling before that. Together
    they reach back over half to three quarters of all samples. Iterates from larger batches carry
    less noise and count accordingly. Without sampling the average is the last iterate.
    """

    def __init__(self, x: Vector):
        self.mean = x
        self._older = self._newer = np.zeros_like(x)
        #: weights of the two sums, samples at the next doubling, samples seen
        self._counts = np.array([0, 0, 1, 0])

    def add(self, samples: int, x: Vector) -> None:
        """Take in one iterate, made when ``samples`` had been used in all."""
        older, newer, restart, seen = self._counts.tolist()
        new = samples - seen
        if samples >= restart:
            self._older, older = self._newer, newer
            self._newer, newer = np.zeros_like(x), 0
            restart = 2 * samples
        self._newer = self._newer + new * x
        newer += new
        self._counts = np.array([older, newer, restart, samples])
        self.mean = (self._older + self._newer) / (older + newer) if older + newer else x

    def packed(self) -> Vector:
        """Everything in one array, for a checkpoint."""
        return np.concatenate([self.mean, self._older, self._newer, self._counts])

    @classmethod
    def unpacked(cls, values: Vector) -> TailAverage:
        """The inverse of :meth:`packed`."""
        *sums, counts = np.split(values, [(values.size - 4) // 3 * i for i in (1, 2, 3)])
        average = cls(sums[0])
        average._older, average._newer = sums[1:]
        average._counts = counts.astype(int)
        return average


@dataclass
class Progress:
    """A run between two iterations; the driver continues from it."""

    state: Any
    history: History
    average: TailAverage
    certificates: History = field(default_factory=lambda: History(CERTIFICATE_COLUMNS))
    best: Certificate | None = None
    #: an iterate drawn uniformly from those so far (see random_iterate.py)
    drawn: Vector = field(default_factory=lambda: np.empty(0))
    #: samples used when the last certificate was made
    certified_at: int = 0
    #: seconds of earlier runs that this one continues
    seconds_before: float = 0.0
    started: float = field(default_factory=time.perf_counter)

    @classmethod
    def beginning(cls, state: Any, columns: Sequence[str]) -> Progress:
        """Before the first iteration."""
        return cls(state, History(columns), TailAverage(state.x), drawn=state.x)

    @property
    def seconds(self) -> float:
        """Run time so far, with that of the runs before a resume."""
        return self.seconds_before + time.perf_counter() - self.started


def certificate_row(state: Any, certificate: Certificate) -> tuple[float, ...]:
    """One row of the table of certificates."""
    c = certificate
    return (
        state.k,
        state.samples,
        c.infeasibility,
        c.stationarity,
        c.infeasibility_bound,
        c.stationarity_bound,
        c.objective,
        c.objective_error,
        c.rows,
    )
