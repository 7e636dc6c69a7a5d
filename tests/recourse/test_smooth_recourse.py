"""Nonlinear recourse solved: closed forms, the extensive form, what may go wrong."""

import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.stats as st
from pyomo.contrib.solver.common.factory import SolverFactory as NewFactory
from pyomo.contrib.solver.common.results import SolutionStatus, TerminationCondition

from pyomo_stochsqp import E, RandomParam, Recourse, evaluate
from pyomo_stochsqp.errors import ModelError, OptionError
from pyomo_stochsqp.interface.solver import smooth_recourse
from tests.value_function.second_stages import licences, plant, shortage


def solve(m, **options):
    options.setdefault("seed", 1)
    return NewFactory("stochsqp").solve(m, **options)


def unloaded(m, **options):
    return solve(m, load_solutions=False, raise_exception_on_nonoptimal_result=False, **options)


@pytest.fixture
def never_written_out(monkeypatch):
    monkeypatch.setattr(smooth_recourse, "LARGEST", 0)


def test_a_closed_form_is_certified():
    m = shortage()
    results = solve(m, tol_opt=1e-3)
    assert results.termination_condition is TerminationCondition.convergenceCriteriaSatisfied
    c = results.certificate
    assert abs(m.x.value - 0.5) <= c.displacement[0] <= 1e-2
    assert c.objective == pytest.approx(0.125 + 0.125 / 3, rel=1e-3)
    assert "local optimum" in str(c)
    assert m.second.y.value is None  # there is one value in every scenario


def test_the_mean_of_decisions_is_bounded():
    m = licences()
    m.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    results = solve(m, tol_opt=1e-3, tol_feas=1e-3)
    assert m.x.value == pytest.approx(0.32, rel=5e-3)
    assert m.dual[m.emitted] == pytest.approx(0.2, rel=1e-2)  # a licence costs as much
    assert m.second.prices == pytest.approx({"price of emitted": 0.2}, rel=1e-2)
    # E[w y - y^2/2] = E (w^2 - price^2)/2 for w > price
    gain = ((1 - 0.2**3) / 3 - 0.04 * 0.8) / 2 - 0.2 * 0.32
    assert results.incumbent_objective == pytest.approx(gain, rel=5e-3)
    assert results.objective_bound == np.inf


def test_a_price_that_is_zero():
    m = licences(price=0.0)
    m.emitted.set_value(E(m.second.y) <= 0.6)
    m.gain.set_value(E(m.w * m.second.y - m.second.y**2 / 2) - (m.x - 0.3) ** 2)
    solve(m, tol_opt=1e-3)
    assert m.x.value == pytest.approx(0.3, abs=1e-3)
    assert m.second.prices["price of emitted"] == pytest.approx(0.0, abs=5e-3)


@pytest.mark.parametrize("cap", [None, 1.0])
def test_the_extensive_form_has_the_same_answer(cap, never_written_out):
    rng = np.random.default_rng(3)
    data = np.column_stack((rng.gamma(4, 0.5, 60), rng.uniform(0.7, 1.0, 60)))
    m = plant(cap, data=data)
    results = solve(m, tol_opt=1e-4, tol_feas=1e-4)
    form = pyo.TransformationFactory("stochsqp.extensive_form")
    written = form.create_using(m)
    for component in list(written.component_objects(RandomParam)):
        written.del_component(component)
    exact = NewFactory("stochsqp").solve(written)
    value = exact.incumbent_objective
    assert results.certificate.objective == pytest.approx(value, rel=2e-4)
    sizes = [v.value for v in written.size.values()]
    assert [v.value for v in m.size.values()] == pytest.approx(sizes, rel=1e-2)


def test_few_scenarios_are_written_out():
    data = np.array([[1.0, 0.8], [2.0, 0.9], [3.0, 0.7], [1.5, 1.0]])
    m = plant(1.0, data=data)
    m.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    results = solve(m)
    assert results.certificate.exact
    assert m.dual[m.emitted] == pytest.approx(-m.second.prices["price of emitted"])
    # the policy at that price keeps the bound
    whole = evaluate(m, data=data)
    assert whole["cost"].value == pytest.approx(results.incumbent_objective, rel=1e-5)
    assert whole["emitted"].value <= 1.0 + 1e-5


def test_nonlinear_in_the_first_stage_only():
    m = shortage()
    m.cost.set_value(m.x + 0.5 * m.x**2 + 4 * E(m.second.y))
    solve(m, tol_opt=1e-3)
    assert m.x.value == pytest.approx(0.6, rel=5e-3)  # 1 + x = 4 (1 - x)


def test_seeds_repeat_runs():
    values = [solve(shortage(), tol_opt=1e-2, seed=s).incumbent_objective for s in (1, 1, 2)]
    assert values[0] == values[1] != values[2]


def without_complete_recourse(**random):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(0, 1000), initialize=10.0)
    m.demand = RandomParam(**random)

    @Recourse(m)
    def second(b):
        b.y = pyo.Var(bounds=(0, 3))
        b.meet = pyo.Constraint(expr=m.x * (1 - pyo.exp(-b.y)) >= m.demand)

    m.cost = pyo.Objective(expr=m.x + E(m.second.y**2))
    return m


LEAST = 1 / (1 - np.exp(-3.0))


@pytest.mark.slow
def test_recourse_that_may_be_infeasible():
    m = without_complete_recourse(distribution=st.uniform(50, 100))
    results = solve(m)
    assert 149.9 * LEAST <= m.x.value <= 150.1 * LEAST
    assert any("probability of one is at most" in w for w in results.warnings)
    assert not results.policy(m, {m.demand: 160}).feasible
    assert results.policy(m, {m.demand: 160}).row == "second.meet"


DISTRIBUTION = pytest.param({"distribution": st.uniform(50, 100)}, marks=pytest.mark.slow)


@pytest.mark.parametrize("random", [DISTRIBUTION, {"data": [50.0, 120.0]}])
def test_recourse_that_is_never_feasible(random):
    m = without_complete_recourse(**random)
    m.x.setub(100)
    results = unloaded(m)
    assert results.termination_condition is TerminationCondition.locallyInfeasible
    assert results.solution_status is SolutionStatus.infeasible


def test_policy_and_evaluation():
    m = licences()
    results = solve(m)
    decision = results.policy(m, {m.w: 0.7})
    price = m.second.prices["price of emitted"]
    assert decision[m.second.y] == pytest.approx(0.7 - price, abs=1e-5)
    assert decision.cost == pytest.approx(
        0.7 * decision[m.second.y] - decision[m.second.y] ** 2 / 2 - 0.2 * m.x.value
    )
    table = evaluate(m, m.second.y, samples=2048, seed=3)
    assert table["emitted"].required == "<= 0"
    assert abs(table["emitted"].value) <= 5e-3
    assert table["second.y"].value == pytest.approx(m.x.value, abs=5e-3)
    held_out = evaluate(m, data=[0.1, 0.6])
    assert held_out["gain"].value == pytest.approx((0.6**2 - price**2) / 4 - 0.2 * m.x.value)


def test_duals_of_a_scenario():
    m = shortage()
    m.x.value = 0.5
    decision = solve(m).policy(m, {m.w: 0.9})
    assert decision.duals[m.second.meet] == pytest.approx(2 * (0.9 - m.x.value), rel=1e-4)


def test_rows_that_no_decision_can_meet(never_written_out):
    """No condition on x helps, and a higher price does not, either."""
    m = pyo.ConcreteModel()
    m.k = pyo.Var(bounds=(0, None), initialize=1)
    m.d = RandomParam(data=np.linspace(4.0, 20.0, 20))
    m.second = s = Recourse()
    s.y, s.u = pyo.Var(bounds=(0, None)), pyo.Var(bounds=(0, None))
    s.cap = pyo.Constraint(expr=s.y <= m.k)
    s.balance = pyo.Constraint(expr=s.y + s.u >= m.d)
    s.never = pyo.Constraint(expr=s.y**2 <= -1)
    m.obj = pyo.Objective(expr=0.8 * m.k + E(0.1 * s.y**2 + 3 * s.u + 0.05 * s.u**2))
    results = unloaded(m)
    assert results.termination_condition is TerminationCondition.locallyInfeasible
    assert "infeasible in 20 of 20 scenarios, row second.never" in results.extra_info.message


def test_infeasible_scenarios_are_evaluated():
    m = without_complete_recourse(data=[50.0, 80.0, 100.0, 120.0])
    m.x.value = 110.0
    found = evaluate(m)
    assert found["cost"].value == np.inf
    assert found["infeasible recourse (row second.meet)"].value == 0.25


def test_mistakes_are_named():
    m = shortage()
    m.second.y.domain = pyo.NonNegativeIntegers
    with pytest.raises(ModelError, match=r"Variable 'second\.y' is integer"):
        solve(m)
    m = shortage()
    with pytest.raises(OptionError, match="callback= is not available"):
        solve(m, callback=print)
    with pytest.raises(OptionError, match="exact_solver='highs' solves the samples"):
        solve(m, exact_solver="highs")
    m = licences()
    m.x.value = 0.3
    with pytest.raises(ModelError, match="'emitted' bounds an expectation of second-stage"):
        evaluate(m)


@pytest.mark.slow
def test_an_unbounded_second_stage_is_said():
    m = shortage()
    m.cost.set_value(m.x**2 - E(m.second.y))
    results = unloaded(m)
    assert results.termination_condition is TerminationCondition.error
    assert "second" in results.extra_info.message


def test_limits_are_kept():
    results = unloaded(shortage(), tol_opt=1e-9, max_samples=5000)
    assert results.termination_condition is TerminationCondition.iterationLimit
    assert results.extra_info.samples <= 5000
