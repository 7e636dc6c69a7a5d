r"""The driver: runs any method iteration by iteration, keeps its history, certifies points, stops.

    repeat   state = method.step(state)
    until    converged, out of budget, stuck, interrupted

A method is anything with ``start`` and ``step`` whose states carry k, x, samples, violation, issue,
ended (a Stop, where the method itself knows that it is done), exact (no sampling error) and
record(). Certificates are due
whenever the iterations since the last one have used ten times as many scenarios as the certificate
will, so that they cost at most a tenth of the run; the schedule counts scenarios, not seconds, and
so does not disturb reproducibility.

Observers (log, callback, checkpoint, signals) are called after every iteration. The last
certificates of a run that did not converge are not part of its :class:`Progress`, so that a
checkpoint written at any time continues as if the run had never stopped.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..oracle import Vector
from .advice import advice
from .certificate import Certificate, Certifier
from .history import History
from .progress import Progress, certificate_row
from .termination import Stop

CERTIFICATE_SHARE = 0.1
FIRST_CERTIFICATE = 50  # iterations
LEAST_FINAL_ROWS = 64
DIVERGED = 1e12
#: slope of the violation, relative to the rows' gradients, that counts as stationary
HOPELESS_SLOPE = 1e-4
#: bounds of two sampled certificates that differ by less than this factor are taken for equal
BENEFIT_OF_DOUBT = 1.5


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

    def excess(self, certificate: Certificate) -> float:
        """The larger upper bound in units of its tolerance: the best point has the smallest."""
        return max(
            certificate.relative_infeasibility / self.feasibility,
            certificate.relative_stationarity / self.optimality,
        )

    def hopeless(self, certificate: Certificate) -> bool:
        """Surely infeasible, and where the violation cannot be reduced."""
        return (
            certificate.infeasible_slope <= HOPELESS_SLOPE
            and certificate.lower_infeasibility > 10.0 * self.feasibility
        )

    def met(self, certificate: Certificate) -> bool:
        """Upper confidence bounds of both errors are below their tolerances."""
        return self.excess(certificate) <= 1.0


@dataclass(frozen=True)
class Outcome:
    """How a run ended."""

    stop: Stop
    message: str
    progress: Progress
    #: the point to return: the best one by certificate, unless another was asked for
    best: Certificate | None
    #: the table of all certificates, the last ones included
    certificates: History
    seconds: float

    @property
    def state(self) -> Any:
        """The last state."""
        return self.progress.state

    @property
    def history(self) -> History:
        """One row per iteration."""
        return self.progress.history


#: Called with the progress after every iteration. True stops the run; a text says why.
Observer = Callable[[Progress], bool | str | None]


def run(
    method: Method,
    progress: Progress,
    certifier: Certifier,
    budget: Budget,
    tolerances: Tolerances,
    observers: Sequence[Observer] = (),
    answer: str = "best",
    at_end: Callable[[Progress], None] | None = None,
) -> Outcome:
    """Run a method to its end, from the beginning or from a checkpoint.

    ``answer`` chooses the point of the outcome: best (by certificate), last, average or random.
    ``at_end`` is called after the last iteration, before the last certificates are made.
    """
    started = time.perf_counter()
    stop, message = _iterate(method, progress, certifier, budget, tolerances, observers)
    if at_end is not None:
        at_end(progress)
    best, certificates = progress.best, progress.certificates
    state = progress.state
    if best is None or not tolerances.met(best):
        certificates = certificates.copy()
        points = (state.x,) if state.exact else (state.x, progress.average.mean)
        made = _certify(certifier, points, _final_rows(certifier, state), state.k)
        for c in made:
            certificates.append(certificate_row(state, c))
        best = _best(best, made, tolerances)
    if best is None and stop is not Stop.EVALUATION_ERROR and np.isfinite(state.x).all():
        issue = certifier.issue_at(state.x, state.k)
        if issue is not None:
            stop, message = Stop.EVALUATION_ERROR, str(issue)
    if best is not None and stop is not Stop.CONVERGED and tolerances.hopeless(best):
        stop = Stop.LOCALLY_INFEASIBLE
    if stop is Stop.STALLED and best is not None and tolerances.met(best):
        stop = Stop.CONVERGED
    elif stop is Stop.CONVERGED and (best is None or not tolerances.met(best)):
        stop = Stop.STALLED
    if answer != "best":
        chosen = {"last": state.x, "average": progress.average.mean, "random": progress.drawn}
        rows = _final_rows(certifier, state)
        best = next(iter(_certify(certifier, (chosen[answer],), rows, state.k)), None)
    if not message and best is not None:
        message = advice(stop, best, tolerances, certifier.row_name(best.worst_row))
    seconds = progress.seconds_before + time.perf_counter() - started
    return Outcome(stop, message, progress, best, certificates, seconds)


def _iterate(
    method: Method,
    progress: Progress,
    certifier: Certifier,
    budget: Budget,
    tolerances: Tolerances,
    observers: Sequence[Observer],
) -> tuple[Stop, str]:
    """The main loop."""
    state, history, average = progress.state, progress.history, progress.average
    deadline = time.perf_counter() + budget.time_limit
    if state.ended is not None:
        return state.ended, ""
    if state.k == 0:
        issue = certifier.issue_at(state.x)
        if issue is not None:
            return Stop.EVALUATION_ERROR, f"at the starting point, {issue}"
    if progress.best is not None and tolerances.met(progress.best):
        return Stop.CONVERGED, ""
    while True:
        if state.k >= budget.max_iter:
            return Stop.ITERATION_LIMIT, ""
        if state.samples >= budget.max_samples:
            return Stop.SAMPLE_LIMIT, ""
        if time.perf_counter() >= deadline:
            return Stop.TIME_LIMIT, ""

        state = progress.state = method.step(state)
        if state.issue is not None:
            return Stop.EVALUATION_ERROR, str(state.issue)
        history.append(state.record())
        average.add(state.samples, state.x)
        if state.ended is not None:
            return state.ended, ""
        if not np.abs(state.x).max(initial=0.0) < DIVERGED:
            return Stop.UNBOUNDED, ""

        if state.k % FIRST_CERTIFICATE == 0 and not state.exact:
            rows = int(CERTIFICATE_SHARE * (state.samples - progress.certified_at)) // 2
            made = _certify(certifier, (state.x, average.mean), rows, state.k)
            progress.certified_at = state.samples
            for c in made:
                progress.certificates.append(certificate_row(state, c))
            progress.best = _best(progress.best, made, tolerances)
            if progress.best is not None and tolerances.met(progress.best):
                return Stop.CONVERGED, ""
            if progress.best is not None and tolerances.hopeless(progress.best):
                return Stop.LOCALLY_INFEASIBLE, ""

        verdicts = [observer(progress) for observer in observers]
        if any(verdicts):
            return Stop.INTERRUPTED, next((v for v in verdicts if isinstance(v, str)), "")


def _final_rows(certifier: Certifier, state: Any) -> int:
    """Scenarios for the last certificate: all of them where the method used all of them."""
    if state.exact and certifier.full_pass is not None:
        return certifier.full_pass
    return max(int(CERTIFICATE_SHARE * state.samples), LEAST_FINAL_ROWS)


def _best(
    earlier: Certificate | None, made: Sequence[Certificate], tolerances: Tolerances
) -> Certificate | None:
    """The point with the smallest bounds, the tail average given the benefit of doubt.

    ``made`` holds the last iterate and the tail average, on one validation sample. Certificates are
    noisy themselves, and an average is the better estimate of a solution unless they clearly say
    otherwise.
    """
    new = None
    for point in made:
        doubt = BENEFIT_OF_DOUBT if new is not None and not point.exact else 1.0
        if new is None or tolerances.excess(point) <= doubt * tolerances.excess(new):
            new = point
    if earlier is None or new is None:
        return new or earlier
    return new if tolerances.excess(new) <= tolerances.excess(earlier) else earlier


def _certify(
    certifier: Certifier, points: Sequence[Vector], rows: int, number: int
) -> list[Certificate]:
    made = (certifier.certify(x, rows, number) for x in points if np.isfinite(x).all())
    return [c for c in made if c is not None]
