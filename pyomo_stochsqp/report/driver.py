r"""The driver: runs any method iteration by iteration, keeps its history, certifies points, stops.

    state = method.start(x0)
    repeat   state = method.step(state)
    until    converged, out of budget, stuck, interrupted

A method is anything with ``start`` and ``step`` whose states carry k, x, samples, violation, issue
and record(). Certificates are due whenever the iterations since the last one have used ten times
as many scenarios as the certificate will, so that they cost at most a tenth of the run; the
schedule counts scenarios, not seconds, and so does not disturb reproducibility.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from ..oracle import Vector
from .certificate import Certificate, Certifier
from .history import History
from .termination import Stop

CERTIFICATE_SHARE = 0.1
FIRST_CERTIFICATE = 50  # iterations
DIVERGED = 1e12


class Method(Protocol):
    """One algorithm: two verbs."""

    def start(self, x: Vector) -> Any:
        """The state before the first iteration."""

    def step(self, state: Any) -> Any:
        """One iteration."""


@dataclass(frozen=True)
class Budget:
    """When to stop even without convergence."""

    max_iter: int
    max_samples: float = np.inf
    time_limit: float = np.inf


@dataclass(frozen=True)
class Tolerances:
    """Bounds on the certified errors."""

    feasibility: float
    optimality: float

    def met(self, certificate: Certificate) -> bool:
        """Upper confidence bounds of both errors are below their tolerances."""
        return (
            certificate.infeasibility_bound <= self.feasibility
            and certificate.stationarity_bound <= self.optimality
        )


@dataclass
class Outcome:
    """How a run ended."""

    stop: Stop
    state: Any
    best: Certificate | None
    history: History
    seconds: float
    average: Vector
    message: str = ""
    certificates: list[tuple[int, Certificate]] = field(default_factory=list)


Observer = Callable[[Any], bool | None]


def run(
    method: Method,
    columns: Sequence[str],
    x0: Vector,
    certifier: Certifier,
    budget: Budget,
    tolerances: Tolerances,
    observers: Sequence[Observer] = (),
) -> Outcome:
    """Run a method to its end. An observer that returns True stops the run."""
    started = time.perf_counter()
    history = History(columns)
    certificates: list[tuple[int, Certificate]] = []
    average = TailAverage(x0)
    state = method.start(x0)
    certified_at = 0
    message = ""

    while True:
        if state.k >= budget.max_iter:
            stop = Stop.ITERATION_LIMIT
            break
        if state.samples >= budget.max_samples:
            stop = Stop.SAMPLE_LIMIT
            break
        if time.perf_counter() - started >= budget.time_limit:
            stop = Stop.TIME_LIMIT
            break
        state = method.step(state)
        if state.issue is not None:
            stop, message = Stop.EVALUATION_ERROR, str(state.issue)
            break
        history.append(state.record())
        average.add(state.k, state.x)
        if not np.abs(state.x).max(initial=0.0) < DIVERGED:
            stop = Stop.UNBOUNDED
            break
        if state.k % FIRST_CERTIFICATE == 0 or state.samples == 0:
            rows = int(CERTIFICATE_SHARE * (state.samples - certified_at))
            made = _certify(certifier, (state.x, average.mean), rows // 2)
            certificates += [(state.k, c) for c in made]
            certified_at = state.samples
            if any(tolerances.met(c) for c in made):
                stop = Stop.CONVERGED
                break
        if any([observer(state) for observer in observers]):
            stop = Stop.INTERRUPTED
            break

    if stop is not Stop.CONVERGED:
        rows = max(int(CERTIFICATE_SHARE * state.samples), 64)
        certificates += [(state.k, c) for c in _certify(certifier, (state.x, average.mean), rows)]
    best = min((c for _, c in certificates), key=lambda c: c.error, default=None)
    seconds = time.perf_counter() - started
    return Outcome(stop, state, best, history, seconds, average.mean, message, certificates)


def _certify(certifier: Certifier, points: Sequence[Vector], rows: int) -> list[Certificate]:
    made = (certifier.certify(x, rows) for x in points if np.isfinite(x).all())
    return [c for c in made if c is not None]


class TailAverage:
    """The mean of about the last half of the iterates: restarted whenever k doubles."""

    def __init__(self, x0: Vector):
        self.mean = x0
        self._count = 0
        self._restart = 1

    def add(self, k: int, x: Vector) -> None:
        """Take in one iterate."""
        if k >= self._restart:
            self._restart = 2 * k
            self._count = 0
        self._count += 1
        self.mean = self.mean + (x - self.mean) / self._count
