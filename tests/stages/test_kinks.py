"""Kinks that were rounded off: what that adds is measured, and made small enough."""

import pickle

import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.stats as st
from scipy.optimize import linprog

from pyomo_stochsqp import CVaR, E, Probability, RandomParam, evaluate, positive_part
from pyomo_stochsqp.declare.width_factor import WIDTH_FACTOR, narrowed


def optimal(m, **options):
    results = pyo.SolverFactory("stochsqp").solve(m, **options)
    pyo.assert_optimal_termination(results)
    return results


def capacity(law, row, start):
    """The least x that a random demand exceeds rarely."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=start, bounds=(0, None))
    m.d = RandomParam(distribution=law)
    m.size = pyo.Objective(expr=m.x)
    m.chance = pyo.Constraint(expr=row(Probability(m.d <= m.x)))
    return m


@pytest.mark.parametrize("law", [st.uniform(), st.expon(), st.beta(2, 5), st.triang(0.5, 10, 20)])
def test_densities_with_edges(law):
    """A third of a standard deviation is too wide where a density ends or has a corner."""
    m = capacity(law, lambda p: p >= 0.99, law.mean())
    c = optimal(m, seed=1).certificate
    assert m.x.value == pytest.approx(law.ppf(0.99), rel=3e-3)
    assert abs(m.x.value - law.ppf(0.99)) <= c.displacement[0]
    assert law.cdf(m.x.value) == pytest.approx(0.99, abs=1e-3)


@pytest.mark.parametrize("law", [st.poisson(20), st.bernoulli(0.3)])
def test_an_order_of_whole_things(law):
    """The newsvendor's cost over a discrete demand has a corner at its optimum."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=law.mean(), bounds=(0, None))
    m.d = RandomParam(distribution=law)
    m.cost = pyo.Objective(expr=0.1 * m.x + E(positive_part(m.d - m.x)))
    optimal(m, seed=1)
    assert m.x.value == pytest.approx(law.ppf(0.9), abs=0.03)


@pytest.mark.parametrize("rows", [10, 100])
def test_cvar_of_a_table_is_that_of_the_linear_program(rows):
    returns = np.random.default_rng(3).standard_t(5, (rows, 3)) * [0.05, 0.1, 0.2] + [
        0.03, 0.05, 0.1,
    ]  # fmt: skip
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(3), bounds=(0, 1), initialize=1 / 3)
    m.r = RandomParam(range(3), data=returns)
    m.all = pyo.Constraint(expr=sum(m.x[j] for j in range(3)) == 1)
    loss = -sum(m.r[j] * m.x[j] for j in range(3))
    m.risk = pyo.Objective(expr=CVaR(loss, 0.8))
    results = optimal(m, tol_opt=1e-6, tol_feas=1e-6)
    exact = linprog(
        [0, 0, 0, 1, *[1 / (0.2 * rows)] * rows],  # x, t, u >= -r'x - t
        A_ub=np.hstack([-returns, -np.ones((rows, 1)), -np.eye(rows)]),
        b_ub=np.zeros(rows),
        A_eq=[[1, 1, 1] + [0] * (rows + 1)],
        b_eq=[1],
        bounds=[(0, 1)] * 3 + [(None, None)] + [(0, None)] * rows,
    )
    assert [m.x[j].value for j in range(3)] == pytest.approx(exact.x[:3], abs=1e-5)
    assert results.certificate.objective == pytest.approx(exact.fun, abs=1e-6)
    assert pyo.value(m.risk) == pytest.approx(exact.fun, abs=1e-6)


@pytest.mark.parametrize(
    "row",
    [
        lambda p: p >= 0.95, lambda p: 1 - p <= 0.05, lambda p: p - 0.95 >= 0,
        lambda p: (1 - p) / 0.05 <= 1, lambda p: -2 * p <= -1.9,
    ],
)  # fmt: skip
def test_ways_to_write_a_chance_constraint(row):
    """All are read by the quantile: from a start where the probability is flat."""
    m = capacity(st.norm(10, 2), row, 100.0)
    optimal(m, seed=1)
    assert m.x.value == pytest.approx(st.norm(10, 2).ppf(0.95), rel=1e-3)


def test_evaluate_tells_the_probability_itself():
    m = capacity(st.norm(10, 2), lambda p: p >= 0.5, 12.0)
    chance = evaluate(m, seed=1)[m.chance]
    assert abs(chance.value - st.norm.cdf(1.0)) < 4 * chance.standard_error < 4e-3


def test_one_factor_for_all_models():
    """It is a leaf of expressions that copies and pickles of models share."""
    m = capacity(st.norm(), lambda p: p >= 0.9, 1.0)
    assert pickle.loads(pickle.dumps(WIDTH_FACTOR)) is WIDTH_FACTOR
    again = pickle.loads(pickle.dumps(m)).clone()
    assert pyo.value(again.chance.body) == pyo.value(m.chance.body)
    with narrowed(2):
        assert pyo.value(WIDTH_FACTOR) == 1 / 16
    assert pyo.value(WIDTH_FACTOR) == 1.0


@pytest.mark.parametrize("limit", [0.08, 0.15])
def test_the_best_mean_under_a_limit_on_the_cvar_of_a_table(limit):
    """A linear program again, now with the kinks in a constraint."""
    rng = np.random.default_rng(0)
    means, C = [0.08, 0.05, 0.03], [[0.04, 0.01, 0], [0.01, 0.02, 0], [0, 0, 0.0025]]
    returns = rng.multivariate_normal(means, C, size=500)
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(3), bounds=(0, 1), initialize=1 / 3)
    m.r = RandomParam(range(3), data=returns)
    gain = sum(m.r[j] * m.x[j] for j in range(3))
    m.all = pyo.Constraint(expr=sum(m.x[j] for j in range(3)) == 1)
    m.risk = pyo.Constraint(expr=CVaR(-gain, 0.95) <= limit)
    m.mean = pyo.Objective(expr=E(gain), sense=pyo.maximize)
    results = optimal(m)
    n = len(returns)
    # variables: x, t, u >= -gain - t; t + sum u / (n (1 - level)) <= limit
    rows = np.hstack((-returns, -np.ones((n, 1)), -np.eye(n)))
    risk = np.concatenate((np.zeros(3), [1.0], np.full(n, 1 / (0.05 * n))))
    exact = linprog(
        np.concatenate((-returns.mean(axis=0), np.zeros(n + 1))),
        A_ub=np.vstack((rows, risk)), b_ub=np.append(np.zeros(n), limit),
        A_eq=np.array([[1.0] * 3 + [0.0] * (n + 1)]), b_eq=[1.0],
        bounds=[(0, 1)] * 3 + [(None, None)] + [(0, None)] * n,
    )  # fmt: skip
    assert pyo.value(m.mean) == pytest.approx(-exact.fun, rel=1e-4)
    assert [v.value for v in m.x.values()] == pytest.approx(exact.x[:3].tolist(), abs=2e-3)
    assert results.history["iteration"][-1] < 200
