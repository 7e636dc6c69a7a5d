r"""Stages: solve on fixed samples that grow, certify every point on scenarios it has never seen.

    sampled phase   Algorithm 1, where it pays
    stage 0, 1, ... draw a fresh sample S_j, larger than the one before
        certify     the first evaluation on S_j judges the current point; good enough: done
        solve       the program of S_j from there, no further than S_j's noise deserves

(retrospective approximation). While the error is larger than the noise of a small sample, a small
sample is as good as a large one; once it is not, second-order steps on a fixed sample waste nothing
of it. Finite data end with the stage of all scenarios, where certificates are exact; a model
without randomness has that stage alone.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np

from ..certify import Certifier, Sizes, Tolerances
from ..certify.replicates import replicates_for, standard_error
from ..engines import Ending
from ..method import Stop
from ..oracle import Oracle, PlugInOracle, Vector, spreads_evenly
from ..scaling import Factors
from .judging import Judging
from .plan import LEAST_SCENARIOS, SMALLEST_GROWTH, finite_sizes, first_points, next_points
from .sample import StageSample, drawn_stage, prefix_stage, whole_stage
from .sampled import SampledPhase, SampledState
from .solving import Engines, Solving
from .state import Attempt, InARow, Pool, StagedState

#: how often the exact program is solved, with growing accuracy
ATTEMPTS = 3
#: a violation is beyond doubt from this many standard errors, and within the noise up to that many
BEYOND_DOUBT, WITHIN_NOISE = 6.0, 12.0
#: rows in conflict are relaxed by what they violate, this share more, and half a standard error
MARGIN = 1e-6
#: stages in a row that are flat, that no engine could solve, before a run gives up
FLAT_STAGES, FAILED_STAGES = 3, 4
#: least size of the objective for an engine, relative to |f|
OBJECTIVE_SHARE = 1e-3
#: an objective whose size has fallen below this share is solved for once more
SHRUNK = 0.1
#: iterations of an engine on second derivatives of a part of the scenarios before it gets all
SLOW = 25
#: halvings of the way back to a point where functions are defined
MAX_HALVINGS = 40


class Staged:
    """The method: ``state = method.step(state)``."""

    def __init__(
        self,
        oracle: Oracle,
        certifier: Certifier,
        tolerances: Tolerances,
        engines: Engines,
        sampled: SampledPhase | None = None,
        costly: bool = False,
        max_samples: float = inf,
        factors: Factors | None = None,
    ):
        """``factors`` are the user's scales; None leaves them to the engines."""
        self._oracle = oracle
        self._problem = oracle.problem
        self._certifier = certifier
        self._tolerances = tolerances
        self._finite = finite_sizes(oracle.sources)
        self._judging = Judging(oracle.problem, certifier, tolerances)
        self._solving = Solving(
            oracle.problem, tolerances, engines, self._finite is not None, factors
        )
        #: a length that variables are said to have
        self._lengths = np.zeros(oracle.problem.n) if factors is None else factors.variables
        self._sampled = sampled
        self._max_samples = max_samples
        functions = oracle.problem.n + oracle.problem.m
        self._replicates = replicates_for(oracle)
        self._first_points = first_points(functions, costly, self._replicates)
        self._plug_in = oracle if isinstance(oracle, PlugInOracle) else None
        #: the sample of the current stage: all of it follows from the state
        self._drawn: tuple[tuple[int, int, int], StageSample] | None = None

    def start(self, x: Vector) -> StagedState:
        """The state before the first iteration."""
        x = self._problem.project(x)
        return StagedState(
            k=0,
            x=x,
            y=np.zeros(self._problem.m),
            phase="open" if self._sampled is None else "sampled",
            stage=-1,
            sizes=Sizes.none(self._problem).with_point(np.maximum(np.abs(x), self._lengths)),
            pool=Pool(np.zeros_like(x)),
            attempt=Attempt(x, np.zeros(self._problem.m)),
            in_a_row=InARow(),
            points=0 if self._finite is not None else self._first_points,
            sampled=None if self._sampled is None else self._sampled.start(x),
        )

    def step(self, state: StagedState) -> StagedState:
        """Open a stage, or one iteration of the current one."""
        if state.phase == "sampled":
            return self._sampled_step(state)
        if state.phase == "open":
            return self._opened(state)
        sample = self._sample(state)
        self._judging.recalled(state, sample)
        state, ending = self._solving.stepped(state, sample)
        if ending is not None:
            return self._closed(state, ending)
        if sample.subsampled and state.attempt.inner.k >= SLOW:
            return self._with_all_curvature(state)
        return state

    def _sampled_step(self, state: StagedState) -> StagedState:
        assert self._sampled is not None
        sampled: SampledState = self._sampled.step(state.sampled)
        inner = sampled.inner
        if inner.issue is not None:
            # Algorithm 1 was meant to help; without it the stages start where the user did.
            return replace(state, k=inner.k, phase="open", sampled=None, samples=inner.samples)
        state = replace(
            state,
            k=inner.k,
            x=inner.x,
            samples=inner.samples,
            sampled=sampled,
            scenarios=inner.scenarios,
            violation=inner.violation,
            step=inner.step,
        )
        if not sampled.settled:
            return state
        return replace(state, x=sampled.average.mean, phase="open", sampled=None)

    # -- opening a stage --------------------------------------------------------------------------

    def _opened(self, state: StagedState) -> StagedState:
        """Draw the sample of the next stage, judge the point by it, start the engine."""
        state = replace(state, stage=state.stage + 1)
        sample = self._sample(state)
        state = replace(
            state, samples=state.samples + sample.scenarios, scenarios=sample.scenarios,
            exact=sample.exact,
        )  # fmt: skip
        if sample.replicates and state.stage > 0:
            state = self._judging.looked(state, sample)
            if state.ended is not None:
                return state
        return self._started(replace(state, attempt=Attempt(state.x, state.y)))

    def _started(self, state: StagedState) -> StagedState:
        """Start the engine at the current point, or at the nearest one where it can."""
        sample = self._sample(state)
        x, estimate = state.x, sample.nlp.evaluate(state.x)
        back = self._problem.project(self._problem.x0) if state.best is None else state.best.x
        for _ in range(MAX_HALVINGS):
            if estimate.issue is None or state.stage == 0:
                break
            x = 0.5 * (x + back)
            estimate = sample.nlp.evaluate(x)
        if estimate.issue is not None and state.stage == 0:
            # often a variable is at a bound where a logarithm or a root ends
            x = self._problem.inside(x)
            estimate = sample.nlp.evaluate(x)
        if estimate.issue is not None:
            return replace(
                state, issue=estimate.issue, ended=Stop.EVALUATION_ERROR,
                message=f"{estimate.issue}{_ELSEWHERE if state.stage == 0 else ''}",
            )  # fmt: skip
        assert estimate.f is not None
        least = self._least_objective(state, sample, x, estimate.f)
        sizes = state.sizes.with_point(x, estimate.f)
        attempt = state.attempt._replace(f=estimate.f)
        state = replace(state, x=x, least_objective=least, sizes=sizes, attempt=attempt)
        return self._solving.started(state, sample)

    def _least_objective(
        self, state: StagedState, sample: StageSample, x: Vector, f: float
    ) -> float:
        known = state.certificate
        if state.exact:
            spread = 0.0
        elif known is not None and known.x is x:
            spread = known.objective_spread
        else:
            spread = self._certifier.objective_spread(x, state.stage, sample.samples)
        return max(spread, OBJECTIVE_SHARE * abs(f))

    # -- closing a stage --------------------------------------------------------------------------

    def _closed(self, state: StagedState, ending: Ending) -> StagedState:
        """What the end of a solve leads to: a certificate, another engine, the next stage."""
        if ending is not Ending.UNBOUNDED:
            state = replace(state, sizes=state.sizes.with_point(state.x))
        flat = state.in_a_row.flat + 1 if ending is Ending.FLAT else 0
        state = replace(state, in_a_row=state.in_a_row._replace(flat=flat))
        sample = self._sample(state)
        resized = ending is Ending.SOLVED and self._has_shrunk(state, sample)
        if sample.exact:
            return self._finished(state, sample, ending, resized)
        if resized:
            return self._resized(state)
        if ending is Ending.STALLED and sample.subsampled:
            return self._with_all_curvature(state)
        if ending is not Ending.SOLVED and self._solving.another(state, ending):
            return self._started(self._solving.with_next(state, sample, ending))
        state, ending = self._solving.best_of_all(state, sample, ending)
        if ending is Ending.UNBOUNDED:
            return replace(state, ended=Stop.UNBOUNDED)
        if flat >= FLAT_STAGES:
            return replace(state, ended=Stop.STALLED, message=_FLAT)
        if ending is Ending.SOLVED:
            state = replace(state, pool=state.pool.with_solution(state.x, sample.weight))
        failed = 0 if ending is Ending.SOLVED else state.in_a_row.failed + 1
        state = replace(state, in_a_row=state.in_a_row._replace(failed=failed))
        if failed >= FAILED_STAGES:
            return replace(state, ended=Stop.STALLED)
        if ending is Ending.INFEASIBLE:
            return self._conflict(state, sample)
        return self._next(replace(state, in_a_row=state.in_a_row._replace(infeasible=0)))

    def _has_shrunk(self, state: StagedState, sample: StageSample) -> bool:
        """Whether the engine has compared its last decrease with what the objective once was."""
        f = sample.nlp.evaluate(state.x).f
        if f is None or not abs(f) < SHRUNK * abs(state.attempt.f):
            return False
        return self._least_objective(state, sample, state.x, f) < SHRUNK * state.least_objective

    def _finished(
        self, state: StagedState, sample: StageSample, ending: Ending, resized: bool
    ) -> StagedState:
        """The program of all scenarios is solved: is the certificate satisfied?"""
        narrowed = state.narrowed
        state = self._judging.judged(state, sample)
        if state.ended is not None:
            return state
        if state.narrowed > narrowed:
            return self._started(replace(state, attempt=Attempt(state.x, state.y)))
        if resized:
            return self._resized(state)
        if sample.subsampled and ending in (Ending.SOLVED, Ending.STALLED):
            return self._with_all_curvature(state)
        if state.attempt.again + 1 < ATTEMPTS and ending is Ending.SOLVED:
            return self._again(state)
        if self._solving.another(state, ending):
            return self._started(self._solving.with_next(state, sample, ending))
        state, ending = self._solving.best_of_all(state, sample, ending)
        message = _FLAT if ending is Ending.FLAT else ""
        return replace(state, ended=_STOPS.get(ending, Stop.STALLED), message=message)

    def _resized(self, state: StagedState) -> StagedState:
        """The same engine once more, for an objective that has become small."""
        attempt = state.attempt._replace(resized=state.attempt.resized + 1)
        return self._started(replace(state, attempt=attempt))

    def _again(self, state: StagedState) -> StagedState:
        """The same engine once more, more accurately."""
        attempt = state.attempt._replace(again=state.attempt.again + 1)
        return self._started(replace(state, attempt=attempt))

    def _with_all_curvature(self, state: StagedState) -> StagedState:
        """The same engine once more from here, with the second derivatives of all scenarios: a few
        of them may decide what those of the others do not tell."""
        return self._started(replace(state, attempt=state.attempt._replace(all_curvature=True)))

    def _conflict(self, state: StagedState, sample: StageSample) -> StagedState:
        """The rows of a sample contradict each other: for good, or within its noise only?"""
        infeasible = state.in_a_row.infeasible + 1
        state = replace(state, in_a_row=state.in_a_row._replace(infeasible=infeasible))
        values = [self._oracle.estimate(state.x, part).c for part in sample.replicates]
        if not values or state.attempt.relaxed is not None:
            return self._next(state)
        c = np.array(values)
        error = standard_error(c)
        violation = self._problem.violation(c.mean(axis=0))
        surely = state.certificate is not None and self._tolerances.infeasible(state.certificate)
        if surely and (violation > BEYOND_DOUBT * error).any():
            if infeasible >= 2:
                return replace(state, ended=Stop.LOCALLY_INFEASIBLE)
        elif (violation <= WITHIN_NOISE * error + 1e-12).all():
            by = np.where(violation > 0.0, violation * (1.0 + MARGIN) + 0.5 * error, 0.0)
            in_a_row = state.in_a_row._replace(infeasible=0)
            attempt = state.attempt._replace(relaxed=by)
            y = np.zeros(self._problem.m)
            return self._started(replace(state, attempt=attempt, y=y, in_a_row=in_a_row))
        return self._next(state)

    def _next(self, state: StagedState) -> StagedState:
        points = state.points
        if self._finite is None:
            noise = np.inf
            if state.certificate is not None and state.stage > 0:
                noise = self._tolerances.noise(state.certificate)
            points = next_points(
                points, noise, spreads_evenly(self._oracle), self._points_for(LEAST_SCENARIOS)
            )
            left = self._points_left(state)
            if left < points:
                if left < SMALLEST_GROWTH * state.points:
                    return replace(state, ended=Stop.SAMPLE_LIMIT)
                points = int(left)
        attempt = state.attempt._replace(inner=None)
        return replace(state, phase="open", points=points, attempt=attempt)

    def _points_left(self, state: StagedState) -> float:
        """Points of a replicate that the limit on scenarios still allows."""
        left = self._max_samples - state.samples
        return left // self._drawn_together if left < inf else inf

    def _points_for(self, scenarios: int) -> int:
        """Points of a replicate that make up at least so many scenarios."""
        return -(-scenarios // self._drawn_together)

    @property
    def _drawn_together(self) -> int:
        """Scenarios of one point of every replicate and source."""
        return self._replicates * max(len(self._oracle.sources), 1)

    # -- the sample of a state --------------------------------------------------------------------

    def _sample(self, state: StagedState) -> StageSample:
        if self._plug_in is not None:
            self._plug_in.narrow(state.narrowed)
        key = (state.stage, state.points, state.narrowed)
        if self._drawn is None or self._drawn[0] != key:
            self._drawn = None  # the last sample goes before the next one comes
            self._drawn = (key, self._draw(state))
        sample = self._drawn[1]
        if state.attempt.all_curvature and sample.subsampled:
            sample = sample.with_all_curvature()
            self._drawn = (key, sample)
        return sample

    def _draw(self, state: StagedState) -> StageSample:
        if self._finite is None:
            return drawn_stage(self._oracle, state.stage, state.points)
        sizes = self._finite[state.stage]
        if state.stage == len(self._finite) - 1:
            return whole_stage(self._oracle, sizes)
        return prefix_stage(self._oracle, sizes)


_STOPS = {
    Ending.INFEASIBLE: Stop.LOCALLY_INFEASIBLE,
    Ending.UNBOUNDED: Stop.UNBOUNDED,
}

_ELSEWHERE = ", at the starting point: give the variables values where all functions are defined"

_FLAT = (
    "the violated rows do not depend on the variables here: start from a point where they do, or "
    "smooth them over a wider range"
)
