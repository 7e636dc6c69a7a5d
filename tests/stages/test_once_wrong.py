"""Models of ordinary users that once ended optimal and wrong, or lost a good start.

Variables in different units, steep starts, variables that have nothing to do with the rest, tiny
objectives, rare events, smoothed chance constraints, contradictions. At default options; the
tolerance of distributions is 1e-3, so that x is within 3e-3 of itself, or within its bound.
"""

import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.stats as st
from pyomo.opt import TerminationCondition as TC
from scipy.optimize import brentq
from scipy.special import expit

from pyomo_stochsqp import E, RandomParam

SEEDS = [0, 1, 2]


def model(**variables):
    """Vars by name: (start, lower, upper)."""
    m = pyo.ConcreteModel()
    for name, (start, lower, upper) in variables.items():
        m.add_component(name, pyo.Var(initialize=start, bounds=(lower, upper)))
    return m


def solve(m, **options):
    return pyo.SolverFactory("stochsqp").solve(m, **options)


def assert_optimal(m, results, **exact):
    assert results.solver.termination_condition == TC.optimal, results.solver.message
    within = results.certificate.variables
    for name, value in exact.items():
        found = m.component(name).value
        assert abs(found - value) <= max(3e-3 * abs(value), within[name]), (name, found)


@pytest.mark.parametrize("seed", SEEDS)
def test_variables_in_different_units(seed):
    m = model(x=(0, None, None), y=(0, None, None))
    m.w = RandomParam(distribution=st.norm(3, 0.1))
    m.obj = pyo.Objective(expr=E((m.x / 100 - m.w) ** 2) + (100 * m.y - 1) ** 2)
    assert_optimal(m, solve(m, seed=seed), x=300.0, y=0.01)


def test_variables_in_very_different_units_without_randomness():
    m = model(x=(0, None, None), y=(0, None, None))
    m.obj = pyo.Objective(expr=(m.x / 1e6 - 3) ** 2 + (1e6 * m.y - 1) ** 2)
    assert_optimal(m, solve(m), x=3e6, y=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_kilowatts_and_shares(seed):
    m = model(kw=(1e4, None, None), share=(0.001, 0, 1))
    m.w = RandomParam(distribution=st.norm(5e5, 1e5))
    m.obj = pyo.Objective(expr=E(((m.w - m.kw) / 1e5) ** 2) + (m.share - 0.2) ** 2)
    assert_optimal(m, solve(m, seed=seed), kw=5e5, share=0.2)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_steep_start(seed):
    m = model(x=(12, None, None))
    m.w = RandomParam(distribution=st.norm(1, 1))
    m.obj = pyo.Objective(expr=pyo.exp(m.x) - 3 * m.x + E(m.w * m.x))
    assert_optimal(m, solve(m, seed=seed), x=np.log(2.0))


def test_a_steep_start_on_a_table():
    m = model(x=(20, None, None))
    w = 1 + np.random.default_rng(0).standard_normal(20_000)
    m.w = RandomParam(data=w)
    m.obj = pyo.Objective(expr=pyo.exp(m.x) - 3 * m.x + E(m.w * m.x))
    results = solve(m, seed=0)
    assert results.solver.termination_condition == TC.optimal
    assert m.x.value == pytest.approx(np.log(3 - w.mean()), abs=1e-5)


def test_a_start_before_a_cliff():
    m = model(x=(0.99, None, None))
    m.obj = pyo.Objective(expr=(m.x - 1) ** 2 + m.x**1000)
    results = solve(m)
    assert results.solver.termination_condition == TC.optimal
    exact = brentq(lambda x: 2 * (x - 1) + 1000 * x**999, 0.5, 1.0)
    assert m.x.value == pytest.approx(exact, abs=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_large_variable_that_has_nothing_to_do_with_the_row(seed):
    m = model(x=(0.1, 0, 1), cash=(1000, None, None))
    m.w = RandomParam(distribution=st.norm(1, 30))
    m.row = pyo.Constraint(expr=E(m.w * m.x) == 0.8)
    m.floor = pyo.Constraint(expr=m.cash >= 1000)
    m.obj = pyo.Objective(expr=0.0)
    assert_optimal(m, solve(m, seed=seed), x=0.8)


def test_one_row_in_many_carries_the_mean():
    w = np.zeros(200_000)
    w[123_456] = 1e6
    m = model(x=(0, None, None))
    m.w = RandomParam(data=w)
    m.obj = pyo.Objective(expr=E((m.x - m.w) ** 2))
    results = solve(m, seed=0)
    assert results.solver.termination_condition == TC.optimal
    assert m.x.value == pytest.approx(5.0, rel=1e-5)


@pytest.mark.parametrize("seed", SEEDS)
def test_an_event_of_one_in_a_million_is_right_or_not_optimal(seed):
    def rare(rng, size):
        return 1e6 * (rng.random((size, 1)) < 1e-6)

    m = model(x=(0.5, None, None))
    m.w = RandomParam(sampler=rare)
    m.obj = pyo.Objective(expr=E((m.x - m.w) ** 2))
    results = solve(m, seed=seed, max_samples=3e6)
    if results.solver.termination_condition == TC.optimal:
        assert_optimal(m, results, x=1.0)
    else:
        assert results.certificate.cautions


@pytest.mark.parametrize("seed", SEEDS)
def test_a_smoothed_chance_constraint_from_a_feasible_start(seed):
    m = model(x=(100, 0, None))
    m.d = RandomParam(distribution=st.norm(50, 10))
    m.service = pyo.Constraint(expr=E(1 / (1 + pyo.exp(-5 * (m.x - m.d)))) >= 0.95)
    m.obj = pyo.Objective(expr=m.x)
    # the logistic distribution of scale 1/5 added to a normal one: by quadrature
    u = st.norm.ppf((np.arange(200_000) + 0.5) / 200_000)
    exact = brentq(lambda x: expit(5 * (x - 50 - 10 * u)).mean() - 0.95, 50, 100)
    assert_optimal(m, solve(m, seed=seed), x=exact)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_sharp_chance_constraint_from_a_feasible_start(seed):
    """x (2 - w) <= 3 with probability 0.95, smoothed over 0.012; w is lognormal."""
    m = model(x=(0.5, 0, 10))
    m.w = RandomParam(distribution=st.lognorm(0.5))
    m.safe = pyo.Constraint(expr=E(1 / (1 + pyo.exp(-(3 - m.x * (2 - m.w)) / 0.012))) >= 0.95)
    m.obj = pyo.Objective(expr=m.x, sense=pyo.maximize)
    w = st.lognorm(0.5).ppf((np.arange(200_000) + 0.5) / 200_000)
    exact = brentq(lambda x: expit((3 - x * (2 - w)) / 0.012).mean() - 0.95, 1.5, 5)
    assert_optimal(m, solve(m, seed=seed), x=exact)


@pytest.mark.parametrize("seed", SEEDS)
def test_contradictory_rows_are_infeasible(seed):
    m = model(x=(1, None, None))
    m.w = RandomParam(distribution=st.norm(1, 1))
    m.much = pyo.Constraint(expr=E(m.w * m.x) >= 5)
    m.little = pyo.Constraint(expr=m.x <= 2)
    m.obj = pyo.Objective(expr=m.x**2)
    results = pyo.SolverFactory("stochsqp").solve(m, seed=seed, load_solutions=False)
    assert results.solver.termination_condition == TC.infeasible


def test_a_vertex_of_a_table():
    m = model(x=(0.5, 0, 1))
    m.r = RandomParam(data=1 + 0.1 * np.random.default_rng(0).standard_normal(20_000))
    m.obj = pyo.Objective(expr=E(m.r * m.x))
    results = solve(m, seed=0)
    assert results.solver.termination_condition == TC.optimal
    assert m.x.value == 0.0
    assert results.iteration_count < 30


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("factor", [1e-12, 1.0, 1e9])
def test_a_tiny_objective(seed, factor):
    m = model(x=(1, None, None), y=(1, None, None))
    m.w = RandomParam(distribution=st.norm(1, 1))
    m.obj = pyo.Objective(expr=factor * (E((m.x - m.w) ** 2) + m.y**2))
    m.row = pyo.Constraint(expr=m.x + m.y == 3)
    assert_optimal(m, solve(m, seed=seed), x=2.0, y=1.0)


@pytest.mark.parametrize("seed", SEEDS)
def test_two_noisy_copies_of_one_row(seed):
    """E(w x) = 1 twice, with independent noise: one row, not a contradiction."""
    m = model(x=(0.5, None, None), y=(0.5, None, None))
    m.w = RandomParam(distribution=st.norm(1, 0.3))
    m.v = RandomParam(distribution=st.norm(1, 0.3))
    m.one = pyo.Constraint(expr=E(m.w * m.x) == 1)
    m.two = pyo.Constraint(expr=E(m.v * m.x) == 1)
    m.obj = pyo.Objective(expr=m.x**2 + (m.y - 1) ** 2)
    assert_optimal(m, solve(m, seed=seed), x=1.0, y=1.0)


def test_a_feasible_start_is_not_lost_to_an_infeasible_end():
    """Flat almost everywhere: whatever happens, the point is no worse than the start."""
    m = model(x=(9.0, 0, 10))
    m.d = RandomParam(distribution=st.norm(5, 0.5))
    m.service = pyo.Constraint(expr=E(1 / (1 + pyo.exp(-50 * (m.x - m.d)))) >= 0.999)
    m.obj = pyo.Objective(expr=(m.x - 1) ** 2)
    results = solve(m, seed=0)
    assert results.solver.termination_condition != TC.infeasible
    assert st.norm(5, 0.5).cdf(m.x.value) >= 0.998


@pytest.mark.parametrize("coefficient", [0.0, 1e-9, 1e-4])
def test_a_row_that_hardly_depends_on_a_variable_says_nothing_of_its_size(coefficient):
    m = model(x=(0.5, None, None), y=(1, 0, 10))
    m.w = RandomParam(sampler=lambda rng, size: rng.normal(1, 3, (size, 1)))
    m.obj = pyo.Objective(expr=E(pyo.exp(-0.2 * m.w * m.x)) + 0.3 * m.x + m.y**2)
    m.row = pyo.Constraint(expr=m.y + coefficient * m.x <= 5)
    results = solve(m, seed=1)
    # E exp(-0.2 w x) = exp(-0.2 x + 0.18 x^2)
    exact = brentq(lambda x: np.exp(-0.2 * x + 0.18 * x * x) * (0.36 * x - 0.2) + 0.3, -1, 0)
    assert_optimal(m, results, x=exact)
    assert results.certificate.relative_gap <= 1e-3
    assert results.certificate.variables["x"] <= 0.02 * abs(exact)
