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

    It restarts whenever the samples used so far have doubled; iterates from larger batches carry
    less noise and count accordingly. Without sampling it is the last iterate.
    """

    def __init__(self, mean: Vector, weight: int = 0, restart: int = 1, seen: int = 0):
        self.mean = mean
        self.weight = weight
        self.restart = restart
        self.seen = seen

    def add(self, samples: int, x: Vector) -> None:
        """Take in one iterate, made when ``samples`` had been used in all."""
        new, self.seen = samples - self.seen, samples
        if samples >= self.restart:
            self.restart = 2 * samples
            self.weight = 0
        self.weight += new
        self.mean = x if self.weight == new else self.mean + (x - self.mean) * (new / self.weight)


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
