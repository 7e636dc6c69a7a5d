"""EVPI and VSS against textbooks and closed forms."""

import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.stats as st

from examples import farmer
from pyomo_stochsqp import (
    E,
    Probability,
    RandomParam,
    Variance,
    positive_part,
    smooth_min,
    value_of_information,
)
from pyomo_stochsqp.errors import ModelError, OptionError


def test_the_farmer():
    """Birge and Louveaux, chapter 1: EVPI 7,016 and VSS 1,150."""
    found = value_of_information(farmer.build())
    assert found.recourse_problem == pytest.approx(-108390, abs=1)
    assert found.wait_and_see == pytest.approx(-115405.56, abs=1)
    assert found.evpi.value == pytest.approx(7015.56, abs=1)
    assert found.vss.value == pytest.approx(1150, abs=1)
    assert found.expected_value == pytest.approx(-118600, abs=1)
    assert "7015.5" in str(found)


def newsvendor(numbers):
    """Price 10, cost 4, demand w."""
    m = pyo.ConcreteModel("newsvendor")
    m.x = pyo.Var(initialize=30.0, bounds=(0, 200))
    m.w = RandomParam(**numbers)
    m.profit = pyo.Objective(expr=E(10 * smooth_min(m.x, m.w)) - 4 * m.x, sense=pyo.maximize)
    return m


def test_a_newsvendor_in_closed_form():
    """Uniform demand on [0, 100], here by its ten midpoints: x = 60 sells 60 - 60^2/200 = 42."""
    found = value_of_information(newsvendor({"data": np.arange(5.0, 100.0, 10.0)}))
    assert found.recourse_problem == pytest.approx(180.0, rel=1e-3)
    assert found.wait_and_see == pytest.approx(300.0, rel=1e-4)
    assert found.evpi.value == pytest.approx(120.0, rel=1e-3)
    assert found.evpi.standard_error == 0.0
    # x = 50 sells 37.5 on average
    assert found.vss.value == pytest.approx(5.0, abs=0.1)


def quadratic(**numbers):
    """min E[(x - w)^2]: x = E w. Knowing w is worth its variance, the mean tells everything."""
    m = pyo.ConcreteModel("quadratic")
    m.x = pyo.Var(initialize=0.0)
    m.w = RandomParam(**numbers)
    m.cost = pyo.Objective(expr=E((m.x - m.w) ** 2))
    return m


def test_scenarios_that_are_drawn_give_intervals():
    m = quadratic(distribution=st.norm(2.0, 0.5))
    found = value_of_information(m, scenarios=60, samples=20_000, seed=1, confidence=0.999)
    low, high = found.evpi.interval
    assert low < 0.25 < high
    assert found.evpi.value >= 3 * found.evpi.standard_error > 0.0
    assert found.vss.value == pytest.approx(0.0, abs=1e-5)
    assert found.scenarios == 60
    assert m.x.value == pytest.approx(2.0, abs=0.01)
    assert found.mean_decision["x"] == pytest.approx(2.0, abs=1e-5)
    assert m.w.random


def test_weights_count():
    m = quadratic(data=[0.0, 4.0], weights=[0.75, 0.25])
    found = value_of_information(m)
    assert found.evpi.value == pytest.approx(3.0, rel=1e-4)


def test_decisions_of_the_mean_that_violate_a_row_are_told():
    m = quadratic(data=[1.0, 3.0])
    m.risk = pyo.Constraint(expr=E(m.w**3 * m.x) <= 20.0)
    found = value_of_information(m)
    assert "'risk'" in "".join(found.cautions)


def test_what_cannot_be_valued_is_refused_by_name():
    m = quadratic(data=[1.0, 3.0])
    with pytest.raises(OptionError, match="scenarios=1"):
        value_of_information(m, scenarios=1)
    with pytest.raises(OptionError, match="confidence"):
        value_of_information(m, confidence=1.0)
    m.w.fix_to("mean")
    with pytest.raises(ModelError, match="no random numbers"):
        value_of_information(m)
    m.w.unfix()
    m.cost.deactivate()
    m.other = pyo.Objective(expr=pyo.log(E(pyo.exp(m.x - m.w))) + m.x**2)
    with pytest.raises(ModelError, match="'other' is a formula"):
        value_of_information(m)


def test_nonlinear_blocks_need_a_block_for_the_mean():
    m = pyo.ConcreteModel("blocks")
    m.x = pyo.Var(initialize=1.0)
    m.s = pyo.Block(["low", "mean", "high"])
    for key, w in zip(m.s, (1.0, 2.0, 3.0), strict=True):
        m.s[key].cost = pyo.Expression(expr=pyo.exp(w - m.x) + m.x)
    m.cost = pyo.Objective(expr=E(m.s[:].cost))
    with pytest.raises(ModelError, match="mean_scenario=key"):
        value_of_information(m)
    found = value_of_information(m, mean_scenario="mean")
    w = np.array([1.0, 2.0, 3.0])
    assert found.evpi.value == pytest.approx(np.log(np.exp(w).mean()) - 2.0, rel=1e-4)
    assert found.vss.value == pytest.approx(
        np.exp(w - 2).mean() - 1 + 2 - np.log(np.exp(w).mean()), rel=1e-3
    )
    assert m.x.value == pytest.approx(np.log(np.exp(w).mean()), abs=1e-3)


def test_an_optimum_at_a_kink_and_a_corner():
    """At its mean the second component alone has the quality 93 that is asked for."""
    m = pyo.ConcreteModel("blend")
    m.u = pyo.Var([0, 1, 2], bounds=(0, 1), initialize=1 / 3)
    m.grade = RandomParam([0, 1, 2], distribution=[st.norm(88, 2), st.norm(93, 1.5), st.norm(98)])
    m.one = pyo.Constraint(expr=sum(m.u.values()) == 1)
    grade = sum(m.u[i] * m.grade[i] for i in m.u)
    price = 10 * m.u[0] + 14 * m.u[1] + 20 * m.u[2]
    m.cost = pyo.Objective(expr=price + E(3 * positive_part(93 - grade)))
    found = value_of_information(m, scenarios=4)
    assert found.expected_value == pytest.approx(14.0, rel=1e-4)
    assert found.vss.value == pytest.approx(0.323, abs=0.01)


def test_an_objective_without_expectation():
    """Capacity for d <= x with probability 0.9; a demand that is known is built for exactly."""
    m = pyo.ConcreteModel("capacity")
    m.x = pyo.Var(initialize=100.0, bounds=(0, 500))
    m.d = RandomParam(distribution=st.norm(100, 20))
    m.cost = pyo.Objective(expr=3 * m.x)
    m.enough = pyo.Constraint(expr=Probability(m.d <= m.x) >= 0.9)
    found = value_of_information(m, scenarios=4)
    assert found.expected_value == pytest.approx(300.0, rel=1e-3)
    low, high = found.evpi.interval
    assert low < 60 * st.norm.ppf(0.9) < high
    assert "'enough'" in "".join(found.cautions)


def test_a_variance_has_no_value_in_one_scenario():
    m = quadratic(data=[1.0, 3.0])
    m.cost.deactivate()
    m.risk = pyo.Objective(expr=Variance(m.w * m.x) + m.x**2)
    with pytest.raises(ModelError, match="'risk' is a formula"):
        value_of_information(m)
