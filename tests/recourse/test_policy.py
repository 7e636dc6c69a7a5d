"""The second stage in single scenarios and in fresh ones."""

import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.stats as st

from pyomo_stochsqp import E, RandomParam, evaluate
from pyomo_stochsqp.errors import DataError, ModelError
from tests.recourse.two_stage_models import (
    farmer,
    newsvendor,
    newsvendor_cost,
    without_complete_recourse,
)

pytest.importorskip("highspy")


@pytest.fixture
def stocked():
    m = newsvendor()
    m.stock.value = 120.0
    return m


def solved(m):
    return pyo.SolverFactory("stochsqp").solve(m, seed=1)


def test_one_scenario():
    m = newsvendor()
    results = solved(m)
    decision = results.policy(m, {m.demand: 140})
    assert decision[m.second.short] == pytest.approx(140 - m.stock.value)
    assert decision.cost == pytest.approx(m.stock.value + 4 * (140 - m.stock.value))
    assert decision.duals[m.second.meet] == pytest.approx(4.0)
    m.stock.value = 0.0  # the policy is that of the results, not of the model
    again = results.policy(m)
    assert again({m.demand: 140}).cost == pytest.approx(decision.cost)
    decision.load()
    assert m.second.short.value == decision[m.second.short]


def test_indexed_random_numbers():
    m = farmer()
    policy = solved(m).policy(m)
    bad = policy({m.harvest: {"wheat": 2.0, "corn": 2.4, "beets": 16.0}})
    assert bad.cost == pytest.approx(-48820.0)
    assert bad[m.second.buy] == pytest.approx({"wheat": 0.0, "corn": 48.0})
    assert policy({m.harvest: [2.0, 2.4, 16.0]}).cost == pytest.approx(bad.cost)
    with pytest.raises(DataError, match=r"'harvest\[beets\]' has no number in this scenario"):
        policy({m.harvest: [2.0, 2.4]})


def test_a_maximised_objective_keeps_its_sign():
    m = newsvendor()
    m.obj.set_value(200 - m.stock - 4 * E(m.second.short))
    m.obj.sense = pyo.maximize
    decision = solved(m).policy(m, {m.demand: 140})
    assert decision.cost == pytest.approx(200 - m.stock.value - 4 * (140 - m.stock.value))
    assert decision.duals[m.second.meet] == pytest.approx(-4.0)


def test_an_infeasible_scenario_names_the_row():
    m = without_complete_recourse()
    decision = solved(m).policy(m, {m.demand: 1000})
    assert not decision.feasible and decision.row == "second.meet" and decision.cost == np.inf


def test_fresh_scenarios(stocked):
    found = evaluate(stocked, stocked.second.short, stocked.stock, seed=3)
    value = found[stocked.obj]
    exact = newsvendor_cost(120.0)
    assert abs(value.value - exact) <= 5 * value.standard_error
    assert found["second.short"].value == pytest.approx(30**2 / 200, rel=0.01)
    assert found["stock"].value == pytest.approx(120.0)
    assert found.outcomes[stocked.obj].quantile(0.5) == pytest.approx(120.0)


def test_held_out_data(stocked):
    found = evaluate(stocked, E(stocked.second.short), data=[100.0, 130.0])
    assert found.exact and found[stocked.obj].value == pytest.approx(120 + 4 * 5.0)
    assert list(found)[1].value == pytest.approx(5.0)
    assert stocked.demand.origin.__class__.__name__ != "Table"  # as it was


def test_weights_of_finite_data():
    m = newsvendor()
    m.del_component(m.demand)
    m.stock.value = 10.0
    m.demand = RandomParam(data=[10.0, 20.0], weights=[0.9, 0.1])
    m.second.del_component(m.second.meet)
    m.second.meet = pyo.Constraint(expr=m.stock + m.second.short >= m.demand)
    assert evaluate(m)[m.obj].value == pytest.approx(10 + 4 * 0.1 * 10)


def test_infeasible_scenarios_are_counted_and_never_dropped():
    m = without_complete_recourse()
    m.stock.value = 100.0  # demands beyond 130 cannot be met
    found = evaluate(m, seed=1)
    assert found[m.obj].value == np.inf
    share = found["infeasible recourse (row second.meet)"]
    assert abs(share.value - 0.2) <= 5 * share.standard_error + 1e-3
    assert "inf" in str(found) and "inf" in str(found.outcomes)


def test_a_model_without_a_decision():
    with pytest.raises(ModelError, match="'stock' has no value"):
        evaluate(newsvendor())


def test_results_of_other_models_have_no_policy():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=1.0)
    m.w = RandomParam(distribution=st.norm(1, 1))
    m.obj = pyo.Objective(expr=E((m.x - m.w) ** 2))
    results = solved(m)
    with pytest.raises(ModelError, match="no Recourse"):
        results.policy(m)
