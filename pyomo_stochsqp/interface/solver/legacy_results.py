r"""The results of the legacy interface: Pyomo's SolverResults, filled from the new ones."""

from __future__ import annotations

from collections.abc import Collection
from math import isfinite
from typing import Any

from pyomo.common.collections import ComponentMap
from pyomo.contrib.solver.common.results import (
    SolutionStatus,
    legacy_solution_status_map,
    legacy_solver_status_map,
    legacy_termination_condition_map,
)
from pyomo.core.base import NumericLabeler, SymbolMap
from pyomo.core.base.suffix import Suffix
from pyomo.opt.results.results_ import SolverResults
from pyomo.opt.results.solution import Solution
from pyomo.opt.results.solver import SolverStatus
from pyomo.opt.results.solver import TerminationCondition as LegacyTermination

from .results import RunReport, StochSQPResults


class LegacyStochSQPResults(RunReport, SolverResults):
    """SolverResults with the log, the history, the certificate and the plot of the run."""

    _log = ""

    @property
    def solver_log(self) -> str:
        """What ``tee=True`` shows."""
        return self._log


def legacy_results(results: StochSQPResults, model: Any) -> LegacyStochSQPResults:
    """Everything but the solution."""
    legacy = LegacyStochSQPResults()
    condition = results.termination_condition
    solver, problem = legacy.solver, legacy.problem
    # emptyModel is unknown to Pyomo's own tables
    solver.status = legacy_solver_status_map.get(condition, SolverStatus.warning)
    solver.termination_condition = legacy_termination_condition_map.get(
        condition, LegacyTermination.other
    )
    legacy._run = results._run
    if results.solution_status is not SolutionStatus.noSolution:
        _sizes(problem, results)
    legacy._log = results.solver_log or ""
    solver.name = results.solver_name
    solver.message = solver.termination_message = results.extra_info.message
    solver.time = solver.wallclock_time = results.timing_info.wall_time
    problem.name = model.name
    # Plain dictionaries: a ConfigDict would keep the results from being pickled.
    legacy.timing_info = results.timing_info.value()
    return legacy


def _sizes(problem: Any, results: StochSQPResults) -> None:
    program = results.solution_loader.program
    problem.number_of_variables = len(program.variables)
    problem.number_of_constraints = len(program.rows)
    problem.number_of_objectives = 0 if program.objective_component is None else 1
    problem.sense = "minimize" if program.sign > 0 else "maximize"
    if program.sign > 0:
        problem.upper_bound = results.incumbent_objective
    else:
        problem.lower_bound = results.incumbent_objective


def wanted_suffixes(model: Any, asked: Collection[str]) -> set[str]:
    """'dual' and 'rc', where asked for or declared on the model to be imported."""
    wanted = set(asked)
    for name in ("dual", "rc"):
        component = model.component(name)
        if component is not None and component.ctype is Suffix and component.import_enabled():
            wanted.add(name)
    return wanted


def solution_of(results: StochSQPResults, suffixes: Collection[str]) -> tuple[Solution, SymbolMap]:
    """The point as a legacy Solution, which ``model.solutions.load_from`` can read."""
    loader = results.solution_loader
    solution = Solution()
    symbols = SymbolMap()
    symbols.default_labeler = NumericLabeler("x")
    solution.status = legacy_solution_status_map(results)
    solution.message = results.extra_info.message
    rc = ComponentMap()
    if "rc" in suffixes and loader.has_duals:
        rc.update(loader.get_reduced_costs())
    for var, number in loader.get_vars().items():
        entry = {"Value": number}
        if var in rc:
            entry["Rc"] = rc[var]
        solution.variable[symbols.getSymbol(var)] = entry
    if "dual" in suffixes and loader.has_duals:
        for row, number in loader.get_duals().items():
            solution.constraint[symbols.getSymbol(row)] = {"Dual": number}
    objective = results.extra_info.get("objective_estimate")
    component = loader.program.objective_component
    if component is not None and objective is not None and isfinite(objective.value()):
        solution.objective[symbols.getSymbol(component)] = {"Value": objective.value()}
    return solution, symbols
