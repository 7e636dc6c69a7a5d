r"""What a stage's sample says of a point: the certificate, and what follows from it.

    a fresh sample   judges the current point, and the mean of all samples' solutions with it
    all scenarios    judge exactly; the certificate's own Newton steps make the point better first

Looks are paid for (certify/replicates.py). A certificate whose noise alone exceeds the tolerance,
or that has seen too few scenarios, could not end the run whatever it says: it is no look.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..certify import Certificate, Certifier, Look, Tolerances
from ..certify.replicates import Values, look_confidence
from ..method import Stop
from ..oracle import NARROWEST, EvaluationIssue, Problem
from .plan import LEAST_SCENARIOS
from .sample import StageSample
from .state import Pool, StagedState

#: the confidence of an exact certificate: there is nothing to be unsure of
EXACTLY = 1.0
#: a program is solved to this share of its noise
ACCURACY = 0.1
#: Newton steps of an exact certificate, and the excess from which on it needs none
POLISHING, POLISHED = 3, 1e-4
#: an excess that second derivatives of a part of the scenarios may understate
UNSURE = 1e-2
#: an excess that falls by less than this has not fallen; violations that do have
SATURATED, SHRINKS = 0.999, 0.1
#: steps along negative curvature, relative to the natural length
LEAVE_SADDLE = 0.1
#: stages in a row in which spreads have grown without limit, before a run gives up
SPREADING_STAGES = 4
#: relative violation up to which leaving a saddle comes first
NEARLY_FEASIBLE = 1e-2

_NARROWER = "rounding kinks off changes the answer: now over a quarter of the width"
_KINKS = "the answer depends on how closely kinks are rounded off: it may lie on one"
_SPREADING = (
    "the more scenarios are drawn, the more single ones weigh: an expectation may not exist; see "
    "the caution below"
)


class Judging:
    """Makes the certificates of a staged run."""

    def __init__(self, problem: Problem, certifier: Certifier, tolerances: Tolerances):
        self._problem = problem
        self._certifier = certifier
        self._tolerances = tolerances

    def looked(self, state: StagedState, sample: StageSample) -> StagedState:
        """The certificate of the current point on a fresh sample."""
        look = self._look(state, look_confidence(state.looks + 1))
        made = self._certify(state, sample, look)
        if isinstance(made, EvaluationIssue):
            return replace(state, blur=None)
        certificate, values = made
        sample.nlp.remember(state.x, values.mean())
        state = self._noted(state, certificate)
        if certificate.scenarios >= LEAST_SCENARIOS and self._tolerances.noise(certificate) <= 1.0:
            state = self._pooled(replace(state, looks=state.looks + 1), sample, certificate)
            if state.best is not None and self._tolerances.met(state.best):
                state = self._converged(replace(state, certificate=state.best), sample)
                if state.ended is not None or state.certificate is not certificate:
                    return state
        spreading = state.in_a_row.spreading + 1 if certificate.spreading else 0
        state = replace(state, in_a_row=state.in_a_row._replace(spreading=spreading))
        if spreading >= SPREADING_STAGES:
            return replace(state, ended=Stop.STALLED, message=_SPREADING)
        if certificate.saddle and certificate.relative_infeasibility_bound <= NEARLY_FEASIBLE:
            return self._left_saddle(state, certificate)
        return replace(state, blur=ACCURACY * certificate.displacement_error)

    def recalled(self, state: StagedState, sample: StageSample) -> None:
        """What a look has left behind is there again when a run is continued after it: the mean of
        replicates has not the last digits that all scenarios together have."""
        known, attempt = state.certificate, state.attempt
        first = attempt.inner.k == 0 and not (attempt.number or attempt.resized or attempt.again)
        if not (first and sample.replicates and known is not None) or sample.nlp.knows(state.x):
            return
        if np.array_equal(known.x, state.x):
            made = self._certify(state, sample, self._look(state, known.confidence))
            if not isinstance(made, EvaluationIssue):
                sample.nlp.remember(state.x, made[1].mean())

    def judged(self, state: StagedState, sample: StageSample) -> StagedState:
        """The certificate of the exact program's solution: it needs no fresh scenarios."""
        made = self._certify(state, sample, self._look(state, EXACTLY))
        if isinstance(made, EvaluationIssue):
            return state
        state, certificate = self._polished(self._noted(state, made[0]), sample, made[0])
        if sample.subsampled and UNSURE < self._tolerances.excess(certificate) <= 1.0:
            return self.judged(state, sample.with_all_curvature())
        if self._tolerances.met(certificate):
            return self._converged(state, sample)
        if certificate.saddle and self._tolerances.feasible(certificate):
            return self._left_saddle(state, certificate)
        return state

    def _converged(self, state: StagedState, sample: StageSample) -> StagedState:
        """The last certificate is good enough; but is what it says of rounded kinks true of kinks?

        If not, they are rounded off less from now on, unless that is noise: then a larger sample
        will tell.
        """
        known = state.certificate
        assert known is not None
        if not self._certifier.rounded:
            return replace(state, ended=Stop.CONVERGED)
        state = replace(state, x=known.x, y=known.y)
        look = self._look(state, known.confidence, narrowing=state.narrowed)
        made = self._certify(state, sample, look)
        if isinstance(made, EvaluationIssue):
            return replace(state, best=None)
        # multipliers are known better from more scenarios: those within the wider kinks
        certificate = replace(made[0], y=known.y, reduced_costs=known.reduced_costs)
        state = replace(state, certificate=certificate, best=certificate)
        if self._tolerances.met(certificate):
            return replace(state, ended=Stop.CONVERGED)
        noisy = self._certify(state, sample, replace(look, noise_of_kinks=True))
        if isinstance(noisy, EvaluationIssue):
            return state
        if self._tolerances.noise(noisy[0]) > 1.0:
            return replace(state, certificate=noisy[0])
        if state.narrowed == NARROWEST:
            return replace(state, ended=Stop.STALLED, message=_KINKS)
        pool = Pool(np.zeros_like(state.x))
        return replace(state, narrowed=state.narrowed + 1, pool=pool, note=_NARROWER)

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
        pool = state.pool.with_solution(state.x + certificate.move, sample.weight)
        moved = replace(state, x=self._problem.project(pool.mean), y=certificate.y)
        made = self._certify(moved, sample, self._look(moved, certificate.confidence))
        if isinstance(made, EvaluationIssue) or not self._tolerances.met(made[0]):
            return state
        sample.nlp.remember(moved.x, made[1].mean())
        return replace(moved, certificate=made[0], best=made[0])

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
            there = replace(state, x=x, y=certificate.y)
            made = self._certify(there, sample, self._look(there, EXACTLY))
            if isinstance(made, EvaluationIssue):
                break
            if not self._is_better(made[0], certificate):
                break
            if made[0].infeasibility > certificate.infeasibility and not self._tolerances.feasible(
                made[0]
            ):
                break  # a relative violation also shrinks on the way to infinity
            certificate = made[0]
            state = self._noted(replace(state, x=x, y=certificate.y), certificate)
        return state, certificate

    def _is_better(self, c: Certificate, than: Certificate) -> bool:
        """A smaller excess; or, where what is all zero is off by its whole size, smaller errors."""
        new, old = self._tolerances.excess(c), self._tolerances.excess(than)
        if new >= SATURATED * old:
            return new <= old and c.violation_bound.sum() < SHRINKS * than.violation_bound.sum()
        return True

    def _left_saddle(self, state: StagedState, certificate: Certificate) -> StagedState:
        return replace(state, x=self._problem.project(state.x + LEAVE_SADDLE * certificate.descent))

    def _noted(self, state: StagedState, certificate: Certificate) -> StagedState:
        better = self._tolerances.better(certificate, state.best)
        best = certificate if better else state.best
        return replace(state, certificate=certificate, best=best)

    def _look(self, state: StagedState, confidence: float, narrowing: int | None = None) -> Look:
        return Look(state.stage, state.sizes, confidence, state.attempt.relaxed, narrowing)

    def _certify(
        self, state: StagedState, sample: StageSample, look: Look
    ) -> tuple[Certificate, Values] | EvaluationIssue:
        samples = sample.replicates or sample.samples
        return self._certifier.certify(state.x, state.y, samples, sample.curvature, look)
