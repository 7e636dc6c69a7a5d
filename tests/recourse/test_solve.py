"""Two-stage models solved: over data and distributions, with integers, with infeasible recourse."""

import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.stats as st
from pyomo.contrib.solver.common.factory import SolverFactory as NewFactory
from pyomo.contrib.solver.common.results import SolutionStatus, TerminationCondition

from pyomo_stochsqp import E, RandomParam, Recourse
from pyomo_stochsqp.errors import MissingLibraryError, ModelError, OptionError
from pyomo_stochsqp.recourse.programs import linear_program
from tests.ranks.threads import on_ranks
from tests.recourse.two_stage_models import (
    BEST_COST,
    YIELD,
    farmer,
    newsvendor,
    newsvendor_cost,
    without_complete_recourse,
)

highspy = pytest.importorskip("highspy")


def solve(m, **options):
    options.setdefault("seed", 1)
    return NewFactory("stochsqp").solve(m, **options)


def test_finite_data_is_solved_exactly():
    m = farmer()
    m.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    results = solve(m)
    assert results.solution_status is SolutionStatus.optimal
    assert results.incumbent_objective == pytest.approx(-108390.0)
    assert results.extra_info.message.startswith("optimal over all 3 scenarios")
    assert results.certificate.exact
    assert [v.value for v in m.acres.values()] == pytest.approx([170.0, 80.0, 250.0])
    assert m.dual[m.land] == pytest.approx(-275.0)  # an acre more is worth 275
    assert m.second.beets.value is None  # there is one value in every scenario


def test_both_interfaces():
    m = farmer()
    results = pyo.SolverFactory("stochsqp").solve(m, seed=1)
    assert results.solver.termination_condition == pyo.TerminationCondition.optimal
    assert results.problem.upper_bound == pytest.approx(-108390.0)
    assert "objective within" in str(results.certificate)


@pytest.mark.parametrize("sampling", ["auto", "sobol", "monte_carlo"])
def test_a_distribution_is_certified_to_the_wanted_gap(sampling):
    m = newsvendor()
    results = solve(m, gap=2e-3, sampling=sampling)
    assert results.termination_condition is TerminationCondition.convergenceCriteriaSatisfied
    c = results.certificate
    assert 0 < c.gap <= 2e-3 * c.objective
    assert newsvendor_cost(m.stock.value) - BEST_COST <= c.gap
    assert abs(c.objective - newsvendor_cost(m.stock.value)) <= 5 * c.objective_error + 1e-9
    assert results.objective_bound == pytest.approx(c.objective - c.gap)
    assert "gap" in results.extra_info.message and "95%" in results.extra_info.message
    assert 0 < results.history["samples"][-1] <= results.extra_info.samples


def test_maximising():
    m = newsvendor()
    m.obj.set_value(200 - m.stock - 4 * E(m.second.short))
    m.obj.sense = pyo.maximize
    results = solve(m)
    assert results.incumbent_objective == pytest.approx(200 - BEST_COST, rel=5e-3)
    assert results.objective_bound > results.incumbent_objective


def test_seeds_tell_runs_apart_and_repeat_them():
    values = [solve(newsvendor(), seed=s).incumbent_objective for s in (1, 1, 2)]
    assert values[0] == values[1] != values[2]


def test_random_coefficients_everywhere():
    # yields vary continuously: compared with a long extensive form of another sample
    m = farmer(distribution=[st.uniform(0.8 * y, 0.4 * y) for y in YIELD])
    results = solve(m)
    form = pyo.TransformationFactory("stochsqp.extensive_form")
    written = form.create_using(m, n_scenarios=400, seed=5, method="latin_hypercube")
    pyo.SolverFactory("appsi_highs").solve(written)
    assert results.incumbent_objective == pytest.approx(pyo.value(written.cost), rel=5e-3)


def test_an_integer_first_stage():
    m = newsvendor(distribution=st.uniform(0, 7), integer=True)
    results = solve(m)
    # 4 P(demand > x) = 1 at 5.25: 5 and 6 are the candidates
    cost = {x: x + 4 * (7 - x) ** 2 / 14 for x in range(8)}
    assert m.stock.value == min(cost, key=cost.get)
    assert results.incumbent_objective == pytest.approx(min(cost.values()), rel=5e-3)


def test_an_integer_second_stage():
    m = newsvendor(distribution=st.randint(0, 5))
    m.second.short.domain = pyo.NonNegativeIntegers
    results = solve(m, gap=0.05)
    # whole shortages: stock 3 leaves 1 with probability 1/5
    assert results.solution_status is SolutionStatus.optimal
    assert results.incumbent_objective == pytest.approx(3.8, rel=0.1)


def test_recourse_that_may_be_infeasible():
    m = without_complete_recourse()
    results = solve(m)
    assert m.stock.value == pytest.approx(120.0, abs=0.5)
    assert m.stock.value <= 120.0
    assert "a probability of at most" in str(results.certificate)
    assert results.incumbent_objective == pytest.approx(244.5, abs=0.5)


def test_recourse_that_is_never_feasible():
    m = without_complete_recourse()
    m.stock.setub(20)
    results = solve(m, load_solutions=False, raise_exception_on_nonoptimal_result=False)
    assert results.termination_condition is TerminationCondition.locallyInfeasible
    assert results.solution_status is SolutionStatus.noSolution
    assert "no first-stage decision has a feasible second stage" in results.extra_info.message


def test_an_unbounded_problem():
    m = newsvendor()
    m.obj.set_value(-m.stock - E(m.second.short))
    results = solve(m, load_solutions=False, raise_exception_on_nonoptimal_result=False)
    assert results.termination_condition is TerminationCondition.unbounded


def test_limits_are_kept_and_said():
    options = {"raise_exception_on_nonoptimal_result": False}
    results = solve(newsvendor(), gap=1e-9, max_samples=3000, **options)
    assert results.termination_condition is TerminationCondition.iterationLimit
    assert results.solution_status is SolutionStatus.feasible
    assert "gap" in results.extra_info.message
    results = solve(newsvendor(), gap=1e-12, time_limit=1.0, **options)
    assert results.termination_condition is TerminationCondition.maxTimeLimit
    assert results.timing_info.wall_time < 4.0


def test_options_without_meaning_are_refused():
    for option in ({"checkpoint": "x"}, {"callback": print}):
        with pytest.raises(OptionError, match="not available for models with Recourse"):
            solve(newsvendor(), **option)
    with pytest.raises(OptionError, match="cannot solve models with Recourse"):
        solve(newsvendor(), algorithm="stochsqp")


def test_without_highs_there_is_a_way(monkeypatch):
    def missing():
        raise MissingLibraryError("linear Recourse needs HiGHS")

    monkeypatch.setattr(linear_program, "highs", missing)
    with pytest.raises(MissingLibraryError, match="needs HiGHS"):
        solve(newsvendor())


def test_a_certified_gap_covers_the_truth():
    misses = 0
    for seed in range(15):
        m = newsvendor()
        c = solve(m, seed=seed, gap=5e-3).certificate
        misses += newsvendor_cost(m.stock.value) - BEST_COST > c.gap
    assert misses <= 3  # 5 % of 15, and three standard errors more


@pytest.mark.parametrize(
    "make", [newsvendor, without_complete_recourse, lambda: newsvendor(integer=True)]
)
def test_ranks_share_the_replicates(make):
    def run(comm):
        m = make()
        m.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
        results = solve(m, comm=comm, gap=2e-3)
        c, timeless = results.certificate, results.history.as_dict()
        del timeless["seconds"]
        return m.stock.value, c.objective, c.gap, results.extra_info.samples, timeless

    alone = run(None)
    for size in (2, 3):
        found, _ = on_ranks(size, run)
        for one in found:
            np.testing.assert_equal(one, alone)


def test_a_free_second_stage_without_rows():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(0, 1))
    m.w = RandomParam(distribution=st.uniform(-1, 2))
    m.second = Recourse()
    m.second.y = pyo.Var(bounds=(0, 1))
    m.obj = pyo.Objective(expr=m.x + E(m.w * m.second.y))
    results = solve(m, gap=0.05)
    assert results.incumbent_objective == pytest.approx(-0.25, rel=0.1)  # E min(w, 0)


def test_values_of_expectations_are_asked_elsewhere():
    m = newsvendor()
    solve(m)
    m.second.short.value = 1.0
    with pytest.raises(ModelError, match="others in every scenario"):
        pyo.value(m.obj)
    m.demand.fix_to(150)
    assert pyo.value(m.obj) == pytest.approx(m.stock.value + 4.0)


def test_the_log_has_a_line_for_every_stage(tmp_path):
    results = solve(newsvendor())
    assert results.solver_log.startswith("Two stages: 1 variables")
    assert "certified" in results.solver_log and "Ended: optimal" in results.solver_log
    pytest.importorskip("matplotlib")
    results.plot(tmp_path / "gaps.png")
    assert (tmp_path / "gaps.png").stat().st_size > 1000
    assert np.isfinite(results.history["gap_bound"]).all()
