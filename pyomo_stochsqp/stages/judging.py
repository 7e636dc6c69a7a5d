r"""What a stage's sample says of a point: the certificate, and what follows from it.

    a fresh sample   judges the current point, and the mean of all samples' solutions with it
    all scenarios    judge exactly; the certificate's own Newton steps make the point better first

Looks are paid for (certify/replicates.py). A certificate whose noise alone exceeds the tolerance,
or that has seen too few scenarios, could not end the run whatever it says: it is no look.
"""

from __future__ import annotations

from dataclasses import replace

from ..certify import Certificate, Certifier, Tolerances
from ..certify.replicates import Values, look_confidence
from ..method import Stop
from ..oracle import EvaluationIssue, Problem
from .plan import LEAST_SCENARIOS
from .sample import StageSample
from .state import StagedState

#: the confidence of an exact certificate: there is nothing to be unsure of
EXACTLY = 1.0
#: a program is solved to this share of its noise
ACCURACY = 0.1
#: Newton steps of an exact certificate, and the excess from which on it needs none
POLISHING, POLISHED = 3, 1e-4
#: an excess that falls by less than this has not fallen; violations that do have
SATURATED, SHRINKS = 0.999, 0.1
#: steps along negative curvature, relative to the natural length
LEAVE_SADDLE = 0.1
#: stages in a row in which spreads have grown without limit, before a run gives up
SPREADING_STAGES = 4
#: relative violation up to which leaving a saddle comes first
NEARLY_FEASIBLE = 1e-2

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
        made = self._certify(state, sample, look_confidence(state.looks + 1))
        if isinstance(made, EvaluationIssue):
            return replace(state, blur=None)
        certificate, values = made
        sample.nlp.remember(state.x, values.mean())
        state = self._noted(state, certificate)
        if certificate.scenarios >= LEAST_SCENARIOS and self._tolerances.noise(certificate) <= 1.0:
            state = self._pooled(replace(state, looks=state.looks + 1), sample, certificate)
            if state.best is not None and self._tolerances.met(state.best):
                return replace(state, certificate=state.best, ended=Stop.CONVERGED)
        spreading = state.in_a_row.spreading + 1 if certificate.spreading else 0
        state = replace(state, in_a_row=state.in_a_row._replace(spreading=spreading))
        if spreading >= SPREADING_STAGES:
            return replace(state, ended=Stop.STALLED, message=_SPREADING)
        if certificate.saddle and certificate.relative_infeasibility_bound <= NEARLY_FEASIBLE:
            return self._left_saddle(state, certificate)
        return replace(state, blur=ACCURACY * certificate.displacement_error)

    def judged(self, state: StagedState, sample: StageSample) -> StagedState:
        """The certificate of the exact program's solution: it needs no fresh scenarios."""
        made = self._certify(state, sample, EXACTLY)
        if isinstance(made, EvaluationIssue):
            return state
        state, certificate = self._polished(self._noted(state, made[0]), sample, made[0])
        if self._tolerances.met(certificate):
            return replace(state, ended=Stop.CONVERGED)
        if certificate.saddle and self._tolerances.feasible(certificate):
            return self._left_saddle(state, certificate)
        return state

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
        made = self._certify(moved, sample, certificate.confidence)
        if isinstance(made, EvaluationIssue) or not self._tolerances.met(made[0]):
            return state
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
            made = self._certify(replace(state, x=x, y=certificate.y), sample, EXACTLY)
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
        """A smaller excess; or, where what is all zero is off by all of its size, smaller errors."""
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

    def _certify(
        self, state: StagedState, sample: StageSample, confidence: float
    ) -> tuple[Certificate, Values] | EvaluationIssue:
        return self._certifier.certify(
            state.x,
            state.y,
            sample.replicates or sample.samples,
            sample.curvature,
            state.stage,
            state.sizes,
            confidence,
            state.attempt.relaxed,
        )
