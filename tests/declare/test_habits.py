"""What users of Pyomo and of other tools write without thinking."""

import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.stats as st
from pyomo.opt import TerminationCondition as TC
from pyomo.util.check_units import assert_units_consistent

from pyomo_stochsqp import E, RandomParam, RandomSource
from pyomo_stochsqp.declare import read_model
from pyomo_stochsqp.errors import ModelError


@pytest.fixture
def m():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=1.0)
    m.w = RandomParam(distribution=st.norm(1, 1))
    m.v = RandomParam(distribution=st.norm(2, 1))
    return m


def test_the_random_parameters_may_be_named(m):
    """InfiniteOpt's E(expr, xi)."""
    assert str(E(m.w * m.x, m.w)) == str(E(m.w * m.x))
    assert str(E(m.w * m.v, [m.w, m.v])) == str(E(m.w * m.v))
    m.u = RandomParam([1, 2], distribution=st.norm())
    assert str(E(m.u[1] * m.x, m.u)) == str(E(m.u[1] * m.x, m.u[1])) == str(E(m.u[1] * m.x))


def test_parameters_of_one_source_stand_for_each_other(m):
    both = RandomSource("both")
    m.a = RandomParam(data=np.arange(3.0), source=both)
    m.b = RandomParam(data=np.arange(3.0), source=both)
    assert str(E(m.a * m.b, m.a)) == str(E(m.a * m.b))


def test_a_mean_over_some_of_them_is_refused(m):
    with pytest.raises(ModelError, match="'v' is random, too"):
        E(m.w * m.v, m.w)


def test_a_row_for_every_scenario_is_answered_with_recourse(m):
    m.sales = pyo.Var(initialize=0.0)
    m.obj = pyo.Objective(expr=E(m.w * m.x))
    m.limit = pyo.Constraint(expr=m.sales <= m.w)
    with pytest.raises(ModelError, match=r"'limit'.*'w'.*E\(\.\.\.\).*a Recourse block"):
        read_model(m)


def test_units_are_checked():
    pytest.importorskip("pint")
    u = pyo.units
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=1.0, units=u.kg)
    m.rate = RandomParam(distribution=st.norm(1, 1), units=u.m / u.kg)
    m.stock = RandomParam(data=np.arange(5.0), units=u.kg)
    m.way = pyo.Objective(expr=E(m.rate * m.x))
    m.total = pyo.Constraint(expr=E(m.stock) + m.x <= 10 * u.kg)
    m.square = pyo.Constraint(expr=E(m.stock * m.x) <= 10 * u.kg**2)
    assert_units_consistent(m)
    m.wrong = pyo.Constraint(expr=E(m.rate * m.x) <= 10 * u.kg)
    with pytest.raises(Exception, match="not consistent"):
        assert_units_consistent(m)


def test_an_expectation_that_does_not_exist_is_never_optimal(m):
    """E (x - w)^2 of a Cauchy number: the larger the sample, the larger its average."""
    m.c = RandomParam(distribution=st.cauchy(1, 0.1))
    m.del_component(m.w)
    m.del_component(m.v)
    m.obj = pyo.Objective(expr=E((m.x - m.c) ** 2))
    for seed in range(3):
        results = pyo.SolverFactory("stochsqp").solve(m, seed=seed, max_samples=3e7)
        assert results.solver.termination_condition != TC.optimal
        assert any("may not exist" in text for text in results.certificate.cautions)


def test_the_legacy_results_hold_the_log(m):
    m.obj = pyo.Objective(expr=E((m.x - m.w - m.v) ** 2))
    results = pyo.SolverFactory("stochsqp").solve(m, seed=1)
    assert "Ended: optimal" in results.solver_log
    assert "within" in str(results.certificate)


def test_maximised_objectives_have_the_sign_of_the_model(m):
    m.obj = pyo.Objective(expr=E(5 - (m.x - m.w - m.v) ** 2), sense=pyo.maximize)
    results = pyo.SolverFactory("stochsqp").solve(m, seed=1)
    assert results.certificate.objective == pytest.approx(3.0, abs=0.1)
    assert results.history["objective"][-1] == pytest.approx(3.0, abs=0.2)
    assert results.certificates["objective"][-1] == pytest.approx(3.0, abs=0.1)
