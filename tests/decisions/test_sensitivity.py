"""Derivatives of the optimum, against solving again."""

import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.stats as st

from pyomo_stochsqp import CVaR, E, RandomParam, Variance, sensitivity, smooth_min
from pyomo_stochsqp.errors import ModelError, OptionError

SHARP = {"tol_opt": 1e-11, "tol_feas": 1e-11}


def portfolio(sense=pyo.minimize):
    """A table, sampled and ordinary rows, bounds that are Params."""
    rng = np.random.default_rng(3)
    returns = 0.05 + 0.2 * rng.standard_normal((500, 4)) + np.array([0.0, 0.02, 0.05, 0.1])
    m = pyo.ConcreteModel("portfolio")
    m.i = pyo.RangeSet(0, 3)
    m.most = pyo.Param(initialize=0.4, mutable=True)
    m.aversion = pyo.Param(initialize=2.0, mutable=True)
    m.x = pyo.Var(m.i, initialize=0.25, bounds=(0.0, m.most))
    m.r = RandomParam(m.i, data=returns)
    gain = sum(m.r[i] * m.x[i] for i in m.i)
    m.budget = pyo.Constraint(expr=sum(m.x[i] for i in m.i) == 1.0)
    m.least = pyo.Constraint(expr=E(gain) >= 0.105)
    cost = m.aversion * E((gain - 0.1) ** 2) + E(pyo.exp(-gain))
    m.cost = pyo.Objective(expr=cost if sense == pyo.minimize else -cost, sense=sense)
    return m


def optimum(m, **options):
    results = pyo.SolverFactory("stochsqp").solve(m, **SHARP, **options)
    assert results.certificate is not None
    return pyo.value(m.component("cost")), [v.value for v in m.component_data_objects(pyo.Var)]


def resolved(build, change, h):
    """Central differences of the optimum."""
    ends = []
    for step in (h, -h):
        m = build()
        change(m, step)
        ends.append(optimum(m))
    (f1, x1), (f0, x0) = ends
    return (f1 - f0) / (2 * h), (np.array(x1) - np.array(x0)) / (2 * h)


def shift_param(name):
    def change(m, h):
        p = m.component(name)
        p.set_value(pyo.value(p) + h)

    return change


def shift_row(m, h):
    m.least.deactivate()
    gain = sum(m.r[i] * m.x[i] for i in m.i)
    m.more = pyo.Constraint(expr=E(gain) >= 0.105 + h)


@pytest.mark.parametrize("sense", [pyo.minimize, pyo.maximize])
@pytest.mark.parametrize("name", ["aversion", "most", "least"])
def test_tables_agree_with_solving_again(sense, name):
    m = portfolio(sense)
    found = sensitivity(m, m.component(name), options=SHARP)[m.component(name)]
    change = shift_row if name == "least" else shift_param(name)
    objective, moves = resolved(lambda: portfolio(sense), change, 1e-3)
    assert found.objective == pytest.approx(objective, rel=1e-4)
    np.testing.assert_allclose(list(found.variables.values()), moves, rtol=1e-3, atol=1e-4)
    assert found.standard_error == 0.0


def test_numbers_of_a_table_are_shifted_and_spread_out():
    """min E[(x - w)^2]/2 + E[w^2] x: x = E w - E w^2, so both derivatives are known."""
    w = np.array([1.0, 2.0, 4.0])
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=0.0)
    m.w = RandomParam(data=w)
    m.cost = pyo.Objective(expr=E((m.x - m.w) ** 2) / 2 + E(m.w**2) * m.x)
    s = sensitivity(m, m.w)
    x, mean, square, variance = w.mean() - (w**2).mean(), w.mean(), (w**2).mean(), w.var()
    by_mean = (mean - x) + 2 * mean * x  # of E[(x - w)^2]/2 + E[w^2] x at fixed x
    assert s["mean of w"].objective == pytest.approx(by_mean, rel=1e-6)
    assert s["mean of w"].variables["x"] == pytest.approx(1 - 2 * mean, rel=1e-6)
    by_spread = variance + 2 * variance * x
    assert s["spread of w"].objective == pytest.approx(by_spread, rel=1e-6)
    assert s["spread of w"].variables["x"] == pytest.approx(-2 * variance, rel=1e-6)
    assert square == pytest.approx(mean**2 + variance)
    np.testing.assert_array_equal(m.w.origin.matrix[:, 0], w)


def test_distributions_have_intervals_that_hold_the_truth():
    """min exp(-x) E[exp(w)] + x: x = log E[exp w], f = 1 + x, so df/dmean = dx/dmean = 1."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=0.0)
    m.w = RandomParam(distribution=st.norm(0.3, 0.5))
    m.cost = pyo.Objective(expr=E(pyo.exp(m.w - m.x)) + m.x)
    s = sensitivity(m, m.w, seed=2, confidence=0.999)
    assert s["mean of w"].objective == pytest.approx(1.0, abs=1e-6)
    assert s["mean of w"].variables["x"] == pytest.approx(1.0, abs=1e-6)
    spread = s["spread of w"]
    low, high = spread.interval
    assert low <= 0.25 <= high  # x = mean + sigma^2/2, and the spread scales sigma
    assert high - low < 1e-2


def test_formulas_of_expectations():
    """min Var[w x] - p x: x = p / (2 Var w), f = -p^2 / (4 Var w)."""
    w = np.array([1.0, 2.0, 4.0])
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=1.0)
    m.p = pyo.Param(initialize=3.0, mutable=True)
    m.w = RandomParam(data=w)
    m.cost = pyo.Objective(expr=Variance(m.w * m.x) - m.p * m.x)
    s = sensitivity(m, m.p, m.w)
    assert s[m.p].objective == pytest.approx(-3.0 / (2 * w.var()), rel=1e-6)
    assert s[m.p].variables["x"] == pytest.approx(1 / (2 * w.var()), rel=1e-6)
    assert s["mean of w"].objective == pytest.approx(0.0, abs=1e-8)
    # Var scales with (1 + h)^2
    assert s["spread of w"].objective == pytest.approx(2 * 9 / (4 * w.var()), rel=1e-6)


def test_scenario_blocks():
    """The farmer: a tonne more of wheat needed costs what a tonne costs, in the scenarios where
    wheat is bought; prices are derivatives of the objective by themselves."""
    m = pyo.ConcreteModel()
    m.need = pyo.Param(initialize=2.0, mutable=True)
    m.x = pyo.Var(bounds=(0, 5), initialize=1.0)
    m.s = pyo.Block([0, 1])
    for k, demand in enumerate((1.0, 3.0)):
        block = m.s[k]
        block.buy = pyo.Var(bounds=(0, None), initialize=1.0)
        block.row = pyo.Constraint(expr=m.x + block.buy >= demand * m.need)
        block.cost = pyo.Expression(expr=3 * block.buy + 0.1 * block.buy**2)
    m.cost = pyo.Objective(expr=m.x**2 + E(m.s[:].cost))
    found = sensitivity(m, m.need)[m.need]

    def build():
        clone = m.clone()
        clone.need.set_value(2.0)
        return clone

    objective, _ = resolved(build, shift_param("need"), 1e-3)
    assert found.objective == pytest.approx(objective, rel=1e-4)


def test_results_of_a_solve_are_used():
    m = portfolio()
    results = pyo.SolverFactory("stochsqp").solve(m, **SHARP)
    before = [v.value for v in m.x.values()]
    with_results = sensitivity(m, m.aversion, results=results)
    alone = sensitivity(m, m.aversion, options=SHARP)
    assert with_results[m.aversion].objective == pytest.approx(alone[m.aversion].objective)
    assert pyo.value(m.aversion) == 2.0
    assert [v.value for v in m.x.values()] == pytest.approx(before)
    assert list(with_results.to_pandas().columns) == ["objective", *(v.name for v in m.x.values())]


def test_what_cannot_be_answered_is_refused_by_name():
    m = portfolio()
    with pytest.raises(OptionError, match="name at least one"):
        sensitivity(m)
    with pytest.raises(ModelError, match="no parameter that can be changed"):
        sensitivity(m, m.x)
    results = pyo.SolverFactory("stochsqp").solve(m)
    m.x[0].fix()
    with pytest.raises(ModelError, match="not the one that the results belong to"):
        sensitivity(m, m.aversion, results=results)


def test_flat_optima_have_no_derivative():
    m = pyo.ConcreteModel("flat")
    m.x = pyo.Var([0, 1], initialize=1.0)
    m.p = pyo.Param(initialize=2.0, mutable=True)
    m.w = RandomParam(data=[1.0, 3.0])
    m.cost = pyo.Objective(expr=E((m.x[0] + m.x[1] - m.p * m.w) ** 2))
    with pytest.raises(ModelError, match=r"'flat'.*not unique"):
        sensitivity(m, m.p)


def test_optima_on_a_flat_stretch_are_told():
    """The order may be anything between two demands, but for the rounding of kinks."""
    m = pyo.ConcreteModel("newsvendor")
    m.q = pyo.Var(bounds=(0, None), initialize=100.0)
    m.c = pyo.Param(initialize=2.0, mutable=True)
    m.d = RandomParam(data=np.array([60.0, 80.0, 90.0, 120.0, 150.0]))
    m.profit = pyo.Objective(expr=E(5 * smooth_min(m.q, m.d) - m.c * m.q), sense=pyo.maximize)
    assert "depends on 'q'" in "".join(sensitivity(m, m.c).cautions)


def test_rows_on_the_edge_are_told():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=0.0)
    m.p = pyo.Param(initialize=2.0, mutable=True)
    m.w = RandomParam(data=[1.0, 3.0])
    m.cost = pyo.Objective(expr=E((m.x - m.w) ** 2))
    m.edge = pyo.Constraint(expr=m.x >= m.p)
    assert "edge" in "".join(sensitivity(m, m.p).cautions)


def test_risk():
    """CVaR of a sum of normals: mean + c std, whose derivatives by mean and spread are known."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=0.5, bounds=(0.2, 2))
    m.w = RandomParam(distribution=st.norm(1.0, 0.5))
    m.cost = pyo.Objective(expr=CVaR(m.w * m.x, 0.9) + m.x)
    s = sensitivity(m, m.w, confidence=0.999, samples=1 << 15)
    c = st.norm.pdf(st.norm.ppf(0.9)) / 0.1
    assert s["mean of w"].objective == pytest.approx(0.2, abs=1e-3)
    assert s["spread of w"].objective == pytest.approx(0.2 * 0.5 * c, rel=1e-2)


def test_a_newsvendor():
    """Kinks stay as wide as they were for the solution: F(q) = 1 - cost/price."""
    law = st.gamma(4.0, scale=25.0)
    m = pyo.ConcreteModel()
    m.cost = pyo.Param(initialize=4.0, mutable=True)
    m.q = pyo.Var(bounds=(0, 500), initialize=50.0)
    m.demand = RandomParam(distribution=law)
    m.profit = pyo.Objective(
        expr=E(10.0 * smooth_min(m.q, m.demand)) - m.cost * m.q, sense=pyo.maximize
    )
    s = sensitivity(m, m.cost, m.demand)
    q = law.ppf(0.6)
    assert s[m.cost].objective == pytest.approx(-q, rel=1e-3)
    assert s[m.cost].variables["q"] == pytest.approx(-0.1 / law.pdf(q), rel=2e-2)
    assert s["mean of demand"].objective == pytest.approx(6.0, rel=1e-3)
