r"""Everything a run has gathered so far: what observers see, and what a checkpoint keeps."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np

from ..certify import Certificate, JudgedState
from ..oracle import Vector
from .history import History

#: columns of the table of certificates, named as in :class:`Certificate`
CERTIFICATE_COLUMNS = (
    "iteration",
    "samples",
    "infeasibility",
    "infeasibility_bound",
    "relative_infeasibility_bound",
    "gap",
    "relative_gap",
    "relative_displacement",
    "objective",
    "objective_error",
    "scenarios",
)


@dataclass
class Progress:
    """A run between two iterations; the loop continues from it."""

    state: JudgedState
    #: where the run began
    start: Vector
    history: History
    certificates: History = field(default_factory=lambda: History(CERTIFICATE_COLUMNS))
    #: an iterate drawn uniformly from those so far (see random_iterate.py)
    drawn: Vector = field(default_factory=lambda: np.empty(0))
    #: seconds of earlier runs that this one continues
    seconds_before: float = 0.0
    started: float = field(default_factory=time.perf_counter)

    @classmethod
    def beginning(cls, state: JudgedState) -> Progress:
        """Before the first iteration."""
        return cls(state, state.x, History(state.COLUMNS), drawn=state.x)

    @property
    def seconds(self) -> float:
        """Run time so far, with that of the runs before a resume."""
        return self.seconds_before + time.perf_counter() - self.started

    def note(self, certificate: Certificate) -> None:
        """Keep the numbers of a certificate."""
        self.certificates.append(certificate_row(self.state, certificate))


def certificate_row(state: JudgedState, c: Certificate) -> tuple[float, ...]:
    """One row of the table of certificates."""
    return (state.k, state.samples, *(getattr(c, name) for name in CERTIFICATE_COLUMNS[2:]))
