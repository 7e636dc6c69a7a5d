"""Two-stage runs that somebody ends: Ctrl-C, limits, trouble on another rank."""

import os
import signal
import threading

import numpy as np
import pyomo.environ as pyo
import pytest
from pyomo.contrib.solver.common.factory import SolverFactory
from pyomo.contrib.solver.common.results import SolutionStatus, TerminationCondition

from pyomo_stochsqp import E, RandomParam, Recourse
from pyomo_stochsqp.errors import RankError
from tests.ranks.threads import on_ranks
from tests.recourse.two_stage_models import newsvendor

pytest.importorskip("highspy")
ENDLESS = {
    "seed": 1, "gap": 1e-12, "time_limit": 60, "raise_exception_on_nonoptimal_result": False,
}  # fmt: skip


def knapsack(where="first"):
    """Sixty integers and five rows keep a branch and bound busy for long."""
    rng = np.random.default_rng(0)
    size = rng.integers(10, 100, (5, 60)).astype(float)
    worth = rng.integers(10, 100, 60) + size.sum(axis=0)
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(0, 1))
    m.w = RandomParam(data=[1.0, 2.0])
    m.second = Recourse()
    m.second.y = pyo.Var(bounds=(0, None))
    m.second.row = pyo.Constraint(expr=m.second.y >= m.w * m.x)
    b = m if where == "first" else m.second
    b.take = pyo.Var(range(60), domain=pyo.Binary)
    b.room = pyo.Constraint(range(5), rule=lambda _, i: (
        sum(size[i, j] * b.take[j] for j in range(60)) <= size[i].sum() / 2))  # fmt: skip
    gain = sum(worth[j] * b.take[j] for j in range(60))
    if where == "first":
        m.obj = pyo.Objective(expr=gain - E(m.second.y), sense=pyo.maximize)
    else:
        m.obj = pyo.Objective(expr=E(gain - m.second.y) - m.x, sense=pyo.maximize)
    return m


@pytest.fixture
def ctrl_c():
    """Somebody presses Ctrl-C a moment after this was called."""
    timers = []
    # shells start programs in the background so that they ignore it
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    def later(seconds):
        timers.append(threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT)))
        timers[-1].start()

    yield later
    for timer in timers:
        timer.cancel()
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("end", ["interrupted", "maxTimeLimit"])
def test_a_program_that_takes_long_leaves_the_best_decision(ctrl_c, end):
    m = knapsack()
    options = {**ENDLESS, "time_limit": 0.5} if end == "maxTimeLimit" else ENDLESS
    if end == "interrupted":
        ctrl_c(0.5)
    results = SolverFactory("stochsqp").solve(m, **options)
    assert results.termination_condition is TerminationCondition[end]
    assert results.solution_status is SolutionStatus.feasible
    assert sum(v.value for v in m.take.values()) > 10
    # branch and bound has proved how far it may be from the optimum
    assert 0 < results.certificate.relative_gap < 0.1
    assert results.timing_info.wall_time < 5


@pytest.mark.parametrize("end", ["interrupted", "maxTimeLimit"])
def test_a_second_stage_that_takes_long_obeys(ctrl_c, end):
    m = knapsack("second")
    options = {**ENDLESS, "time_limit": 0.7} if end == "maxTimeLimit" else ENDLESS
    if end == "interrupted":
        ctrl_c(0.7)
    results = SolverFactory("stochsqp").solve(m, **options)
    assert results.termination_condition is TerminationCondition[end]
    assert m.x.value is not None
    assert results.timing_info.wall_time < 5


def test_stages_keep_the_decision_with_the_best_certificate(ctrl_c):
    m = newsvendor()
    ctrl_c(1.0)
    results = SolverFactory("stochsqp").solve(m, **ENDLESS)
    assert results.termination_condition is TerminationCondition.interrupted
    assert "Ctrl-C" in results.extra_info.message
    assert m.stock.value == pytest.approx(125.0, abs=3.0)
    assert results.certificate.relative_gap < 0.1


def solve(m, comm, **options):
    return SolverFactory("stochsqp").solve(m, comm=comm, load_solutions=False, **options)


def test_what_one_rank_cannot_read_all_hear_of():
    def work(comm):
        m = newsvendor()
        if comm.rank == 1:
            m.p = pyo.Param(initialize="seven", mutable=True, within=pyo.Any)
            m.second.wrong = pyo.Constraint(expr=m.second.short <= m.p)
        solve(m, comm, seed=1)

    errors, _ = on_ranks(3, work)
    assert all("second.wrong" in str(error) for error in errors)


def test_models_must_agree():
    def work(comm):
        m = newsvendor()
        m.stock.setub(1000 + comm.rank // 2)
        solve(m, comm, seed=1)

    errors, _ = on_ranks(3, work)
    assert all(isinstance(e, RankError) and "different models" in str(e) for e in errors)


def test_ranks_of_different_speed_make_the_same_stages(monkeypatch):
    """What comes next depends on time: rank 0's."""
    from pyomo_stochsqp.recourse import staged

    def seconds_left():
        return 0.5 if threading.current_thread().name.endswith("0") else 50.0

    monkeypatch.setattr(staged, "seconds_left", seconds_left)
    clock = iter(range(10**9))

    def work(comm):
        threading.current_thread().name = f"rank {comm.rank}"
        results = solve(newsvendor(), comm, seed=1, gap=2e-3)
        table = results.history.table.copy()
        table[:, results.history.columns.index("seconds")] = 0.0
        return table.tobytes()

    monkeypatch.setattr(staged, "perf_counter", lambda: next(clock) * 1e-4)
    found, _ = on_ranks(3, work)
    assert isinstance(found[0], bytes) and found == [found[0]] * 3


def test_exact_solutions_are_the_same_on_all_ranks():
    def work(comm):
        results = solve(knapsack(), comm, **{**ENDLESS, "time_limit": 0.5})
        return results.incumbent_objective, results.objective_bound

    found, _ = on_ranks(2, work)
    assert found[0] == found[1] and np.isfinite(found[0]).all()
