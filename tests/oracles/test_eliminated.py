"""Formulas of expectations: derivatives through eliminated numbers, pooled and linearised."""

import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.stats as st

from pyomo_stochsqp import (
    CVaR,
    E,
    Entropic,
    Probability,
    Quantile,
    RandomParam,
    SemiDeviation,
    Std,
    Variance,
)
from pyomo_stochsqp.certify.replicates import estimated
from pyomo_stochsqp.compile import compile_program
from pyomo_stochsqp.declare import read_model
from pyomo_stochsqp.oracle import STAGE_STREAM, whole_sample
from pyomo_stochsqp.oracles import Eliminated, Jackknifed, ModelOracle, model_oracle
from pyomo_stochsqp.sample import Sampler

ROWS = np.random.default_rng(1).normal([0.1, 0.3, -0.2], [0.5, 1.0, 0.3], (400, 3))
X = np.array([0.4, 0.3, 0.6])

FORMULAS = {
    "square of a mean": lambda p, r: E(p) ** 2 + E(p * r),
    "ratio": lambda p, r: E(p**2) / (2 + E(r * p)),
    "std": lambda p, r: Std(p) - E(p),
    "entropic": lambda p, r: Entropic(p, 2.0),
    "kurtosis": lambda p, r: E((p - E(p)) ** 4) / Variance(p) ** 2,
    "three levels": lambda p, r: pyo.log(E(pyo.exp((p - E(p)) ** 2 / Std(p)))),
    "quantile": lambda p, r: Quantile(p, 0.8, width=0.3),
    "cvar": lambda p, r: CVaR(p, 0.8, width=0.2) ** 2,
    "probability": lambda p, r: Probability(p <= 0.2, width=0.3) ** 2,
    "semideviation": lambda p, r: SemiDeviation(p, 2),
    "kink": lambda p, r: E(abs(p - 0.1)),
    "product of two": lambda p, r: E(p) * E(pyo.exp(r * p)),
}


def model(formula, random=None):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(3), initialize=dict(enumerate(X)))
    m.w = RandomParam(range(3), **(random or {"data": ROWS}))
    p = sum(m.w[i] * pyo.sin(m.x[i]) for i in range(3))
    m.obj = pyo.Objective(expr=formula(p, m.w[0]) + m.x[0] * m.x[1])
    m.row = pyo.Constraint(expr=m.x[2] * formula(p * m.x[0], m.w[1]) + E(p) >= -5)
    m.plain = pyo.Constraint(expr=m.x[0] + m.x[1] ** 2 <= 3)
    return m


def oracle_of(m, seed=0):
    program = read_model(m)
    return model_oracle(program, compile_program(program), Sampler(program.sources, seed))


def differences(function, x, h=1e-5):
    columns = [(function(x + h * e) - function(x - h * e)) / (2 * h) for e in np.eye(x.size)]
    return np.array(columns).T


@pytest.mark.parametrize("name", FORMULAS)
def test_derivatives(name):
    """Against central differences: second order in 1e-5, so nine digits, and a margin."""
    oracle = oracle_of(model(FORMULAS[name]))
    assert isinstance(oracle, Eliminated)
    sample, y = whole_sample(oracle), np.array([0.7, -0.4])
    e = oracle.estimate(X, sample, objective=True)
    problem = oracle.problem
    J = np.zeros((problem.m, problem.n))
    J[problem.jac_rows, problem.jac_indices] = e.J

    def values(x):
        at = oracle.estimate(x, sample, objective=True)
        return np.append(at.c, at.f)

    expected = differences(values, X)
    assert J == pytest.approx(expected[:-1], rel=2e-6, abs=2e-7)
    assert e.g == pytest.approx(expected[-1], rel=2e-6, abs=2e-7)

    def lagrangian_gradient(x):
        at = oracle.estimate(x, sample)
        full = np.zeros((problem.m, problem.n))
        full[problem.jac_rows, problem.jac_indices] = at.J
        return at.g + y @ full

    indptr, indices = oracle.hessian_pattern()
    H = np.zeros((problem.n, problem.n))
    columns = np.repeat(np.arange(problem.n), np.diff(indptr))
    H[indices, columns] = oracle.hessian(X, y, sample)
    H = H + np.triu(H, 1).T
    assert H == pytest.approx(differences(lagrangian_gradient, X), rel=1e-5, abs=1e-5)


def test_second_derivatives_with_many_variables_keep_their_pattern():
    """700 variables, of which four are in the formula: sparse matrices, the same numbers."""
    n = 700
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(n), initialize=lambda m, i: 0.5 + i / n)
    m.w = RandomParam(range(3), data=ROWS)
    p = sum(m.w[i] * m.x[i] * m.x[n - 1] for i in range(3))
    m.obj = pyo.Objective(expr=Std(p) + sum(m.x[i] ** 2 for i in range(n)))
    oracle = oracle_of(m)
    x, sample = oracle.problem.x0, whole_sample(oracle)
    indptr, indices = oracle.hessian_pattern()
    assert indices.size <= n + 6
    columns = np.repeat(np.arange(n), np.diff(indptr))
    H = np.zeros((n, n))
    H[indices, columns] = oracle.hessian(x, np.zeros(0), sample)
    H = H + np.triu(H, 1).T
    for j in (0, 2, 100, n - 1):
        h = np.eye(n)[j] * 1e-5
        up, down = (oracle.estimate(x + s * h, sample).g for s in (1, -1))
        assert H[j] == pytest.approx((up - down) / 2e-5, rel=1e-5, abs=1e-6)


def test_models_without_formulas_are_as_before():
    m = model(lambda p, r: E(p**2))
    assert isinstance(oracle_of(m), ModelOracle)


def test_equal_expectations_are_one():
    m = model(lambda p, r: Variance(p) / (1 + E(p) ** 2))
    program = read_model(m)
    # objective and row each: E[p], E[(p - t)^2]
    assert len(program.definitions) == 4
    assert [d.level for d in program.definitions] == [0, 0, 1, 1]


def test_the_bias_of_replicates_is_removed():
    """(E w)^2 on samples of n scenarios is too large by var / n; pooled, and by the jackknife, not
    at all: the mean over 200 certificates is within four of its standard errors."""
    normal = {"sampler": lambda rng, n: rng.normal(1.0, 1.0, (n, 3))}
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=1.0)
    m.w = RandomParam(range(3), **normal)
    m.obj = pyo.Objective(expr=m.x * E(m.w[0]) ** 2)
    found, plain = [], []
    for seed in range(200):
        oracle = oracle_of(m, seed)
        parts = oracle.draw_replicates(STAGE_STREAM, 1, [8], 16).parts
        values = estimated(oracle, oracle.problem.x0, parts)
        found.append(values.f.mean())
        plain.append(np.mean([oracle.estimate(oracle.problem.x0, s, True).f for s in parts]))
    error = np.std(found, ddof=1) / np.sqrt(200)
    assert abs(np.mean(found) - 1.0) < 4 * error
    assert np.mean(plain) - 1.0 > 0.08  # 1/8 was to be expected


def test_the_jackknife_of_two_halves_has_no_bias_of_first_order():
    """f, g, c and J of (x E w)^2 over 4000 batches of 8: 1/8 too large without, right with it."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=1.0)
    m.w = RandomParam(sampler=lambda rng, n: rng.normal(1.0, 1.0, (n, 1)))
    m.obj = pyo.Objective(expr=(m.x * E(m.w)) ** 2)
    m.row = pyo.Constraint(expr=E(m.w * m.x) ** 2 <= 9)
    plain = oracle_of(m)
    unbiased, x = Jackknifed(plain), np.ones(1)
    batches = [plain.draw(0, k, [8]) for k in range(4000)]
    for oracle, bias in ((plain, 1 / 8), (unbiased, 0.0)):
        made = [oracle.estimate(x, batch, objective=True) for batch in batches]
        # a square of means has a spread of about 0.7: four errors of the mean are 0.045
        assert np.mean([e.f for e in made]) == pytest.approx(1.0 + bias, abs=0.05)
        assert np.mean([e.g[0] for e in made]) == pytest.approx(2.0 * (1.0 + bias), abs=0.1)
        assert np.mean([e.c[0] for e in made]) == pytest.approx(1.0 + bias, abs=0.05)
        assert np.mean([e.J[0] for e in made]) == pytest.approx(2.0 * (1.0 + bias), abs=0.1)


def test_batches_of_four_scenarios_are_divided():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=1.0)
    m.w = RandomParam(sampler=lambda rng, n: rng.normal(1.0, 1.0, (n, 1)))
    m.obj = pyo.Objective(expr=(m.x * E(m.w)) ** 2)
    plain, x = oracle_of(m), np.ones(1)
    for size, divided in ((3, False), (4, True)):
        batch = plain.draw(0, 1, [size])
        found = Jackknifed(plain).estimate(x, batch).g[0]
        assert (found != plain.estimate(x, batch).g[0]) == divided


def test_spreads_of_single_scenarios_are_those_of_influences():
    """d(E w)^2 = 2 E[w] dw: the spread of (E w)^2 over single scenarios is 2 |E w| std w."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=1.0)
    m.w = RandomParam(distribution=st.norm(3.0, 0.5))
    m.obj = pyo.Objective(expr=m.x * E(m.w) ** 2)
    oracle = oracle_of(m)
    x = oracle.problem.x0
    large = oracle.draw_replicates(STAGE_STREAM, 1, [1024], 16).pooled
    pairs = [oracle.draw(6, i, [2]) for i in range(400)]
    made = oracle.linearised(x, pairs, large)
    spread = np.sqrt(2) * np.std([e.f for e in made], ddof=1)
    assert spread == pytest.approx(2 * 3.0 * 0.5, rel=0.15)  # 400 pairs: 3.5 % each
    assert np.mean([e.f for e in made]) == pytest.approx(9.0, abs=0.5)


def test_trouble_inside_a_definition_is_named():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=-1.0)
    m.w = RandomParam(data=np.array([1.0, 2.0]))
    m.obj = pyo.Objective(expr=pyo.exp(E(pyo.log(m.w * m.x))))
    e = oracle_of(m).estimate(np.array([-1.0]), whole_sample(oracle_of(m)), True)
    assert e.issue is not None and "log" in str(e.issue)
