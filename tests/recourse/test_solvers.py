"""Who solves the problems of samples, and what is left when there is no time for all of them."""

import time

import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.stats as st

from pyomo_stochsqp import E, RandomParam
from pyomo_stochsqp.deadline import OutOfTime, time_limit
from pyomo_stochsqp.declare.recourse import affine, read_two_stage
from pyomo_stochsqp.errors import MissingLibraryError, OptionError
from pyomo_stochsqp.method import Stop
from pyomo_stochsqp.recourse import SharedWork
from pyomo_stochsqp.recourse.programs import (
    LinearProgram,
    SampledSolver,
    Status,
    solve_program,
)
from pyomo_stochsqp.recourse.staged import Settings, Staged
from tests.recourse.two_stage_models import (
    BEST_COST,
    farmer,
    newsvendor,
    newsvendor_cost,
    without_complete_recourse,
)

pytest.importorskip("highspy")


def solve(m, **options):
    return pyo.SolverFactory("stochsqp").solve(m, **{"seed": 1, "gap": 1e-2} | options)


@pytest.mark.parametrize(
    "make", [farmer, newsvendor, lambda: newsvendor(integer=True), without_complete_recourse]
)
def test_another_solver_finds_the_same(make):
    ours, theirs = (
        solve(make(), exact_solver=name).certificate for name in ("auto", "appsi_highs")
    )
    assert ours.objective == pytest.approx(theirs.objective, rel=1e-3)
    assert ours.lower_bound == pytest.approx(theirs.lower_bound, rel=1e-2)


def test_duals_of_another_solver():
    m = farmer()
    m.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    solve(m, exact_solver="appsi_highs")
    assert m.dual[m.land] == pytest.approx(-275.0)


def test_another_solver_says_infeasible_and_unbounded():
    m = without_complete_recourse()
    m.stock.setub(20)
    said = solve(m, exact_solver="appsi_highs", load_solutions=False).message
    assert "no first-stage decision has a feasible second stage" in said
    m = newsvendor()
    m.obj.set_value(-m.stock - E(m.second.short))
    said = solve(m, exact_solver="appsi_highs", load_solutions=False)
    assert said.solver.termination_condition == pyo.TerminationCondition.unbounded


def test_solvers_that_are_not_there():
    with pytest.raises(OptionError, match="'snopt' is unknown"):
        solve(newsvendor(), exact_solver="snopt")
    with pytest.raises(OptionError, match="'interior' is no solver that Pyomo knows"):
        solve(newsvendor(), exact_solver="interior")
    with pytest.raises(MissingLibraryError, match="'xpress' is not available here"):
        solve(newsvendor(), exact_solver="xpress")


def test_models_without_recourse_have_other_engines():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=1.0)
    m.w = RandomParam(distribution=st.norm(1, 1))
    m.obj = pyo.Objective(expr=E((m.x - m.w) ** 2))
    with pytest.raises(OptionError, match="this one has none"):
        solve(m, exact_solver="appsi_highs")


class Hurried(SampledSolver):
    """Has time for so many problems."""

    def __init__(self, program, problems):
        super().__init__(program, 1e-6)
        self.left = problems

    def solve(self, sample, cuts, seconds):
        self.left -= 1
        if self.left < 0:
            raise OutOfTime
        return super().solve(sample, cuts, seconds)


def hurried(problems):
    program = affine(read_two_stage(newsvendor()))
    return Staged(program, Settings(1e-9, 1), Hurried(program, problems), SharedWork()).run()


def test_the_replicates_that_are_through_certify():
    made = hurried(16 + 10)  # all of the first stage and ten of the second
    assert made.stop is Stop.TIME_LIMIT
    assert made.gap.replicates == 10 and made.gap.scenarios == 10 * 64
    assert made.samples == 16 * 16 + 10 * 64
    assert 0 <= newsvendor_cost(made.x[0]) - BEST_COST <= made.gap.bound < 0.1 * BEST_COST


def test_few_of_them_certify_nothing_but_leave_a_decision():
    for problems in (5, 16 + 5):
        made = hurried(problems)
        assert made.stop is Stop.TIME_LIMIT and made.gap is None
        assert 50 <= made.x[0] <= 150
    assert hurried(0).x is None


def test_integer_programs_share_the_time():
    class Slow(SampledSolver):
        asked = ()

        def solve(self, sample, cuts, seconds):
            self.asked = (*self.asked, seconds)
            return super().solve(sample, cuts, seconds)

    program = affine(read_two_stage(newsvendor(integer=True)))
    solver = Slow(program, 1e-3)
    with time_limit(64.0):
        began = time.perf_counter()
        Staged(program, Settings(1e-9, 1, max_samples=2000), solver, SharedWork()).run()
        assert time.perf_counter() - began < 30.0
    # 16 problems of the first stage in half of the time, 16 of the second in the rest
    assert solver.asked[0] == pytest.approx(2.0, rel=0.1)
    assert solver.asked[15] == pytest.approx(32.0, rel=0.2)
    assert solver.asked[16] == pytest.approx(4.0, rel=0.2)


@pytest.mark.parametrize(("row", "status"), [(0.0, Status.UNBOUNDED), (2.0, Status.INFEASIBLE)])
def test_infeasible_or_unbounded_is_decided(row, status):
    # max y, x an integer in [0, 1] with x >= row: HiGHS alone says 'infeasible or unbounded'
    program = LinearProgram(
        np.array([0.0, -1.0]), np.array([[1.0, 0.0], [1.0, 1.0]]), np.array([row, 0.0]),
        np.full(2, np.inf), np.zeros(2), np.array([1.0, np.inf]), np.array([True, False]),
    )  # fmt: skip
    assert solve_program(program).status is status


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda m: m.stock.setub(20), "feasible second stage in all scenarios of a sample"),
        (lambda m: m.add_component("no", pyo.Constraint(expr=m.stock >= 500)), "contradict"),
    ],
)
def test_infeasible_programs_say_in_which_stage(change, said):
    m = without_complete_recourse()
    change(m)
    assert said in solve(m, load_solutions=False).message


def test_whole_numbers_that_do_not_exist():
    m = newsvendor(integer=True)
    m.no = pyo.Constraint(expr=(0.2, m.stock, 0.8))
    assert "no whole numbers fulfil" in solve(m, load_solutions=False).message


def test_an_undefined_number_in_a_cost_of_the_first_stage():
    from pyomo_stochsqp.errors import DataError

    m = newsvendor()
    m.obj.set_value(E(pyo.log(m.demand - 100) * m.stock) + E(m.second.short))
    with pytest.raises(DataError, match="'obj': a number in it is nan in a drawn scenario"):
        solve(m)
