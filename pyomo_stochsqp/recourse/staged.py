r"""Two-stage programs in stages: samples that grow, each certifying what the one before has found.

Stage j draws R independent samples of n scenarios, solves the problem of each, and compares the
decision of the stage before, which has never seen them, with the bounds that these problems prove
(gap.py). If the gap is small enough, that decision is the answer. Otherwise the next one is the
best of a few (candidates.py) on all R n scenarios.

What is large decides what grows: if most of the bound is noise, R; if it is the gap itself, which
holds the bias of small samples too, n.

The gap is known more closely than the objective, for its two parts see the same scenarios. So in
the end the objective is measured anew, on as many fresh scenarios as its standard error needs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import ceil, inf, sqrt
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from ..deadline import OutOfTime, seconds_left
from ..declare.recourse import AffineTwoStage
from ..method import Stop
from ..run.history import History
from ..value_function import Cut
from .candidates import best_of, candidates, nearest
from .gap import Gap, certified
from .infeasible import why_infeasible
from .outcome import COLUMNS, TwoStageOutcome, history_row
from .programs import SampledSolver, Status
from .replicates import CUTS, Replicate, Replicates
from .scenarios import Drawing
from .shared_work import SharedWork

Array = NDArray[np.float64]

FIRST_SIZE, FIRST_REPLICATES, MOST_REPLICATES = 16, 16, 64
#: replicates that can certify a decision if time ends before the others are through
FEWEST = 8
#: the standard error of the objective, relative to the gap that is wanted; how many scenarios more
#: than the stages may be spent on it, and how many where each of them is an integer program
ERROR, SPENT, SPENT_ON_INTEGERS = 0.5, 100, 5
#: rounds of moving a decision to where everything seen is feasible
ROUNDS = 60


@dataclass(frozen=True)
class Settings:
    """What a run is to be like."""

    gap: float
    seed: int
    sampling: str = "auto"
    max_samples: float = inf


Watcher = Callable[[int, int, Gap | None, int, float], None]


class Staged:
    """One run; see the module's docstring."""

    def __init__(
        self,
        program: AffineTwoStage,
        settings: Settings,
        solver: SampledSolver,
        work: SharedWork,
        watcher: Watcher | None = None,
    ):
        self._p, self._settings, self._work = program, settings, work
        drawing = Drawing(program, settings.seed, settings.sampling)
        self._replicates = Replicates(program, drawing, solver, work)
        self._watch = watcher
        self._cuts: list[Cut] = []
        self._incomplete = False
        self._samples = self._stage = 0
        self._best: tuple[Array, Gap] | None = None
        self._duals: tuple[Array | None, Array | None] = (None, None)
        self._last: Array | None = None
        self._history = History(COLUMNS)
        self._began = perf_counter()

    def run(self) -> TwoStageOutcome:
        """Until the gap is small enough, or a limit is reached."""
        with self._work.patiently():
            try:
                stop, message = self._stages()
            except OutOfTime:
                stop, message = Stop.TIME_LIMIT, ""
            except KeyboardInterrupt:
                stop, message = Stop.INTERRUPTED, "Ctrl-C was pressed"
            x, gap = (self._last, None) if self._best is None else self._best
            if x is None and stop in (Stop.TIME_LIMIT, Stop.INTERRUPTED):
                x = self._work.any_of(self._replicates.some)
        return TwoStageOutcome(
            self._p, stop, message, x, gap, *self._duals, self._samples, self._stage,
            perf_counter() - self._began, self._settings.seed, self._history,
        )  # fmt: skip

    def _stages(self) -> tuple[Stop, str]:
        n, R = FIRST_SIZE, FIRST_REPLICATES
        x: Array | None = None
        while True:
            if self._stage and self._samples + n * R > self._settings.max_samples:
                return Stop.SAMPLE_LIMIT, ""
            started = perf_counter()
            self._stage += 1
            found = self._replicates.solved(self._stage, n, R, x, self._cuts)
            self._samples += n * len(found)
            ended = self._ended(found)
            if ended is not None:
                return ended
            if x is None and self._watch is not None:
                self._watch(self._stage, n, None, self._samples, perf_counter() - self._began)
            if x is not None and len(found) >= FEWEST:
                gap = self._certify(found, x, n)
                if gap.relative <= self._settings.gap:
                    self._measure(x, gap, n)
                    return Stop.CONVERGED, ""
            solutions = [r.solved.x for r in found if r.solved.x.size]
            if len(found) < R or not solutions:
                if x is None and solutions:
                    self._last = candidates(self._p, np.array(solutions), None)[0]
                raise OutOfTime
            self._keep_duals(found)
            x = self._last = self._next(np.array(solutions), x, n, R)
            n, R = self._grown(n, R, perf_counter() - started)

    # -- one stage --------------------------------------------------------------------------------

    def _ended(self, found: Sequence[Replicate]) -> tuple[Stop, str] | None:
        """What sample problems prove of the whole one."""
        statuses = {r.solved.status for r in found}
        if Status.INFEASIBLE in statuses:
            self._best = self._last = None
            return why_infeasible(self._p, "all scenarios of a sample")
        if Status.UNBOUNDED in statuses:
            return Stop.UNBOUNDED, "the problem of a sample is unbounded"
        if Status.FAILED in statuses:
            return Stop.STALLED, "the LP solver has failed on the problem of a sample"
        if any(np.isneginf(r.value) for r in found):
            return Stop.UNBOUNDED, "the second stage is unbounded in a scenario"
        return None

    def _certify(self, found: Sequence[Replicate], x: Array, n: int) -> Gap:
        values = np.array([r.value for r in found])
        bounds = np.array([r.solved.bound for r in found])
        gap = certified(values, bounds, self._stage - 1, n * len(found))
        infeasible = sum(r.infeasible for r in found)
        if infeasible:
            self._incomplete = True
            self._cuts += [cut for r in found for cut in r.cuts][: 4 * CUTS]
        gap = replace(
            gap, infeasible=infeasible, row=self._blamed(found), incomplete=self._incomplete
        )
        if self._best is None or gap.bound <= self._best[1].bound:
            self._best = x, gap
        seconds = perf_counter() - self._began
        sign = self._p.origin.sign
        self._history.append(history_row(self._stage, n, gap, self._samples, seconds, sign))
        if self._watch is not None:
            self._watch(self._stage, n, gap, self._samples, seconds)
        return gap

    def _measure(self, x: Array, gap: Gap, n: int) -> None:
        """The objective of x, with a standard error that is small beside the gap."""
        wanted = ERROR * self._settings.gap * gap.size
        spent = SPENT_ON_INTEGERS if self._p.y_integer.any() else SPENT
        most = min(self._settings.max_samples, spent * self._samples)
        while gap.objective_error > wanted:
            n = ceil(n * min(max(1.2 * (gap.objective_error / wanted) ** 2, 2.0), 16.0))
            if self._samples + n * FIRST_REPLICATES > most:
                break

            try:
                values = self._replicates.measured(n, FIRST_REPLICATES, x)
            except OutOfTime:
                break
            self._samples += n * FIRST_REPLICATES
            error = float(values.std(ddof=1)) / sqrt(FIRST_REPLICATES)
            gap = replace(gap, objective=float(values.mean()), objective_error=error)
            if not np.isfinite(gap.objective):
                break
            self._best = x, gap

    def _blamed(self, found: Sequence[Replicate]) -> str:
        rows = [row for r in found for row in r.rows if row >= 0]
        if not rows:
            return ""
        row = max(set(rows), key=rows.count)
        return str(self._p.origin.second_rows[row].component.name)

    def _keep_duals(self, found: Sequence[Replicate]) -> None:
        """Of the first stage's rows, the mean over the replicates."""
        m = self._p.row_lower.size
        duals = [r.solved.row_duals for r in found]
        if all(d is not None for d in duals):
            mean = np.mean([d[:m] for d in duals if d is not None], axis=0)
            self._duals = mean, None

    # -- the next decision ------------------------------------------------------------------------

    def _next(self, solutions: Array, before: Array | None, n: int, R: int) -> Array:
        found = candidates(self._p, solutions, before)
        spread = np.maximum(solutions.std(axis=0), 1e-6 * (1.0 + np.abs(solutions).max(axis=0)))

        def values(x: Array, which: Sequence[int]) -> Array:
            each = self._replicates.values(self._stage, n, x, which)
            for _, infeasible, cuts in each:
                if infeasible:
                    self._incomplete = True
                    self._cuts += cuts
            return np.array([value for value, _, _ in each])

        x = best_of(found, R, values)
        return self._searched(x, spread, n, R) if self._incomplete else x

    def _searched(self, x: Array, spread: Array, n: int, R: int) -> Array:
        """Moved to where the second stage is feasible in many scenarios."""
        for _ in range(ROUNDS):
            moved = nearest(self._p, x, self._cuts, spread)
            if moved is None:
                return x
            x = moved
            cuts = self._replicates.searched(self._stage, n, R, x)
            if not cuts:
                break
            self._cuts += _deepest(cuts, x)
        return x

    # -- what comes next --------------------------------------------------------------------------

    def _grown(self, n: int, R: int, seconds: float) -> tuple[int, int]:
        """The next stage: as large as seems useful, as the time left allows."""
        gap = self._best[1] if self._best is not None else None
        factor = 4
        noisy = gap is not None and np.isfinite(gap.bound) and gap.noise > 2.0 * gap.estimate
        if noisy and R < MOST_REPLICATES:
            R, factor = 2 * R, 2
        left, seconds = self._work.agreed((seconds_left(), seconds))
        predicted = seconds * (R / FIRST_REPLICATES if R > FIRST_REPLICATES else 1.0)
        while factor > 1 and predicted * factor**1.5 > 0.9 * left:
            factor -= 1
        if predicted <= 0.9 * left:
            return ceil(n * factor), R
        if gap is not None or left <= 0.0:
            raise OutOfTime
        # nothing is certified yet, and a small sample certifies, too
        return max(ceil(0.7 * n * left / predicted), 2), R


def _deepest(cuts: Sequence[Cut], x: Array) -> list[Cut]:
    """Those that x violates most."""
    order = sorted(cuts, key=lambda cut: cut.limit - float(cut.slope @ x))
    return list(order[:CUTS])
