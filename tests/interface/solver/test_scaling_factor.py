"""The Suffix scaling_factor: taken where it is given, and never visible in an answer."""

import pyomo.environ as pyo
import pytest

from pyomo_stochsqp.interface.options.table import validated
from pyomo_stochsqp.solve import prepare


def model(factors=True):
    """min (x / 1e5 - 1)^2 + (y - 2)^2  s.t.  x / 1e5 + y = 2: x = 5e4, y = 1.5, dual -1."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=0.0)
    m.y = pyo.Var(initialize=0.0)
    m.o = pyo.Objective(expr=(m.x / 1e5 - 1) ** 2 + (m.y - 2) ** 2)
    m.c = pyo.Constraint(expr=m.x / 1e5 + m.y == 2)
    m.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    if factors:
        m.scaling_factor = pyo.Suffix(direction=pyo.Suffix.EXPORT)
        m.scaling_factor[m.x] = 1e-5
        m.scaling_factor[m.c] = 10.0
        m.scaling_factor[m.o] = 100.0
    return m


@pytest.mark.parametrize("scaling", ["auto", "user", "none"])
@pytest.mark.parametrize("algorithm", ["stages", "stochsqp"])
@pytest.mark.parametrize("solver", ["interior", "sqp"])
def test_answers_are_in_the_models_units(scaling, algorithm, solver):
    m = model()
    pyo.SolverFactory("stochsqp").solve(
        m, scaling=scaling, algorithm=algorithm, exact_solver=solver, hessian="exact"
    )
    assert m.x.value == pytest.approx(5e4, rel=1e-5)
    assert m.y.value == pytest.approx(1.5, rel=1e-5)
    assert m.dual[m.c] == pytest.approx(-1.0, rel=1e-4)


@pytest.mark.parametrize(
    ("scaling", "factors", "length"),
    [("auto", True, 1e5), ("user", True, 1e5), ("none", True, 1.0), ("user", False, 1.0)],
)
def test_the_engines_are_told(scaling, factors, length):
    setup = prepare(model(factors), validated({"scaling": scaling}))
    assert setup.method._solving._factors.variables[0] == pytest.approx(length)
    assert setup.beginning().state.sizes.reach[0] == pytest.approx(length)


def test_without_factors_the_engines_choose():
    setup = prepare(model(False), validated({}))
    assert setup.method._solving._factors is None
