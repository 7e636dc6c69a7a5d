"""The value of E: exact over data, a reproducible estimate over distributions, never an error."""

import io

import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.stats as st

from pyomo_stochsqp import E, RandomParam
from pyomo_stochsqp.errors import ModelError


@pytest.fixture
def m():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=0.5)
    m.w = RandomParam(distribution=st.norm(1, 1))
    m.t = RandomParam(data=np.arange(30_001.0))
    m.cost = pyo.Objective(expr=m.x**2 + E(m.t * m.x))
    m.tilt = pyo.Constraint(expr=E(pyo.exp(m.w * m.x)) <= np.e)
    return m


def test_over_data_it_is_the_average(m):
    assert pyo.value(m.cost) == pytest.approx(0.25 + 0.5 * 15_000, rel=1e-14)
    assert pyo.value(E(m.t**2)) == pytest.approx(np.mean(np.arange(30_001.0) ** 2), rel=1e-12)


def test_weights_count(m):
    m.p = RandomParam(data=np.array([1.0, 5.0]), weights=np.array([0.75, 0.25]))
    assert pyo.value(E(m.p * m.x)) == pytest.approx(1.0, rel=1e-14)


def test_over_a_distribution_it_is_a_good_estimate(m):
    """2^14 points of a Sobol' set err by about 1e-4 here; exp(x + x^2/2) is exact."""
    assert pyo.value(m.tilt.body) == pytest.approx(np.exp(0.625), rel=1e-3)
    assert pyo.value(E(m.w)) == pytest.approx(1.0, abs=1e-3)


def test_equal_points_have_equal_values(m):
    first = pyo.value(m.tilt.body)
    m.x.set_value(0.9)
    assert pyo.value(m.tilt.body) == pytest.approx(np.exp(0.9 + 0.405), rel=2e-3)
    m.x.set_value(0.5)
    assert pyo.value(m.tilt.body) == first == pyo.value(m.clone().tilt.body)


def test_params_and_fixed_variables_are_read_anew(m):
    m.p = pyo.Param(initialize=2.0, mutable=True)
    e = E(m.p * m.t * m.x)
    assert pyo.value(e) == pytest.approx(15_000)
    m.p.set_value(4.0)
    assert pyo.value(e) == pytest.approx(30_000)
    m.x.fix(1.0)
    assert pyo.value(e) == pytest.approx(60_000)
    m.w.fix_to(0.0)
    assert pyo.value(m.tilt.body) == 1.0


def test_models_can_be_printed_and_displayed(m):
    for show in (m.display, m.pprint):
        text = io.StringIO()
        show(ostream=text)
        assert "tilt" in text.getvalue() and "ERROR" not in text.getvalue()


def test_without_a_point_there_is_no_value(m):
    m.x.set_value(None)
    assert pyo.value(m.tilt.body, exception=False) is None
    with pytest.raises(ValueError, match="'x'"):
        pyo.value(m.tilt.body)


def test_outside_a_domain_there_is_no_value(m):
    e = E(pyo.log(m.w + m.x))
    assert pyo.value(e, exception=False) is None
    with pytest.raises(ValueError, match="log"):
        pyo.value(e)


def test_after_a_solve_everything_has_a_value(m, capsys):
    m.cost.set_value(E((m.x - m.w) ** 2))
    m.del_component(m.t)
    pyo.SolverFactory("stochsqp").solve(m, seed=1)
    assert pyo.value(m.cost) == pytest.approx(1 + (m.x.value - 1) ** 2, rel=5e-3)
    m.display()
    m.solutions.store_to(pyo.SolverFactory("stochsqp").solve(m, seed=1, load_solutions=False))
    assert "tilt" in capsys.readouterr().out


def test_other_solvers_still_refuse_a_distribution(m):
    m.del_component(m.tilt)
    m.cost.set_value(E(m.w * m.x))
    m.x.setlb(0)
    with pytest.raises(ModelError, match="extensive_form"):
        pyo.SolverFactory("appsi_highs").solve(m)
    m.cost.set_value(m.x)
    m.tilt = pyo.Constraint(expr=E(m.w * m.x) >= 1)
    with pytest.raises(ModelError, match="extensive_form"):
        pyo.SolverFactory("appsi_highs").solve(m)
