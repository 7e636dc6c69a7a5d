r"""The main loop of every run: iterate, look at the limits, tell the observers, judge the end.

    repeat   state = method.step(state)
    until    the method is done, a limit is reached, somebody interrupts

A run that ends without a certificate that meets the tolerances gets one last look: the point where
it stands, the best one certified on the way and the one it started from are certified together, on
fresh scenarios, and the best of them is the answer. So the answer is never worse than the start,
but for noise. The solution of a sample that is larger than the one of the look has the benefit of
doubt.
These last certificates are not part of the :class:`Progress`: a checkpoint written at any time
continues as if the run had never stopped.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from ..certify import Certificate, JudgedMethod, JudgedState, Look, Tolerances
from ..deadline import OutOfTime, check_time, time_limit
from ..method import Stop
from ..oracle import Vector
from .history import History
from .looks import Judge
from .progress import Progress, certificate_row
from .verdict import verdict

#: scenarios of the last look: at least, and at most
LEAST_FINAL, MOST_FINAL = 1 << 12, 1 << 20
#: numbers of last looks, apart from those of the looks of a run
LAST_LOOKS = 1 << 20
CONFIDENCE = 0.95
#: the last look may take this share of the time limit, at least so many seconds
GRACE, LEAST_GRACE = 0.05, 0.3


@dataclass(frozen=True)
class Budget:
    """When to stop even without convergence."""

    max_iter: float = np.inf
    max_samples: float = np.inf
    time_limit: float = np.inf
    #: somebody has set max_samples
    max_samples_given: bool = False


@dataclass(frozen=True)
class Outcome:
    """How a run ended."""

    stop: Stop
    message: str
    progress: Progress
    #: the certificate of the point to return
    best: Certificate | None
    #: the table of all certificates, the last ones included
    certificates: History
    seconds: float
    #: what went wrong beside the run: it has no effect on the answer
    warnings: tuple[str, ...] = ()

    @property
    def state(self) -> JudgedState:
        """The last state."""
        return self.progress.state

    @property
    def history(self) -> History:
        """One row per iteration."""
        return self.progress.history


#: Called with the progress after every iteration. True stops the run; a text says why.
Observer = Callable[[Progress], bool | str | None]


def run(
    method: JudgedMethod,
    progress: Progress,
    judge: Judge,
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
    try:
        with time_limit(budget.time_limit):
            stop, message = _iterate(method, progress, budget, observers)
    except OutOfTime:
        stop, message = Stop.TIME_LIMIT, ""
    if at_end is not None:
        at_end(progress)
    state, certificates = progress.state, progress.certificates
    best = state.certificate if stop is Stop.CONVERGED else None
    if best is None or answer != "best":
        made: list[Certificate] = []
        grace = max(LEAST_GRACE, GRACE * budget.time_limit)
        with suppress(OutOfTime), time_limit(grace):
            _last_look(judge, _candidates(progress, answer), progress, made)
        blind = all(c.rare_events for c in made)
        if blind and state.best is not None and answer == "best":
            made = [state.best]  # nothing was seen, and something was known
        certificates = certificates.copy()
        for certificate in made:
            certificates.append(certificate_row(state, certificate))
        infeasible = stop is Stop.LOCALLY_INFEASIBLE  # then nothing but the rows counts
        rank = _violation if infeasible else tolerances.excess
        best = min(made, key=rank, default=best)
        if not infeasible and best is not None and _in_favour(made, state):
            last = made[0]
            if tolerances.excess(last) - tolerances.noise(last) <= tolerances.excess(best):
                best = last
    stop = verdict(stop, best, tolerances)
    seconds = progress.seconds_before + time.perf_counter() - started
    return Outcome(stop, message, progress, best, certificates, seconds)


def _iterate(
    method: JudgedMethod, progress: Progress, budget: Budget, observers: Sequence[Observer]
) -> tuple[Stop, str]:
    """The main loop."""
    state, history = progress.state, progress.history
    while True:
        if state.ended is not None:
            return state.ended, state.message
        if state.k >= budget.max_iter:
            return Stop.ITERATION_LIMIT, ""
        if state.samples >= budget.max_samples and not state.solving:
            return Stop.SAMPLE_LIMIT, ""
        check_time()

        before, state = state, method.step(state)
        progress.state = state
        if state.k > before.k:
            history.append(state.record())
        if state.certificate is not None and state.certificate is not before.certificate:
            progress.note(state.certificate)

        verdicts = [observer(progress) for observer in observers]
        if any(verdicts) and state.ended is None:
            return Stop.INTERRUPTED, next((v for v in verdicts if isinstance(v, str)), "")


def _candidates(progress: Progress, answer: str) -> list[Vector]:
    """The points that may be the answer."""
    state = progress.state
    if answer == "last":
        return [state.x]
    if answer == "random":
        return [progress.drawn]
    if answer == "average" and state.average is not None:
        return [state.average]
    found = [state.x, progress.start]
    if state.average is not None:
        found.append(state.average)
    if state.best is not None:
        found.append(state.best.x)
    return found


def _last_look(
    judge: Judge, points: Sequence[Vector], progress: Progress, made: list[Certificate]
) -> None:
    """Certificates of all points, on one sample, as long as there is time."""
    state = progress.state
    scenarios = min(max(state.samples // 4, LEAST_FINAL), MOST_FINAL)
    if state.exact:
        scenarios = max(scenarios, state.scenarios)
    number = LAST_LOOKS + state.k
    samples = judge.samples(number, scenarios)
    look = Look(number, state.sizes, CONFIDENCE, narrowing=state.narrowed)
    for i, x in enumerate(points):
        if any(np.array_equal(x, earlier) for earlier in points[:i]):
            continue
        y = state.best.y if state.best is not None else np.zeros(state.y.size)
        certificate = judge.certificate(x, y, samples, look)
        if certificate is not None:
            made.append(certificate)


def _in_favour(made: Sequence[Certificate], state: JudgedState) -> bool:
    """Whether the first certificate is that of the solution of a sample larger than its own: then
    the noise of the look must not speak for a point that is the solution of a smaller one."""
    if not made or state.solving or state.average is not None:
        return False
    return state.scenarios > made[0].scenarios and np.array_equal(made[0].x, state.x)


def _violation(certificate: Certificate) -> float:
    return certificate.relative_infeasibility_bound
