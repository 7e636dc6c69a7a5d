r"""Stages: solve on fixed samples that grow, certify every point on scenarios it has never seen.

    sampled phase   Algorithm 1, where it pays
    stage 0, 1, ... draw a fresh sample S_j, larger than the one before
        certify     the first evaluation on S_j judges the current point, and the mean of all
                    samples' solutions with it; good enough: done
        solve       the program of S_j from there, no further than S_j's noise deserves

(retrospective approximation). While the error is larger than the noise of a small sample, a small
sample is as good as a large one; once it is not, second-order steps on a fixed sample waste nothing
of it. Finite data end with the stage of all scenarios, where certificates are exact; a model
without randomness has that stage alone.

The j-th look at a certificate has confidence 1 - 0.05 * 6 / (pi^2 j^2), so that all looks together
have 95 %: a run that looks often is not believed more easily. A certificate whose noise alone
exceeds the tolerance, or that has seen too few scenarios, could not end the run whatever it says:
it is no look.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf, pi
from typing import NamedTuple

import numpy as np

from ..certify import Certificate, Certifier, Sizes, Tolerances
from ..certify.replicates import Replicates, replicates_for, spreads, standard_error
from ..engines import Accuracy, Ending, Engine, Scales
from ..method import Stop
from ..nlp import NLP
from ..oracle import EvaluationIssue, Jacobian, Oracle, ReplicatingOracle, Vector
from .plan import LEAST_SCENARIOS, SMALLEST_GROWTH, finite_sizes, first_points, next_points
from .sample import StageSample, drawn_stage, prefix_stage, whole_stage
from .sampled import SampledPhase, SampledState
from .state import Found, StagedState

#: the share of the error that all looks together may have
ERROR = 0.05
#: a program is solved to this share of its tolerance or of its noise; parts of finite data to this
ACCURACY, PART_ACCURACY = 0.1, 1e-4
#: the exact program is solved to this predicted decrease, in units of the tolerance; once more, to
#: this share of the usual accuracy, if the certificate is not satisfied
EXACT_DECREASE, AGAIN, ATTEMPTS = 1e-4, 1e-3, 3
#: Newton steps of an exact certificate, and the excess from which on it needs none
POLISHING, POLISHED = 3, 1e-4
#: a violation is beyond doubt from this many standard errors, and within the noise up to that many
BEYOND_DOUBT, WITHIN_NOISE = 6.0, 12.0
#: rows in conflict are relaxed by what they violate, this share more, and half a standard error
MARGIN = 1e-6
#: steps along negative curvature, relative to the natural length
LEAVE_SADDLE = 0.1
#: stages in a row that are flat, that no engine could solve, in which spreads have grown without
#: limit, before a run gives up
FLAT_STAGES, FAILED_STAGES, SPREADING_STAGES = 3, 4, 4
#: relative violation up to which leaving a saddle comes first
NEARLY_FEASIBLE = 1e-2
#: least size of the objective for an engine, relative to |f|
OBJECTIVE_SHARE = 1e-3
#: a violation that is smaller by less than this factor is no reason to prefer a point
CLEARLY = 0.9
#: halvings of the way back to a point where functions are defined
MAX_HALVINGS = 40

#: builds an engine: (program, accuracy, sizes) -> Engine
EngineFactory = Callable[[NLP, Accuracy, Scales], Engine]


class Engines(NamedTuple):
    """Engines in the order in which they are tried, each where the one before has failed."""

    #: for programs without sampling error, for the first sample, and for samples that start near
    #: the solution of the one before
    exact: Sequence[EngineFactory]
    first: Sequence[EngineFactory]
    warm: Sequence[EngineFactory]


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
    ):
        self._oracle = oracle
        self._problem = oracle.problem
        self._jacobian = Jacobian(oracle.problem)
        self._certifier = certifier
        self._tolerances = tolerances
        self._engines = engines
        self._sampled = sampled
        self._finite = finite_sizes(oracle.sources)
        self._evenly = isinstance(oracle, ReplicatingOracle) and oracle.spreads_evenly
        self._max_samples = max_samples
        functions = oracle.problem.n + oracle.problem.m
        self._replicates = replicates_for(oracle)
        self._first_points = first_points(functions, costly, self._replicates)
        #: the sample of the current stage: all of it follows from the state
        self._drawn: tuple[tuple[int, int], StageSample] | None = None
        self._running: tuple[tuple[int, int, int], Engine] | None = None

    def start(self, x: Vector) -> StagedState:
        """The state before the first iteration."""
        x = self._problem.project(x)
        return StagedState(
            k=0,
            x=x,
            y=np.zeros(self._problem.m),
            phase="open" if self._sampled is None else "sampled",
            stage=-1,
            sizes=Sizes.none(self._problem)._replace(x=np.abs(x)),
            points=0 if self._finite is not None else self._first_points,
            sampled=None if self._sampled is None else self._sampled.start(x),
        )

    def step(self, state: StagedState) -> StagedState:
        """Open a stage, or one iteration of the current one."""
        if state.phase == "sampled":
            return self._sampled_step(state)
        if state.phase == "open":
            return self._opened(state)
        engine = self._engine(state)
        inner = engine.step(state.engine)
        state = replace(
            state,
            k=state.k + 1,
            x=inner.x,
            y=inner.y,
            engine=inner,
            objective=inner.objective,
            violation=inner.violation,
            step=inner.step,
        )
        return state if inner.ended is None else self._closed(state, inner.ended)

    # -- the sampled phase ------------------------------------------------------------------------

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
            state = self._looked(state, sample)
            if state.ended is not None:
                return state
        return self._started(
            replace(
                state,
                relaxed=None,
                attempts=0,
                engine_number=0,
                opened_x=state.x,
                opened_y=state.y,
                fallback=None,
            )
        )

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
        spread = state.spread
        if state.stage == 0 and not sample.exact:
            spread = spreads(self._oracle, x, 0).f
        largest = np.maximum(state.sizes.x, np.abs(x))
        terms = self._jacobian.times(np.abs(estimate.J), np.where(largest > 0.0, largest, 1.0))
        sizes = state.sizes._replace(
            x=largest,
            rows=np.maximum(state.sizes.rows, terms),
            objective=max(state.sizes.objective, abs(estimate.f)),
        )
        least = max(spread, OBJECTIVE_SHARE * abs(estimate.f))
        state = replace(
            state, x=x, spread=spread, least_objective=least, sizes=sizes, phase="solve"
        )
        return replace(state, engine=self._engine(state).start(x, state.y))

    def _looked(self, state: StagedState, sample: StageSample) -> StagedState:
        """The certificate of the current point on a fresh sample, and what follows from it."""
        confidence = 1.0 - ERROR * 6.0 / (pi * (state.looks + 1)) ** 2
        made = self._certify(state, sample, confidence)
        if isinstance(made, EvaluationIssue):
            return replace(state, blur=None)
        certificate, values = made
        sample.nlp.remember(state.x, values.mean())
        state = self._noted(state, certificate)
        if certificate.scenarios >= LEAST_SCENARIOS and self._tolerances.noise(certificate) <= 1.0:
            state = self._pooled(replace(state, looks=state.looks + 1), sample, certificate)
            if state.best is not None and self._tolerances.met(state.best):
                return replace(state, certificate=state.best, ended=Stop.CONVERGED)
        state = replace(state, spreading=state.spreading + 1 if certificate.spreading else 0)
        if state.spreading >= SPREADING_STAGES:
            return replace(state, ended=Stop.STALLED, message=_SPREADING)
        nearly = certificate.relative_infeasibility <= NEARLY_FEASIBLE
        if certificate.saddle and nearly:
            away = self._problem.project(state.x + LEAVE_SADDLE * certificate.descent)
            return replace(state, x=away)
        return replace(state, blur=ACCURACY * certificate.displacement_error)

    def _pooled(
        self, state: StagedState, sample: StageSample, certificate: Certificate
    ) -> StagedState:
        """The answer of all samples together: those that were solved, and the fresh one.

        To first order the fresh sample's own solution is x + d, and that of all samples the mean of
        their solutions, each weighted by one over its variance: it lies nearer to the truth than
        any of them. It is certified on the fresh sample, which costs an evaluation, and taken if
        that succeeds. That it knows this sample already does not matter: bounds reach from the
        sample's solution, known from the point, to the true one, by the sample's noise.
        """
        if not sample.kept or not certificate.move.any() or certificate.saddle:
            return state
        pooled = self._with_solution(state, sample, state.x + certificate.move)
        assert pooled.pooled is not None
        x = self._problem.project(pooled.pooled / pooled.pooled_weight)
        moved = replace(state, x=x, y=certificate.y)
        made = self._certify(moved, sample, certificate.confidence)
        if isinstance(made, EvaluationIssue) or not self._tolerances.met(made[0]):
            return state
        return replace(moved, certificate=made[0], best=made[0])

    def _certify(
        self, state: StagedState, sample: StageSample, confidence: float
    ) -> tuple[Certificate, Replicates] | EvaluationIssue:
        return self._certifier.certify(
            state.x,
            state.y,
            sample.replicates or sample.samples,
            sample.curvature,
            state.stage,
            state.sizes,
            confidence,
            state.relaxed,
        )

    def _noted(self, state: StagedState, certificate: Certificate) -> StagedState:
        better = self._tolerances.better(certificate, state.best)
        best = certificate if better else state.best
        return replace(state, certificate=certificate, best=best)

    # -- closing a stage --------------------------------------------------------------------------

    def _closed(self, state: StagedState, ending: Ending) -> StagedState:
        """What the end of a solve leads to: a certificate, another engine, the next stage."""
        sizes = state.sizes
        if ending is not Ending.UNBOUNDED:
            sizes = sizes._replace(x=np.maximum(sizes.x, np.abs(state.x)))
        flat = state.flat + 1 if ending is Ending.FLAT else 0
        state = replace(state, sizes=sizes, flat=flat)
        sample = self._sample(state)
        if sample.exact:
            return self._judged(state, sample, ending)
        if ending is Ending.STALLED and not state.attempts and sample.subsampled:
            return self._started(replace(state, attempts=1))
        if ending is not Ending.SOLVED and self._another_engine(state, ending):
            return self._with_next_engine(state, ending)
        if ending is not Ending.SOLVED and state.fallback is not None:
            state, ending = self._better_of_two(state, sample, ending)
        if ending is Ending.UNBOUNDED:
            return replace(state, ended=Stop.UNBOUNDED)
        if state.flat >= FLAT_STAGES:
            return replace(state, ended=Stop.STALLED, message=_FLAT)
        if ending is Ending.SOLVED and self._finite is None:
            state = self._with_solution(state, sample, state.x)
        state = replace(state, failed=0 if ending is Ending.SOLVED else state.failed + 1)
        if state.failed >= FAILED_STAGES:
            return replace(state, ended=Stop.STALLED)
        if ending is Ending.INFEASIBLE:
            return self._conflict(state, sample)
        return self._next(replace(state, infeasible=0))

    def _with_solution(self, state: StagedState, sample: StageSample, x: Vector) -> StagedState:
        """Take the solution of a drawn sample into the sum of all, weighted by one over its
        variance: that of evenly spread scenarios falls at least with the square of their number."""
        weight = float(sample.scenarios) ** (2 if self._evenly else 1)
        return replace(
            state,
            pooled=weight * x if state.pooled is None else state.pooled + weight * x,
            pooled_weight=state.pooled_weight + weight,
        )

    def _judged(self, state: StagedState, sample: StageSample, ending: Ending) -> StagedState:
        """The certificate of the exact program's solution: it needs no fresh scenarios."""
        made = self._certify(state, sample, 1.0 - ERROR)
        if not isinstance(made, EvaluationIssue):
            state, certificate = self._polished(self._noted(state, made[0]), sample, made[0])
            if self._tolerances.met(certificate):
                return replace(state, ended=Stop.CONVERGED)
            if certificate.saddle and self._tolerances.feasible(certificate):
                away = self._problem.project(state.x + LEAVE_SADDLE * certificate.descent)
                state = replace(state, x=away)
        if state.attempts + 1 < ATTEMPTS and ending is Ending.SOLVED:
            return self._started(replace(state, attempts=state.attempts + 1))
        if self._another_engine(state, ending):
            return self._with_next_engine(state, ending)
        if ending is not Ending.SOLVED and state.fallback is not None:
            state, ending = self._better_of_two(state, sample, ending)
        message = _FLAT if ending is Ending.FLAT else ""
        return replace(state, ended=_STOPS.get(ending, Stop.STALLED), message=message)

    def _polished(
        self, state: StagedState, sample: StageSample, certificate: Certificate
    ) -> tuple[StagedState, Certificate]:
        """The certificate's own Newton steps, as long as they make the point better.

        An interior point ends inside its bounds, if only by a hundred-millionth; where the solution
        is exactly zero, that is all there is of it.
        """
        for _ in range(POLISHING):
            if certificate.saddle or self._tolerances.excess(certificate) <= POLISHED:
                break
            x = self._problem.project(state.x + certificate.move)
            made = self._certify(replace(state, x=x, y=certificate.y), sample, 1.0 - ERROR)
            if isinstance(made, EvaluationIssue):
                break
            if self._tolerances.excess(made[0]) >= self._tolerances.excess(certificate):
                break
            if made[0].infeasibility > certificate.infeasibility and not self._tolerances.feasible(
                made[0]
            ):
                break  # a relative violation also shrinks on the way to infinity
            certificate = made[0]
            state = self._noted(replace(state, x=x, y=certificate.y), certificate)
        return state, certificate

    def _factories(self, state: StagedState) -> Sequence[EngineFactory]:
        if state.stage > 0:
            return self._engines.warm
        return self._engines.exact if state.exact else self._engines.first

    def _another_engine(self, state: StagedState, ending: Ending) -> bool:
        """Whether there is one left to ask; two that find rows infeasible are enough."""
        before = None if state.fallback is None else state.fallback.ending
        if ending is before is Ending.INFEASIBLE:
            return False
        return state.engine_number + 1 < len(self._factories(state))

    def _with_next_engine(self, state: StagedState, ending: Ending) -> StagedState:
        """Try the next engine from where the stage was opened; what was found is remembered."""
        assert state.opened_x is not None and state.opened_y is not None
        found = Found(state.x, state.y, ending)
        if state.fallback is not None and state.fallback.ending is Ending.SOLVED:
            found = state.fallback
        return self._started(
            replace(
                state,
                x=state.opened_x,
                y=state.opened_y,
                attempts=0,
                fallback=found,
                engine_number=state.engine_number + 1,
            )
        )

    def _better_of_two(
        self, state: StagedState, sample: StageSample, ending: Ending
    ) -> tuple[StagedState, Ending]:
        """All engines have failed: the point that violates less, or has the lower objective."""
        assert state.fallback is not None
        other = state.fallback

        def badness(x: Vector) -> tuple[float, float]:
            e = sample.nlp.evaluate(x)
            if e.issue is not None or e.f is None:
                return inf, inf
            size = float((self._problem.violation(e.c) / (1.0 + np.abs(e.c))).max(initial=0.0))
            return (0.0 if size < NEARLY_FEASIBLE * self._tolerances.feasibility else size), e.f

        (violation, f), (now, f_now) = badness(other.x), badness(state.x)
        if (violation == 0.0 and (now > 0.0 or f <= f_now)) or CLEARLY * violation <= now:
            return replace(state, x=other.x, y=other.y), other.ending
        return state, ending

    def _conflict(self, state: StagedState, sample: StageSample) -> StagedState:
        """The rows of a sample contradict each other: for good, or within its noise only?"""
        state = replace(state, infeasible=state.infeasible + 1)
        values = [self._oracle.estimate(state.x, part).c for part in sample.replicates]
        if not values or state.relaxed is not None:
            return self._next(state)
        c = np.array(values)
        error = standard_error(c)
        violation = self._problem.violation(c.mean(axis=0))
        surely = state.certificate is not None and self._tolerances.infeasible(state.certificate)
        if surely and (violation > BEYOND_DOUBT * error).any():
            if state.infeasible >= 2:
                return replace(state, ended=Stop.LOCALLY_INFEASIBLE)
        elif (violation <= WITHIN_NOISE * error + 1e-12).all():
            by = np.where(violation > 0.0, violation * (1.0 + MARGIN) + 0.5 * error, 0.0)
            zero = np.zeros(self._problem.m)
            return self._started(replace(state, relaxed=by, y=zero, infeasible=0))
        return self._next(state)

    def _next(self, state: StagedState) -> StagedState:
        points = state.points
        if self._finite is None:
            noise = np.inf
            if state.certificate is not None and state.stage > 0:
                noise = self._tolerances.noise(state.certificate)
            points = next_points(points, noise, self._evenly, self._points_for(LEAST_SCENARIOS))
            left = self._points_left(state)
            if left < points:
                if left < SMALLEST_GROWTH * state.points:
                    return replace(state, ended=Stop.SAMPLE_LIMIT)
                points = int(left)
        return replace(state, phase="open", points=points, engine=None)

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

    # -- what follows from the state --------------------------------------------------------------

    def _sample(self, state: StagedState) -> StageSample:
        key = (state.stage, state.points)
        if self._drawn is None or self._drawn[0] != key:
            self._drawn = None  # the last sample goes before the next one comes
            self._drawn = (key, self._draw(state))
        sample = self._drawn[1]
        if state.attempts and sample.subsampled:
            sample = sample.with_all_curvature()
            self._drawn = (key, sample)
        return sample

    def _draw(self, state: StagedState) -> StageSample:
        if self._finite is None:
            return drawn_stage(self._oracle, state.stage, state.points)
        largest = self._finite[-2] if len(self._finite) > 1 else self._finite[-1]
        sizes = self._finite[state.stage]
        if state.stage == len(self._finite) - 1:
            return whole_stage(self._oracle, sizes, largest)
        return prefix_stage(self._oracle, sizes, largest)

    def _engine(self, state: StagedState) -> Engine:
        key = (state.stage, state.engine_number, 2 * state.attempts + (state.relaxed is not None))
        if self._running is None or self._running[0] != key:
            factory = self._factories(state)[state.engine_number]
            scales = Scales(state.sizes.x, state.least_objective)
            engine = factory(self._sample(state).nlp, self._accuracy(state), scales)
            if state.relaxed is not None:
                engine.relax(state.relaxed)
            self._running = (key, engine)
        return self._running[1]

    def _accuracy(self, state: StagedState) -> Accuracy:
        tolerance = self._tolerances.optimality
        if state.exact:
            factor = AGAIN if state.attempts else 1.0
            return Accuracy(
                ACCURACY * tolerance * factor, EXACT_DECREASE * tolerance * factor, last_step=True
            )
        if self._finite is not None:
            return Accuracy(PART_ACCURACY, PART_ACCURACY**2)
        return Accuracy(ACCURACY * tolerance, (ACCURACY * tolerance) ** 2, state.blur)


_STOPS = {
    Ending.INFEASIBLE: Stop.LOCALLY_INFEASIBLE,
    Ending.UNBOUNDED: Stop.UNBOUNDED,
}

_ELSEWHERE = ", at the starting point: give the variables values where all functions are defined"

_SPREADING = (
    "the more scenarios are drawn, the more single ones weigh: an expectation may not exist; see "
    "the caution below"
)

_FLAT = (
    "the violated rows do not depend on the variables here: start from a point where they do, or "
    "smooth them over a wider range"
)
