r"""A solve with recourse, as Pyomo's results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyomo.contrib.solver.common.results import SolutionStatus
from pyomo.contrib.solver.common.solution_loader import NoSolutionSolutionLoader

from ...declare.recourse import AffineTwoStage
from ...method import Stop
from ...recourse import SharedWork, TwoStageOutcome, read_recourse, solve_recourse
from ...report.two_stage import CertifiedDecision, FinishedTwoStage, TwoStageLog
from .results import TERMINATION, StochSQPResults
from .resume import listed
from .solution import StochSQPSolutionLoader
from .together import Together

Array = NDArray[np.float64]


def solve_two_stage(
    model: Any,
    options: Mapping[str, Any],
    streams: Sequence[Any],
    ranks: Together,
    limited: Callable[[], Any],
) -> StochSQPResults:
    """Read, solve, report; ``limited`` is the time limit of all that."""
    work = SharedWork(options["comm"])
    with limited():
        with ranks.faults():
            program = read_recourse(model, options)
        p = program.origin
        ranks.compare(*_described(program))
        log = TwoStageLog(streams if work.rank == 0 else (), p.sign)
        log.write(_banner(program))
        outcome = solve_recourse(program, options, work, log.stage)
    run = _finished(outcome)
    log.write(f"\nEnded: {run.message}.")
    certified = run.certificate
    if certified is not None:
        log.write(f"Objective    {certified.objective:.8g} +- {certified.objective_error:.1e}")
        log.write(f"Certificate  {certified}")
    log.write(f"\n{outcome.samples} scenarios, {outcome.seconds:.2f} seconds")
    results = _results(model, outcome, run)
    results.solver_log = log.text
    return results


def _described(program: AffineTwoStage) -> tuple[dict[str, str], Array]:
    """What is compared between ranks: names, and numbers that are not random."""
    p = program.origin
    labels = {
        "the list of variables": listed(v.name for v in (*p.first, *p.second)),
        "the list of constraints": listed(
            row.component.name for row in (*p.first_rows, *p.second_rows)
        ),
        "the random source": f"{p.source.name}, {p.source.size}",
    }
    a = program
    entries = (a.A.entries, a.T.entries, a.W.entries, a.c, a.q, a.lower, a.upper)
    numbers = [e.base for e in entries] + [a.x_lower, a.x_upper, a.row_lower, a.row_upper]
    return labels, np.concatenate(numbers)


def _banner(program: AffineTwoStage) -> str:
    p = program.origin
    size = "a distribution" if p.source.size is None else f"{p.source.size} scenarios"
    return (
        f"Two stages: {len(p.first)} variables and {len(p.first_rows)} rows, then "
        f"{len(p.second)} variables and {len(p.second_rows)} rows, over {size}"
    )


def _finished(outcome: TwoStageOutcome) -> FinishedTwoStage:
    p, gap = outcome.program.origin, outcome.gap
    certificate = None
    if gap is not None:
        certificate = CertifiedDecision(gap, p.sign, gap.incomplete)
    return FinishedTwoStage(
        outcome.stop, outcome.message, certificate, outcome.history, outcome.stages,
        outcome.samples, {} if outcome.x is None else _named(p.first, outcome.x),
    )  # fmt: skip


def _named(variables: Sequence[Any], x: Any) -> dict[str, float]:
    return {v.name: float(number) for v, number in zip(variables, x, strict=True)}


@dataclass(frozen=True)
class FirstStage:
    """The part of a two-stage program that a solution is loaded into."""

    model: Any
    variables: Sequence[Any]
    rows: Sequence[Any]
    objective_component: Any
    sign: int
    settled: Sequence[Any] = ()


def _results(model: Any, outcome: TwoStageOutcome, run: FinishedTwoStage) -> StochSQPResults:
    results = StochSQPResults()
    p, gap = outcome.program.origin, outcome.gap
    results.termination_condition = TERMINATION[outcome.stop]
    results.solution_status = _status(outcome)
    info = results.extra_info
    info.seed = outcome.seed
    if gap is not None and np.isfinite(gap.objective):
        info.objective_estimate = results.incumbent_objective = p.sign * gap.objective
        info.objective_standard_error = gap.objective_error
        results.objective_bound = p.sign * (gap.objective - gap.bound)
    else:
        results.objective_bound = -inf * p.sign
    results._describe(run)
    if outcome.x is None:
        results.solution_loader = NoSolutionSolutionLoader(model, run.message)
        return results
    stage = FirstStage(model, p.first, p.first_rows, p.objective_component, p.sign)
    duals = None if outcome.duals is None else p.sign * outcome.duals
    reduced = None if outcome.reduced_costs is None else p.sign * outcome.reduced_costs
    results.solution_loader = StochSQPSolutionLoader(stage, outcome.x, duals, reduced)  # type: ignore[arg-type]
    return results


def _status(outcome: TwoStageOutcome) -> SolutionStatus:
    """Optimal if the gap is certified; infeasible decisions are those of infeasible scenarios."""
    if outcome.x is None:
        return SolutionStatus.noSolution
    if outcome.stop is Stop.CONVERGED:
        return SolutionStatus.optimal
    if outcome.gap is None or outcome.stop is Stop.UNBOUNDED:
        return SolutionStatus.unknown
    return SolutionStatus.infeasible if outcome.gap.infeasible else SolutionStatus.feasible
