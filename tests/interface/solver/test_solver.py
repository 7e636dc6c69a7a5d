"""The new interface: results, loading, termination, logs."""

import io
import logging
import pickle

import numpy as np
import pyomo.environ as pyo
import pytest
from pyomo.contrib.solver.common.factory import SolverFactory
from pyomo.contrib.solver.common.results import Results, SolutionStatus, TerminationCondition
from pyomo.contrib.solver.common.util import NoOptimalSolutionError

import pyomo_stochsqp
from pyomo_stochsqp.errors import StochSQPError
from tests.interface.models import (
    TILT_DUAL,
    TILT_X,
    WHATEVER_THE_END,
    circle,
    regression,
    regression_answer,
    tilting,
)

#: sixty iterations of Algorithm 1
SIXTY = {
    "algorithm": "stochsqp", "batch_growth": "constant", "batch_size": 64, "max_iter": 60
}  # fmt: skip


@pytest.fixture
def solver():
    solver = SolverFactory("stochsqp")
    solver.config.set_value(WHATEVER_THE_END)
    return solver


def test_registered(solver):
    assert solver.available()
    assert ".".join(map(str, solver.version())) == pyomo_stochsqp.__version__
    assert not solver.is_persistent()
    assert "stochsqp" in SolverFactory


def test_a_sampled_model(solver):
    m = tilting()
    results = solver.solve(m, batch_size=256, seed=1)
    assert m.x.value == pytest.approx(TILT_X, abs=5e-3)
    assert m.dual[m.tilt] == pytest.approx(TILT_DUAL, abs=1e-2)
    assert m.rc[m.x] == 0.0
    assert not m.x.stale
    assert isinstance(results, Results)


def test_results_are_filled(solver):
    m = tilting()
    # feasible within a tenth, but never optimal
    results = solver.solve(m, seed=7, tol_feas=0.1, tol_opt=1e-9, **SIXTY)
    assert results.solution_status is SolutionStatus.feasible
    assert results.solver_name == "stochsqp"
    assert results.solver_version == solver.version()
    assert results.termination_condition is TerminationCondition.iterationLimit
    assert results.incumbent_objective == pytest.approx(m.x.value**2)
    assert results.objective_bound == -np.inf
    assert results.timing_info.wall_time > 0
    assert results.timing_info.start_timestamp is not None
    assert results.extra_info.iteration_count == results.iteration_count == 60
    assert results.extra_info.seed == 7
    assert len(results.history) == len(results.extra_info.history) == 60
    assert results.certificate is results.extra_info.certificate
    np.testing.assert_array_equal(results.certificate.x, [m.x.value])
    assert results.solver_log.count("\n") > 20
    assert results.solver_config.batch_size == 64
    assert "iteration limit" in results.message
    assert "outcome" not in _displayed(results)


def test_a_point_that_is_certified_infeasible_is_no_incumbent(solver):
    """Sixty iterations on batches of 64 leave 1e-2 of the row, far above the tolerance."""
    results = solver.solve(tilting(), seed=7, tol_feas=1e-6, **SIXTY)
    assert results.solution_status is SolutionStatus.infeasible
    assert results.incumbent_objective is None


def test_results_of_stages_are_filled(solver):
    m = tilting()
    results = solver.solve(m, seed=7)
    assert results.termination_condition is TerminationCondition.convergenceCriteriaSatisfied
    assert results.solution_status is SolutionStatus.optimal
    assert results.incumbent_objective == pytest.approx(m.x.value**2)
    info = results.extra_info
    assert info.iteration_count == results.iteration_count == len(results.history)
    assert info.samples == results.history["samples"][-1] + results.certificate.scenarios
    assert info.objective_estimate == results.incumbent_objective
    assert info.objective_standard_error == 0.0  # nothing in it is random
    assert len(results.certificates) == results.history["stage"][-1] + 1
    assert "optimal, certified within the tolerances" in results.message
    certificate = results.certificate
    np.testing.assert_array_equal(certificate.x, [m.x.value])
    assert not certificate.exact and 0.95 < certificate.confidence < 1.0
    assert abs(m.x.value - TILT_X) <= certificate.displacement[0]
    assert certificate.y == pytest.approx([-m.dual[m.tilt]])


def _displayed(results):
    text = io.StringIO()
    results.display(ostream=text)
    return text.getvalue()


def test_finite_data_is_solved_exactly(solver):
    m = regression()
    results = solver.solve(m, seed=1)
    x, dual = regression_answer(m)
    assert results.termination_condition is TerminationCondition.convergenceCriteriaSatisfied
    assert results.solution_status is SolutionStatus.optimal
    np.testing.assert_allclose([m.x[j].value for j in range(3)], x, atol=1e-5)
    assert m.dual[m.total] == pytest.approx(dual, abs=1e-4)
    assert results.incumbent_objective == pytest.approx(pyo.value(m.fit), abs=1e-6)


def test_a_point_that_is_not_loaded_can_be_loaded_later(solver):
    m = circle()
    results = solver.solve(m, load_solutions=False)
    assert m.x.value == -0.5
    assert not list(m.dual)
    assert results.solution_loader.get_vars()[m.x] == pytest.approx(-1.0, abs=1e-5)
    assert list(results.solution_loader.get_vars([m.y])) == [m.y]
    results.solution_loader.load_vars()
    assert m.x.value == pytest.approx(-1.0, abs=1e-5)
    results.solution_loader.load_import_suffixes()
    assert m.dual[m.on] == pytest.approx(-0.5, abs=1e-5)


def test_budgets_do_not_raise_and_load_the_best_point(solver):
    for budget in ({"max_iter": 5}, {"max_samples": 500}, {"time_limit": 0}, {"max_iter": 0}):
        m = tilting()
        m.x.set_value(0.6)
        results = solver.solve(m, seed=1, **budget)
        limits = (TerminationCondition.iterationLimit, TerminationCondition.maxTimeLimit)
        assert results.termination_condition in limits
        assert 0.3 < m.x.value < 1.2


def test_time_limit_has_its_own_condition(solver):
    results = solver.solve(tilting(), time_limit=0)
    assert results.termination_condition is TerminationCondition.maxTimeLimit
    assert results.iteration_count == 0


def test_raising_can_be_asked_for(solver):
    with pytest.raises(NoOptimalSolutionError, match="the iteration limit was reached"):
        solver.solve(
            tilting(),
            max_iter=3,
            algorithm="stochsqp",
            batch_growth="constant",
            raise_exception_on_nonoptimal_result=True,
        )


def test_a_model_without_variables(solver):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=1.0)
    m.x.fix()
    m.obj = pyo.Objective(expr=m.x**2)
    results = solver.solve(m, load_solutions=False)
    assert results.termination_condition is TerminationCondition.emptyModel
    assert results.solution_status is SolutionStatus.noSolution


@pytest.mark.parametrize("interface", ["new", "legacy"])
def test_time_that_is_up_while_the_model_is_read(interface):
    m = pyo.ConcreteModel()
    n = 10_000
    m.x = pyo.Var(range(n), initialize=1.0)
    m.obj = pyo.Objective(expr=sum(pyo.exp(m.x[i] - i) for i in range(n)))
    m.row = pyo.Constraint(range(n - 1), rule=lambda m, i: m.x[i] * m.x[i + 1] >= 1)
    make = SolverFactory if interface == "new" else pyo.SolverFactory
    results = make("stochsqp").solve(
        m, time_limit=1e-3, load_solutions=False, raise_exception_on_nonoptimal_result=False
    )
    condition = results.termination_condition if interface == "new" else results.solver
    assert "axTimeLimit" in str(condition)
    assert "read and compiled" in results.message
    assert results.iteration_count == results.samples == len(results.history) == 0
    assert results.certificate is None and not len(results.certificates)
    with pytest.raises(StochSQPError, match="nothing to plot"):
        results.plot()


def test_maximisation(solver):
    m = circle(pyo.maximize)
    results = solver.solve(m)
    assert results.incumbent_objective == pytest.approx(5.0, abs=1e-4)
    assert results.objective_bound == np.inf
    assert m.x.value == pytest.approx(-1.0, abs=1e-4)


def test_same_seed_same_run_and_a_drawn_seed_is_reported(solver):
    one = solver.solve(tilting(), seed=5, max_iter=80)
    two = solver.solve(tilting(), seed=5, max_iter=80)
    other = solver.solve(tilting(), max_iter=80)
    np.testing.assert_array_equal(one.history.table, two.history.table)
    assert not np.array_equal(one.history.table, other.history.table)
    seed = other.extra_info.seed
    assert f"Seed         {seed} (drawn)" in other.solver_log
    again = solver.solve(tilting(), seed=seed, max_iter=80)
    np.testing.assert_array_equal(other.history.table, again.history.table)


def test_tee_takes_streams_and_loggers(solver, capsys, caplog):
    stream = io.StringIO()
    logger = logging.getLogger("test.stochsqp")
    with caplog.at_level(logging.INFO, logger="test.stochsqp"):
        results = solver.solve(circle(), tee=[True, stream, logger])
    assert stream.getvalue() == results.solver_log
    assert capsys.readouterr().out == results.solver_log
    assert [r.getMessage() for r in caplog.records] == results.solver_log.splitlines()
    solver.solve(circle())
    assert capsys.readouterr().out == ""


def test_the_log_names_the_model_and_the_means(solver):
    log = solver.solve(tilting(), seed=3, max_iter=5).solver_log
    assert "tilting: minimise, 1 variable, 1 constraint (1 with expectations)" in log
    assert "Sources      w (drawn)" in log
    assert "Method       stages" in log
    assert "Seed         3\n" in log
    assert "Tolerances   0.001 (constraints), 0.001 (objective)" in log
    assert "Limits       5 iterations, 1e+09 scenarios" in log
    assert "row tilt within" in log and "x within" in log
    log = solver.solve(tilting(), seed=3, max_iter=5, algorithm="stochsqp").solver_log
    assert "Method       Algorithm 1, dense" in log


def test_nothing_stays_for_the_next_solve(solver):
    before = solver.config.value()
    solver.solve(tilting(), max_iter=5, batch_size=8, time_limit=3, solver_options={"seed": 3})
    after = solver.config.value()
    assert before == after
    assert solver.solve(tilting(), max_iter=2).extra_info.seed != 3


def test_later_ways_of_giving_an_option_win(solver):
    solver.config.algorithm = "stochsqp"
    solver.config.batch_growth = "constant"
    solver.config.max_iter = 3
    assert solver.solve(tilting()).iteration_count == 3
    assert solver.solve(tilting(), solver_options={"max_iter": 4}).iteration_count == 4
    options = {"max_iter": 4}
    assert solver.solve(tilting(), solver_options=options, max_iter=5).iteration_count == 5
    solver.config.solver_options["max_iter"] = 6
    assert solver.solve(tilting()).iteration_count == 6


def test_variables_outside_the_problem_keep_their_values_and_are_stale(solver):
    m = circle()
    m.unused = pyo.Var(initialize=3.0)
    m.fixed = pyo.Var(initialize=2.0)
    m.fixed.fix()
    solver.solve(m)
    assert m.unused.value == 3.0 and m.unused.stale
    assert m.fixed.value == 2.0
    assert not m.x.stale


def test_evaluation_errors_end_the_run_with_a_message(solver):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=-1.0)
    m.obj = pyo.Objective(expr=pyo.log(m.x))
    results = solver.solve(m)
    assert results.termination_condition is TerminationCondition.error
    assert results.solution_status is SolutionStatus.unknown
    assert "obj" in results.message
    assert m.x.value == -1.0


def test_results_and_configuration_can_be_pickled(solver):
    results = solver.solve(tilting(), max_iter=5, load_solutions=False)
    again = pickle.loads(pickle.dumps(results.solver_config))
    assert again.max_iter == 5


def test_plot_and_table(solver, tmp_path):
    pytest.importorskip("matplotlib")
    for options in ({}, SIXTY):
        results = solver.solve(tilting(), seed=1, **options)
        results.plot(tmp_path / "run.svg", title="tilting")
        assert (tmp_path / "run.svg").stat().st_size > 10_000
        assert len(results.history.as_dict()["violation"]) == results.iteration_count
    assert results.iteration_count == 60
