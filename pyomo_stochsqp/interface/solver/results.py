r"""What a solve returns: Pyomo's Results, filled, with the history, the certificate and a plot."""

from __future__ import annotations

from typing import Any

from pyomo.common.config import ADVANCED_OPTION, ConfigValue
from pyomo.contrib.solver.common.results import Results, SolutionStatus, TerminationCondition

from ...certify import Tolerances
from ...method import Stop
from ...recourse import Decision, Policy
from ...report.certified import CertifiedPoint
from ...report.finished import FinishedRun, NoRun
from ...report.two_stage import CertifiedDecision, FinishedTwoStage
from ...run import History, Outcome
from ...run.verdict import ASTRAY
from ...text_table import html_of

TERMINATION = {
    Stop.CONVERGED: TerminationCondition.convergenceCriteriaSatisfied,
    Stop.ITERATION_LIMIT: TerminationCondition.iterationLimit,
    Stop.SAMPLE_LIMIT: TerminationCondition.iterationLimit,
    Stop.TIME_LIMIT: TerminationCondition.maxTimeLimit,
    Stop.STALLED: TerminationCondition.minStepLength,
    Stop.LOCALLY_INFEASIBLE: TerminationCondition.locallyInfeasible,
    Stop.UNBOUNDED: TerminationCondition.unbounded,
    Stop.EVALUATION_ERROR: TerminationCondition.error,
    Stop.INTERRUPTED: TerminationCondition.interrupted,
}


class RunReport:
    """Shared by the results of both interfaces: what a run leaves beyond Pyomo's own fields."""

    _run: FinishedRun | FinishedTwoStage | NoRun

    @property
    def history(self) -> History:
        """One row per iteration: ``history["violation"]``, ``history.to_pandas()``."""
        return self._run.history

    @property
    def certificates(self) -> History:
        """One row per certified point."""
        return self._run.certificates

    @property
    def certificate(self) -> CertifiedPoint | CertifiedDecision | None:
        """What is certified of the point that was returned; prints as a sentence."""
        return self._run.certificate

    @property
    def iteration_count(self) -> int:
        """Iterations made."""
        return self._run.iterations

    @property
    def warnings(self) -> tuple[str, ...]:
        """What went wrong beside the run, such as a checkpoint that could not be written."""
        return self._run.warnings

    @property
    def samples(self) -> int:
        """Scenarios drawn."""
        return self._run.samples

    @property
    def message(self) -> str:
        """Why the run ended, in one sentence."""
        return self._run.message

    def plot(self, path: Any = None, title: str | None = None) -> Any:
        """Draw the run (extra ``plot``); save it if a path (.png, .svg, .pdf) is given."""
        return self._run.plot(path, title)

    def policy(self, model: Any, numbers: Any = None) -> Policy | Decision:
        """The second stage at the decision found: ``results.policy(m, {m.demand: 9})`` solves it
        for one scenario, ``results.policy(m)`` is a function that does so again and again."""
        made = Policy(model, self._run.decision)
        return made if numbers is None else made(numbers)

    def _repr_html_(self) -> str:
        return html_of(self._run.shown())


class StochSQPResults(RunReport, Results):
    """The results of the new interface."""

    # ConfigDict turns attributes into entries, so the run lives in one.
    @property
    def _run(self) -> FinishedRun | FinishedTwoStage | NoRun:  # type: ignore[override]
        return self.extra_info.get("run").value()

    @classmethod
    def without_a_run(cls, condition: TerminationCondition, message: str) -> StochSQPResults:
        """What there is to say before the first iteration."""
        results = cls()
        results.termination_condition = condition
        results._describe(NoRun(message))
        return results

    @classmethod
    def of(cls, run: FinishedRun, tolerances: Tolerances, seed: int) -> StochSQPResults:
        """Everything that follows from the outcome."""
        results = cls()
        outcome, best = run.outcome, run.certificate
        results.termination_condition = TERMINATION[outcome.stop]
        results.solution_status = solution_status(outcome, tolerances)
        found = results.solution_status is not SolutionStatus.infeasible
        if best is not None and found and outcome.stop not in ASTRAY:
            results.incumbent_objective = best.objective
        info = results.extra_info
        info.seed = seed
        if best is not None:
            info.objective_estimate = best.objective
            info.objective_standard_error = best.objective_error
        results._describe(run)
        return results

    def _describe(self, run: FinishedRun | FinishedTwoStage | NoRun) -> None:
        info = self.extra_info
        info.iteration_count, info.samples, info.message = run.iterations, run.samples, run.message
        for name, value in (
            ("history", run.history),
            ("certificates", run.certificates),
            ("certificate", run.certificate),
            ("run", run),
        ):
            info.add(name, ConfigValue(value, visibility=ADVANCED_OPTION))


def solution_status(outcome: Outcome, tolerances: Tolerances) -> SolutionStatus:
    """What the certificate says of the point, at its level of confidence.

    The point is feasible if the upper bound of its infeasibility is below the tolerance, infeasible
    if the lower bound is above it. In between the samples do not tell, and the status is unknown.
    """
    best = outcome.best
    if outcome.stop is Stop.CONVERGED:
        return SolutionStatus.optimal
    if outcome.stop is Stop.LOCALLY_INFEASIBLE:
        return SolutionStatus.infeasible
    if best is None or outcome.stop in ASTRAY:
        return SolutionStatus.unknown
    if tolerances.feasible(best):
        return SolutionStatus.feasible
    return SolutionStatus.infeasible if tolerances.infeasible(best) else SolutionStatus.unknown
