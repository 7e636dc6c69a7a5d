"""Models with formulas of expectations, end to end: tables, distributions, scenarios, chances."""

import numpy as np
import pyomo.environ as pyo
import pytest
from scipy import stats

from benchmarks.formulas import chance, portfolios
from pyomo_stochsqp import E, Probability, RandomParam, Std, Variance
from pyomo_stochsqp.compile import CompilerCache
from pyomo_stochsqp.declare import read_model

ROWS = portfolios.table(2000)
TABLES = [
    "variance_by_squares", "mean_and_std", "sharpe", "coefficient_of_variation", "entropic",
    "ratio_constraint", "correlation", "std_constraint", "fourth_moment", "equal_group_means",
]  # fmt: skip


def optimal(m, **options):
    results = pyo.SolverFactory("stochsqp").solve(m, **options)
    pyo.assert_optimal_termination(results)
    return results


@pytest.mark.parametrize("name", TABLES)
def test_tables_against_the_natural_form(name):
    """SLSQP, by complex steps: x to 1e-6 and duals to 1e-5, both of the same problem."""
    entry = portfolios.REGISTRY[name]
    truth = portfolios.exact(entry, ROWS)
    m = portfolios.build(entry, ROWS)
    optimal(m, tol_opt=1e-8, tol_feas=1e-8)
    x = np.array([m.x[i].value for i in range(4)])
    assert x == pytest.approx(truth.x, abs=1e-6)
    duals = [m.dual[c] for c in (*m.equal.values(), *m.at_most.values())]
    assert duals == pytest.approx(list(truth.duals), rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("name", ["mean_and_std", "sharpe", "std_constraint"])
def test_distributions_at_default_options(name):
    entry = portfolios.REGISTRY[name]
    truth = portfolios.exact(entry, *portfolios.gauss_hermite(8))
    m = portfolios.build(entry)
    c = optimal(m, seed=2).certificate
    assert (np.abs(c.x - truth.x) <= c.displacement).all()


@pytest.mark.parametrize("start", [100.0, 20.0, 0.0])
def test_a_chance_constraint_from_anywhere(start):
    entry = chance.capacity()
    m = entry.build(start)
    m.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    optimal(m, seed=0)
    assert m.x[0].value == pytest.approx(entry.x[0], rel=1e-3)
    # dx/dp = 1 / density, in the units of the probability
    density = 0.10313564037537139 / 10
    assert m.dual[m.chance] == pytest.approx(1 / density, rel=0.02)


def test_scenario_blocks_give_the_answer_of_the_table():
    rows = ROWS[:60]
    table = portfolios.build(portfolios.REGISTRY["mean_and_std"], rows)
    optimal(table)
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(4), initialize=0.25, bounds=(0, 1))
    m.all = pyo.Constraint(expr=sum(m.x.values()) == 1)

    @m.Block(range(60))
    def s(b, i):
        b.p = pyo.Expression(expr=sum(rows[i, j] * m.x[j] for j in range(4)))

    m.obj = pyo.Objective(expr=Std(m.s[:].p) - E(m.s[:].p))
    optimal(m)
    x, y = ([model.x[i].value for i in range(4)] for model in (table, m))
    assert y == pytest.approx(x, abs=1e-6)


def test_algorithm_1_alone():
    """Batches of 64, and no bias to be seen: the tilted mean is known to a per cent."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=0.2)
    m.w = RandomParam(sampler=lambda rng, n: rng.normal(1.0, 1.0, (n, 1)))
    m.obj = pyo.Objective(expr=pyo.log(E(pyo.exp(m.w * m.x))) - 2 * m.x)  # x + x^2/2 - 2x
    pyo.SolverFactory("stochsqp").solve(m, algorithm="stochsqp", seed=1, batch_size=64)
    assert m.x.value == pytest.approx(1.0, abs=0.03)


def test_nothing_is_compiled_twice():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=0.5)
    m.a = pyo.Param(mutable=True, initialize=1.0)
    m.w = RandomParam(data=np.arange(5.0))
    m.scale = pyo.Expression(expr=m.a * m.w)
    m.obj = pyo.Objective(expr=Std(m.scale * m.x) + (m.x - 1) ** 2)
    cache = CompilerCache()
    first = cache(read_model(m))
    m.a = 2.0
    assert cache(read_model(m)) is first and cache.compilations == 1
    m.scale.set_value(m.a * m.w**2)
    assert cache(read_model(m)) is not first and cache.compilations == 2
    m.w.fix_to(3.0)
    cache(read_model(m))
    assert cache.compilations == 3


def test_a_second_solve_reads_the_model_again():
    """Right-hand sides, levels, starts and bounds are those of now, whatever was compiled."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=1.0)
    m.least, m.level, m.factor = (pyo.Param(mutable=True, initialize=v) for v in (0.5, 0.9, 1.0))
    m.w = RandomParam(distribution=stats.norm())
    m.obj = pyo.Objective(expr=Std(m.w * m.x) + (m.x - 3) ** 2)
    m.bound = pyo.Constraint(expr=E((m.w * m.x) ** 2) ** 0.5 <= m.least)
    m.chance = pyo.Constraint(expr=m.factor * Probability(m.w <= m.x) >= m.factor * m.level)
    m.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    solver = pyo.SolverFactory("stochsqp")

    def solved():
        pyo.assert_optimal_termination(solver.solve(m, seed=1))
        return m.x.value

    m.chance.deactivate()
    assert solved() == pytest.approx(0.5, rel=3e-3)
    m.least = 0.8
    assert solved() == pytest.approx(0.8, rel=3e-3)
    m.x.setub(0.6)
    assert solved() == pytest.approx(0.6, rel=3e-3)
    m.x.setub(None)
    m.bound.deactivate()
    m.chance.activate()
    m.obj.set_value(m.x**2)
    for level in (0.9, 0.8, 0.9):
        m.level = level
        assert solved() == pytest.approx(stats.norm.ppf(level), rel=5e-3)
    dual = m.dual[m.chance]
    m.factor = 2.0
    assert solved() == pytest.approx(stats.norm.ppf(0.9), rel=5e-3)
    assert m.dual[m.chance] == pytest.approx(dual / 2, rel=0.03)


def test_maximising_and_minimising_risk():
    """A quantile is right in both directions: CVaR is not the variable of a minimum."""
    from pyomo_stochsqp import CVaR

    rows = np.random.default_rng(3).normal(0.0, 1.0, 500)
    for sense, x in ((pyo.minimize, 0.5), (pyo.maximize, 2.0)):
        m = pyo.ConcreteModel()
        m.x = pyo.Var(bounds=(0.5, 2.0), initialize=1.0)
        m.w = RandomParam(data=rows)
        m.obj = pyo.Objective(expr=CVaR(m.w * m.x, 0.9), sense=sense)
        optimal(m)
        assert m.x.value == pytest.approx(x)


def test_a_variance_that_must_not_exceed_zero_is_reached_at_the_bound():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=1.0, bounds=(0, 5))
    m.w = RandomParam(data=np.arange(5.0))
    m.obj = pyo.Objective(expr=m.x, sense=pyo.maximize)
    m.risk = pyo.Constraint(expr=Variance(m.w * m.x) <= 8.0)
    optimal(m)
    assert m.x.value == pytest.approx(2.0, rel=1e-6)
