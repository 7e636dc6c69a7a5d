"""The legacy interface: every old keyword works, nothing leaks, statuses instead of exceptions."""

import pickle
import subprocess
import sys

import pyomo.environ as pyo
import pytest
from pyomo.opt import SolverStatus, TerminationCondition

from pyomo_stochsqp import E, RandomParam
from pyomo_stochsqp.errors import OptionError
from pyomo_stochsqp.interface.solver.legacy import LegacyStochSQP
from tests.interface.models import TILT_DUAL, TILT_X, circle, tilting

#: Algorithm 1 makes as many iterations as one wants
FIXED = {"algorithm": "stochsqp", "batch_growth": "constant", "batch_size": 16, "seed": 1}


@pytest.fixture
def opt():
    return pyo.SolverFactory("stochsqp")


def test_registered(opt):
    assert isinstance(opt, LegacyStochSQP)
    assert opt.available() and opt.license_is_valid() and opt.warm_start_capable() and bool(opt)
    assert opt.version()[:3] == opt._solver.version()
    assert opt.has_capability("nonlinear") and not opt.has_capability("integer")
    assert opt.default_variable_value() is None
    assert opt.name == "stochsqp"


def test_a_sampled_model(opt):
    m = tilting()
    results = opt.solve(m, batch_size=256, seed=1)
    assert m.x.value == pytest.approx(TILT_X, abs=5e-3)
    assert m.dual[m.tilt] == pytest.approx(TILT_DUAL, abs=1e-2)
    assert len(results.history) == results.iteration_count
    assert results.certificate.x[0] == m.x.value


def test_a_converged_run_is_optimal(opt):
    m = circle()
    results = opt.solve(m)
    pyo.assert_optimal_termination(results)
    assert results.solver.status == SolverStatus.ok
    assert results.solver.termination_condition == TerminationCondition.optimal
    assert results.problem.number_of_variables == 2
    assert results.problem.upper_bound == pytest.approx(-5.0, abs=1e-5)


def test_a_budget_is_no_error(opt):
    results = opt.solve(tilting(), max_iter=3, **FIXED)
    assert results.solver.termination_condition == TerminationCondition.maxIterations
    results = opt.solve(tilting(), timelimit=0)
    assert results.solver.termination_condition == TerminationCondition.maxTimeLimit
    assert results.iteration_count == 0


def test_options_by_keyword_dictionary_attribute_and_text(opt):
    assert opt.solve(tilting(), max_iter=3, **FIXED).iteration_count == 3
    assert opt.solve(tilting(), options={"max_iter": 4, **FIXED}).iteration_count == 4
    opt.options["max_iter"] = 5
    opt.options.algorithm = "stochsqp"
    opt.options.batch_growth = "constant"
    assert opt.solve(tilting()).iteration_count == 5
    assert opt.solve(tilting(), options={"max_iter": 6}).iteration_count == 6
    assert opt.solve(tilting(), options={"max_iter": 6}, max_iter=7).iteration_count == 7
    opt.set_options("max_iter=8 sampling=antithetic")
    assert opt.options.sampling == "antithetic"
    assert opt.solve(tilting()).iteration_count == 8
    made = pyo.SolverFactory("stochsqp", max_iter=9, options=FIXED)
    assert made.solve(tilting()).iteration_count == 9


def test_nothing_stays_for_the_next_solve(opt):
    options, config = dict(opt.options), opt.config.value()
    opt.solve(
        tilting(), max_iter=3, options={"seed": 3}, timelimit=10, tee=False, warmstart=True,
        load_solutions=False, logfile=None, suffixes=["dual"], report_timing=False,
    )  # fmt: skip
    assert dict(opt.options) == options
    assert opt.config.value() == config
    m = tilting()
    opt.solve(m, max_iter=3)
    assert m.x.value != 0.5  # load_solutions=False did not stay


def test_every_keyword_of_old_is_accepted(opt, tmp_path, capsys):
    log = tmp_path / "run.log"
    m = tilting()
    opt.solve(
        m, tee=True, load_solutions=True, logfile=str(log), timelimit=100, report_timing=True,
        solver_io="python", suffixes=["dual", "rc"], keepfiles=True, symbolic_solver_labels=True,
        warmstart=True, max_iter=3, **FIXED,
    )  # fmt: skip
    printed = capsys.readouterr().out
    assert log.read_text() in printed
    assert "stochsqp" in log.read_text()
    assert "prepare" in printed and "run" in printed


def test_what_does_not_apply_says_so(opt):
    with pytest.raises(OptionError, match="reads models directly"):
        opt.solve(circle(), solver_io="nl")
    with pytest.raises(OptionError, match="'dual' and 'rc'"):
        opt.solve(circle(), suffixes=["slack"])
    with pytest.raises(OptionError, match="no solution file"):
        opt.solve(circle(), solnfile="x.sol")
    with pytest.raises(OptionError, match="no executable"):
        pyo.SolverFactory("stochsqp", executable="ipopt").solve(circle())


def test_suffix_patterns(opt):
    m = circle()
    results = opt.solve(m, suffixes=[".*"], load_solutions=False)
    assert "Dual" in next(iter(results.solution(0).constraint.values()))
    assert "Rc" in next(iter(results.solution(0).variable.values()))


def test_results_that_were_not_loaded_can_be_loaded(opt):
    m = circle()
    results = opt.solve(m, load_solutions=False)
    assert m.x.value == -0.5
    assert len(results.solution) == 1
    m.solutions.load_from(results)
    assert m.x.value == pytest.approx(-1.0, abs=1e-5)
    assert m.dual[m.on] == pytest.approx(-0.5, abs=1e-5)


def test_results_of_a_model_without_objective_are_not_lost(opt):
    m = circle()
    m.obj.deactivate()
    results = opt.solve(m, load_solutions=False)
    assert len(results.solution) == 1


def test_variables_may_be_called_dual_and_rc(opt):
    m = pyo.ConcreteModel()
    m.dual = pyo.Var(initialize=0.5)
    m.rc = pyo.Var(initialize=0.5)
    m.obj = pyo.Objective(expr=m.dual**2 + m.rc**2)
    m.sum = pyo.Constraint(expr=m.dual + m.rc == 2)
    for load in (True, False):
        results = opt.solve(m, load_solutions=load, warmstart=True)
    assert m.dual.value == pytest.approx(1.0, abs=1e-5)
    assert len(results.solution) == 1


def test_infeasible_gives_a_status(opt):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=1.0)
    m.obj = pyo.Objective(expr=m.x)
    m.never = pyo.Constraint(expr=m.x**2 == -1)
    results = opt.solve(m)
    assert results.solver.termination_condition == TerminationCondition.infeasible
    assert not pyo.check_optimal_termination(results)


def test_an_objective_with_expectations_is_reported_as_an_estimate(opt):
    m = tilting()
    m.del_component(m.cost)
    m.cost = pyo.Objective(expr=E(m.w * m.x**2))
    results = opt.solve(m, seed=1, batch_size=256)
    m.solutions.store_to(results)
    assert results.solution(0).objective["cost"]["Value"] == pytest.approx(TILT_X**2, abs=0.05)
    assert m.cost.active
    for copy in (m.clone(), pickle.loads(pickle.dumps(m))):
        copy.solutions.store_to(results)
        assert results.solution(0).variable["x"]["Value"] == m.x.value


def test_results_can_be_pickled_and_printed(opt):
    m = circle()
    results = opt.solve(m)
    again = pickle.loads(pickle.dumps(results))
    assert again.solver.termination_condition == TerminationCondition.optimal
    assert "Termination condition: optimal" in str(results)


def test_a_block_can_be_solved(opt):
    m = pyo.ConcreteModel()
    m.b = pyo.Block()
    m.b.x = pyo.Var(initialize=3.0)
    m.b.obj = pyo.Objective(expr=(m.b.x - 1) ** 2)
    results = opt.solve(m.b)
    pyo.assert_optimal_termination(results)
    assert m.b.x.value == pytest.approx(1.0, abs=1e-5)


def test_with_statement_and_reset(opt):
    with pyo.SolverFactory("stochsqp") as inner:
        inner.solve(circle())
        inner.reset()
        inner.solve(circle())


DETERMINISTIC = """
import pyomo.environ as pyo
model = pyo.ConcreteModel()
model.x = pyo.Var(initialize=1.0)
model.y = pyo.Var(initialize=1.0)
model.obj = pyo.Objective(expr=model.x**2 + model.y**2)
model.c = pyo.Constraint(expr=model.x + model.y == 1)
"""
SAMPLED = """
import pyomo.environ as pyo
import scipy.stats
from pyomo_stochsqp import E, RandomParam
model = pyo.ConcreteModel()
model.x = pyo.Var(initialize=1.0)
model.w = RandomParam(distribution=scipy.stats.norm(1, 1))
model.obj = pyo.Objective(expr=E((model.x - model.w) ** 2))
"""


@pytest.mark.parametrize("text", [DETERMINISTIC, SAMPLED])
def test_pyomo_solve_finds_the_solver_by_itself(tmp_path, text):
    (tmp_path / "model.py").write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "pyomo.scripting.pyomo_main", "solve", "--solver=stochsqp",
         "--summary", "--solver-options=seed=3 max_iter=200", "--solver-suffix=dual", "model.py"],
        capture_output=True, text=True, cwd=tmp_path, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Solution Summary" in done.stdout
    assert "Number of solutions: 1" in done.stdout


def test_random_params_survive(opt):
    m = tilting()
    opt.solve(m, max_iter=3)
    assert isinstance(m.w, RandomParam)
