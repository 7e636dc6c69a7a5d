r"""What a solve returns: Pyomo's Results, filled, with the history, the certificate and a plot."""

from __future__ import annotations

from typing import Any

from pyomo.common.config import ADVANCED_OPTION, ConfigValue
from pyomo.contrib.solver.common.results import Results, SolutionStatus, TerminationCondition

from ..report import Certificate, History, Outcome, Stop, Tolerances

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

#: ends after which the last point is no candidate for a solution
ASTRAY = (Stop.UNBOUNDED, Stop.EVALUATION_ERROR)


class RunReport:
    """Shared by the results of both interfaces: what a run leaves beyond Pyomo's own fields."""

    _outcome: Outcome

    @property
    def history(self) -> History:
        """One row per iteration: ``history["violation"]``, ``history.to_pandas()``."""
        return self._outcome.history

    @property
    def certificates(self) -> History:
        """One row per certified point."""
        return self._outcome.certificates

    @property
    def certificate(self) -> Certificate | None:
        """The certificate of the point that was returned."""
        return self._outcome.best

    @property
    def iteration_count(self) -> int:
        """Iterations made."""
        return int(self._outcome.state.k)

    @property
    def message(self) -> str:
        """Why the run ended, in one sentence."""
        return sentence(self._outcome)

    def plot(self, path: Any = None, title: str | None = None) -> Any:
        """Draw the run (extra ``plot``); save it if a path (.png, .svg, .pdf) is given."""
        from ..report.plot import plot_run

        return plot_run(self.history, self.certificates, path, title)


class StochSQPResults(RunReport, Results):
    """The results of the new interface."""

    # ConfigDict turns attributes into entries, so the outcome lives in one.
    @property
    def _outcome(self) -> Outcome:  # type: ignore[override]
        return self.extra_info.get("outcome").value()

    @classmethod
    def of(cls, outcome: Outcome, tolerances: Tolerances, sign: int, seed: int) -> StochSQPResults:
        """Everything that follows from the outcome."""
        results = cls()
        best = outcome.best
        results.termination_condition = TERMINATION[outcome.stop]
        results.solution_status = solution_status(outcome, tolerances)
        found = results.solution_status is not SolutionStatus.infeasible
        if best is not None and found and outcome.stop not in ASTRAY:
            results.incumbent_objective = sign * best.objective
        info = results.extra_info
        info.iteration_count = outcome.state.k
        info.samples = outcome.state.samples
        info.seed = seed
        info.message = sentence(outcome)
        if best is not None:
            info.infeasibility = best.infeasibility
            info.stationarity = best.stationarity
            info.infeasibility_bound = best.infeasibility_bound
            info.stationarity_bound = best.stationarity_bound
            info.objective_estimate = sign * best.objective
            info.objective_standard_error = best.objective_error
        for name, value in (
            ("history", outcome.history),
            ("certificates", outcome.certificates),
            ("certificate", best),
            ("outcome", outcome),
        ):
            info.add(name, ConfigValue(value, visibility=ADVANCED_OPTION))
        return results


def solution_status(outcome: Outcome, tolerances: Tolerances) -> SolutionStatus:
    """What the certificate says of the point, at its level of confidence.

    The point is feasible if the upper bound of its infeasibility is below the tolerance, infeasible
    if the lower bound is above it. In between the samples do not tell, and the status is unknown.
    """
    best = outcome.best
    if outcome.stop is Stop.LOCALLY_INFEASIBLE:
        return SolutionStatus.infeasible
    if best is None or outcome.stop in ASTRAY:
        return SolutionStatus.unknown
    if outcome.stop is Stop.CONVERGED or tolerances.met(best):
        return SolutionStatus.optimal
    if best.relative_infeasibility <= tolerances.feasibility:
        return SolutionStatus.feasible
    lower = 2.0 * best.infeasibility / best.infeasibility_bound - 1.0
    if lower * best.relative_infeasibility > tolerances.feasibility:
        return SolutionStatus.infeasible
    return SolutionStatus.unknown


def sentence(outcome: Outcome) -> str:
    """Why the run ended."""
    detail = f" ({outcome.message})" if outcome.message else ""
    return f"{outcome.stop.value}{detail}"
