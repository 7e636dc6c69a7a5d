r"""The solver of Pyomo's new interface (``pyomo.contrib.solver``)."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from math import inf
from timeit import default_timer
from typing import Any

from pyomo.common.timing import HierarchicalTimer
from pyomo.contrib.solver.common.base import Availability, SolverBase
from pyomo.contrib.solver.common.results import SolutionStatus, TerminationCondition
from pyomo.contrib.solver.common.solution_loader import NoSolutionSolutionLoader
from pyomo.contrib.solver.common.util import NoOptimalSolutionError, NoSolutionError
from pyomo.core.staleflag import StaleFlagManager

from ...compile.cache import CompilerCache
from ...deadline import OutOfTime, time_limit
from ...declare.recourse import NotAffineError
from ...declare.recourse_block import with_recourse
from ...errors import EmptyModelError, InfeasibleModelError
from ...report.finished import FinishedRun
from ...run import Outcome
from ...run.checkpoint import Checkpoint, load, looks_like_one
from ...run.safe_file import SafeFile
from ...solve import Task, read, set_up
from ...version import version_tuple
from ..options.config import StochSQPConfig, given_options
from ..options.table import validated, without_effect
from .rescue import load_what_is_left
from .results import StochSQPResults
from .resume import continued
from .session import run_session
from .smooth_recourse import solve_smooth
from .solution import StochSQPSolutionLoader
from .threads import linear_algebra_threads
from .together import Together
from .two_stage import solve_two_stage

#: seconds that a model may take to read whatever the time limit: then there is a point to return
LEAST_TO_READ = 0.15


class StochSQP(SolverBase):
    """Stochastic SQP for models with expectations, as a Pyomo solver.

    >>> import pyomo.environ as pyo, scipy.stats as st
    >>> from pyomo.contrib.solver.common.factory import SolverFactory
    >>> from pyomo_stochsqp import E, RandomParam
    >>> m = pyo.ConcreteModel()
    >>> m.x = pyo.Var(initialize=0.5)
    >>> m.w = RandomParam(distribution=st.norm(1, 1))
    >>> m.obj = pyo.Objective(expr=m.x**2)
    >>> m.tilt = pyo.Constraint(expr=E(pyo.exp(m.x * m.w)) == 2.718281828)
    >>> results = SolverFactory("stochsqp").solve(m, batch_size=256, seed=1, max_iter=500)
    >>> round(m.x.value, 1)
    0.7
    """

    CONFIG = StochSQPConfig()

    def __init__(self, **kwds: Any):
        super().__init__(**kwds)
        self._compiler = CompilerCache()

    def available(self) -> Availability:
        """Always: the solver is this package."""
        return Availability.FullLicense

    def version(self) -> tuple[int, ...]:
        """The version of this package."""
        return version_tuple()

    def solve(self, model: Any, **kwds: Any) -> StochSQPResults:
        """Solve a model. Keywords are the entries of ``config``, for this solve only."""
        began, version = default_timer(), self.version()
        stamp = datetime.datetime.now(datetime.timezone.utc)
        config = self.config(value=kwds, preserve_implicit=True)
        timer = config.timer = config.timer or HierarchicalTimer()
        given = given_options(self.config, config, kwds)
        limit = inf if config.time_limit is None else config.time_limit
        StaleFlagManager.mark_all_as_stale()
        recourse = with_recourse(model)
        found: list[StochSQPResults] = []
        with (
            linear_algebra_threads(given.get("threads", 1)),
            Together(given.get("comm")) as ranks,
        ):
            try:
                if recourse:
                    results = _with_recourse(model, given, config, ranks, began + limit)
                else:
                    results = self._solved(model, given, config, ranks, began + limit, found)
            except EmptyModelError as error:
                results = _without_a_run(model, TerminationCondition.emptyModel, str(error))
            except InfeasibleModelError as error:
                results = _without_a_run(model, TerminationCondition.provenInfeasible, str(error))
            except OutOfTime:
                results = _without_a_run(model, TerminationCondition.maxTimeLimit, _COMPILING)
            except BaseException as error:
                if found:  # Ctrl-C just now: the run is over
                    error.solution_loader = found[0].solution_loader  # type: ignore[attr-defined]
                if config.load_solutions:
                    load_what_is_left(error)
                raise
        results.solver_name = self.name
        results.solver_version = version
        results.solver_config = config
        results.timing_info.start_timestamp = stamp
        results.timing_info.timer = timer
        results.timing_info.wall_time = default_timer() - began
        _conclude(results, config)
        return results

    def _solved(
        self,
        model: Any,
        given: dict[str, Any],
        config: StochSQPConfig,
        ranks: Together,
        deadline: float,
        found: list[StochSQPResults],
    ) -> StochSQPResults:
        """The results, which are put into ``found`` before files and processes are closed."""
        checkpoint = None
        with ranks.faults():
            if given.get("resume") is not None and ranks.leads:
                checkpoint = load(given["resume"])
                given = continued(given, checkpoint)
            options = validated(given)
        options = ranks.common(options)
        with ExitStack() as stack:
            with ranks.faults():
                file = _checkpoint_file(options, ranks, stack)
            found.append(
                self._run(model, given, options, config, ranks, deadline, checkpoint, file, stack)
            )
        return found[0]

    def _run(
        self,
        model: Any,
        given: Mapping[str, Any],
        options: Mapping[str, Any],
        config: StochSQPConfig,
        ranks: Together,
        deadline: float,
        checkpoint: Checkpoint | None,
        file: SafeFile | None,
        stack: ExitStack,
    ) -> StochSQPResults:
        start = ranks.shared(None if checkpoint is None else checkpoint.start)
        with _until(deadline, LEAST_TO_READ), _timed(config.timer, "prepare"):
            with ranks.faults():
                task = stack.enter_context(closing(read(model, options, start, self._compiler)))
            ranks.join(task)
        log = ""
        with _timed(config.timer, "run"):
            if ranks.leads:
                with ranks.leading() as outcomes:
                    with _until(deadline, LEAST_TO_READ):
                        setup = set_up(task)
                    left = max(0.0, deadline - default_timer())
                    setup = replace(setup, budget=replace(setup.budget, time_limit=left))
                    idle = without_effect(given, options)
                    outcome, log = run_session(setup, options, config.tee, checkpoint, idle, file)
                    outcomes.append(outcome)
            else:
                outcome = ranks.served()
        results = _results(task, outcome)
        results.solver_log = log
        return results


def _checkpoint_file(
    options: Mapping[str, Any], ranks: Together, stack: ExitStack
) -> SafeFile | None:
    """Where rank 0 writes checkpoints; refused here if it cannot be written."""
    if options["checkpoint"] is None or not ranks.leads:
        return None
    return stack.enter_context(SafeFile(options["checkpoint"], looks_like_one))


def _with_recourse(
    model: Any, given: dict[str, Any], config: StochSQPConfig, ranks: Together, deadline: float
) -> StochSQPResults:
    with ranks.faults():
        options = validated(given)
    options = ranks.common(options)

    def limited() -> AbstractContextManager[None]:
        return _until(deadline, LEAST_TO_READ)

    with _timed(config.timer, "run"):
        with suppress(NotAffineError):
            return solve_two_stage(model, options, config.tee, ranks, limited)
        return solve_smooth(model, options, config.tee, limited, deadline)


@contextmanager
def _timed(timer: HierarchicalTimer, name: str) -> Iterator[None]:
    timer.start(name)
    try:
        yield
    finally:
        timer.stop(name)


def _until(deadline: float, at_least: float) -> AbstractContextManager[None]:
    """The time limit of what comes before the run."""
    return time_limit(max(deadline - default_timer(), at_least))


def _results(task: Task, outcome: Outcome) -> StochSQPResults:
    program = task.program
    problem = task.oracle.problem
    run = FinishedRun(outcome, problem.variable_names, problem.row_names, program.sign)
    results = StochSQPResults.of(run, task.tolerances, task.seed)
    results.objective_bound = -inf * program.sign
    if program.objective_component is None:
        # Pyomo's convention for a model without an objective.
        results.incumbent_objective = results.objective_bound = None
    if outcome.best is not None:
        results.solution_loader = StochSQPSolutionLoader.of(program, problem, outcome.best)
    else:
        results.solution_loader = StochSQPSolutionLoader(program, outcome.state.x)
    return results


_COMPILING = "The time limit was reached while the model was read and compiled; Vars are unchanged."


def _without_a_run(model: Any, condition: TerminationCondition, message: str) -> StochSQPResults:
    results = StochSQPResults.without_a_run(condition, message)
    results.solution_loader = NoSolutionSolutionLoader(model, message)
    return results


def _conclude(results: StochSQPResults, config: StochSQPConfig) -> None:
    """Raise or load, as the configuration asks."""
    if (
        config.raise_exception_on_nonoptimal_result
        and results.solution_status is not SolutionStatus.optimal
    ):
        raise NoOptimalSolutionError(
            f"{NoOptimalSolutionError.default_message} The run ended because "
            f"{results.extra_info.message}."
        )
    if config.load_solutions:
        if results.solution_status is SolutionStatus.noSolution:
            raise NoSolutionError(results.extra_info.message)
        results.solution_loader.load_solution()
