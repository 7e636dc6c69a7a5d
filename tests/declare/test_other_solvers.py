"""Finite expectations are ordinary sums for every other Pyomo solver; the rest is refused."""

import os

import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.stats as st

from pyomo_stochsqp import E, RandomParam
from pyomo_stochsqp.errors import ModelError


def linear(**random):
    """min (1 + E a) x + 2 E b y  s.t.  E a x + E b y >= 4, with E a = 2.5, E b = 4.25."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=1.0, bounds=(0, 10))
    m.y = pyo.Var(initialize=1.0, bounds=(0, 10))
    m.w = RandomParam(["a", "b"], **random)
    m.obj = pyo.Objective(expr=E(m.w["a"] * m.x + 2 * m.w["b"] * m.y) + m.x)
    m.con = pyo.Constraint(expr=E(m.w["a"] * m.x) + E(m.w["b"]) * m.y >= 4)
    return m


TABLE = {"data": np.array([[1.0, 2.0], [3.0, 5.0]]), "weights": [0.25, 0.75]}


@pytest.mark.parametrize("name", ["appsi_highs", "highs"])
def test_highs_solves_finite_linear_models_unchanged(name):
    solver = pyo.SolverFactory(name)
    if not solver.available(exception_flag=False):
        pytest.skip(f"{name} is not installed")
    m = linear(**TABLE)
    solver.solve(m)
    # x costs 3.5 for 2.5 of the constraint, y costs 8.5 for 4.25: only x is bought
    assert pyo.value(m.x) == pytest.approx(1.6)
    assert pyo.value(m.y) == pytest.approx(0.0, abs=1e-7)


def test_a_persistent_solver_notices_fixed_numbers_and_blocks():
    solver = pyo.SolverFactory("appsi_highs")
    if not solver.available(exception_flag=False):
        pytest.skip("appsi_highs is not installed")
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=1.0, bounds=(0, 100))

    @m.Block([1, 2])
    def scenario(b, s):
        b.need = pyo.Expression(expr=m.x / s)

    m.w = RandomParam(data=[1.0, 3.0])
    m.obj = pyo.Objective(expr=m.x)
    m.con = pyo.Constraint(expr=E(m.scenario[:].need, renormalise=True) >= E(m.w))
    solver.solve(m)
    assert pyo.value(m.x) == pytest.approx(2 / 0.75)
    m.w.fix_to(6.0)
    solver.solve(m)
    assert pyo.value(m.x) == pytest.approx(6 / 0.75)
    m.scenario[2].deactivate()
    solver.solve(m)
    assert pyo.value(m.x) == pytest.approx(6.0)


@pytest.mark.parametrize("suffix", ["lp", "nl", "mps", "gms", "bar"])
def test_every_writer_reads_finite_models_and_refuses_distributions(tmp_path, suffix):
    target = str(tmp_path / f"model.{suffix}")
    linear(**TABLE).write(target)
    assert os.path.getsize(target) > 0
    m = linear(distribution=st.norm())
    with pytest.raises(ModelError, match=r"'w\[[ab]\]' is random.*stochsqp.extensive_form"):
        m.write(target)
    m.w.fix_to("mean")
    m.write(target)


def nonlinear_solver():
    for name in ("ipopt", "asl:pounce"):
        solver = pyo.SolverFactory(name)
        if solver.available(exception_flag=False):
            return solver
    pytest.skip("no nonlinear solver is installed")


@pytest.fixture(scope="module")
def nlp():
    return nonlinear_solver()


def test_nonlinear_finite_models(nlp):
    """min E[exp(-w x)] + x^2 / 2: the same as the explicit sum."""
    w, p = np.array([0.5, 1.0, 3.0]), np.array([0.2, 0.5, 0.3])
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=0.0)
    m.w = RandomParam(data=w, weights=p)
    m.obj = pyo.Objective(expr=E(pyo.exp(-m.w * m.x)) + m.x**2 / 2)
    nlp.solve(m)
    x = pyo.value(m.x)
    # stationary to the solver's tolerance of about 1e-8
    assert -p @ (w * np.exp(-w * x)) + x == pytest.approx(0.0, abs=1e-6)


def test_scenario_blocks_with_recourse(nlp):
    """Newsvendor with two demands: the order is the larger one exactly if it pays."""
    m = pyo.ConcreteModel()
    m.order = pyo.Var(initialize=1.0, bounds=(0, 20))

    @m.Block([5, 10])
    def scenario(b, demand):
        b.sales = pyo.Var(initialize=1.0, bounds=(0, demand))
        b.stock = pyo.Constraint(expr=b.sales <= m.order)
        b.profit = pyo.Expression(expr=3 * b.sales - m.order)

    m.obj = pyo.Objective(
        expr=E(m.scenario[:].profit, weights={5: 0.5, 10: 0.5}), sense=pyo.maximize
    )
    nlp.solve(m)
    assert pyo.value(m.order) == pytest.approx(10.0, abs=1e-4)
