"""Solving again after a change: recompiled only when the structure changed, and always right."""

import numpy as np
import pyomo.environ as pyo
import pytest
from pyomo.contrib.solver.common.factory import SolverFactory

from pyomo_stochsqp import E
from tests.interface.models import circle, regression, regression_answer


@pytest.fixture
def solver():
    return SolverFactory("stochsqp")


def compilations(solver):
    return solver._compiler.compilations


def values(m):
    return [m.x[j].value for j in range(3)]


def test_params_are_read_again_without_compiling(solver):
    m = regression()
    for p in (1.0, 3.0, -2.0):
        m.p = p
        solver.solve(m, seed=1)
        np.testing.assert_allclose(values(m), regression_answer(m)[0], atol=1e-5)
    assert compilations(solver) == 1


def test_params_inside_expressions(solver):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=0.0)
    m.a = pyo.Param(initialize=2.0, mutable=True)
    m.inside = pyo.Expression(expr=m.a * m.x)
    m.obj = pyo.Objective(expr=E([(m.inside - 4) ** 2, (m.inside - 8) ** 2]))
    for a in (2.0, 3.0):
        m.a = a
        solver.solve(m, seed=1)
        assert m.x.value == pytest.approx(6 / a, abs=1e-5)
    assert compilations(solver) == 1


def test_named_expressions_set_anew_are_compiled_again(solver):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=0.0)
    m.e = pyo.Expression(expr=m.x - 1)
    m.obj = pyo.Objective(expr=m.e**2)
    solver.solve(m)
    assert m.x.value == pytest.approx(1.0, abs=1e-5)
    m.e.set_value(m.x - 5)
    solver.solve(m)
    assert m.x.value == pytest.approx(5.0, abs=1e-5)
    assert compilations(solver) == 2


def test_fixed_variables(solver):
    m = circle()
    m.y.fix(-1.0)
    m.x.set_value(-1.5)
    solver.solve(m)
    assert m.x.value == pytest.approx(-2.0, abs=1e-5)
    m.y.fix(-2.0)  # another value
    solver.solve(m)
    assert m.x.value == pytest.approx(-1.0, abs=1e-5)
    assert compilations(solver) == 1
    m.y.unfix()  # another structure
    solver.solve(m)
    assert m.y.value == pytest.approx(-2.0, abs=1e-4)
    assert compilations(solver) == 2


def test_other_changes_of_structure(solver):
    m = regression()
    solver.solve(m, seed=1)
    m.more = pyo.Constraint(expr=m.x[0] == 0.25)
    solver.solve(m, seed=1)
    assert m.x[0].value == pytest.approx(0.25, abs=1e-5)
    m.more.set_value(m.x[0] == 0.5)
    solver.solve(m, seed=1)
    assert m.x[0].value == pytest.approx(0.5, abs=1e-5)
    m.more.deactivate()
    solver.solve(m, seed=1)
    np.testing.assert_allclose(values(m), regression_answer(m)[0], atol=1e-5)
    m.fit.sense = pyo.minimize
    assert compilations(solver) == 4


def test_fixing_random_numbers(solver):
    m = regression()
    solver.solve(m, seed=1)
    m.w.fix_to(row=0)
    m.x[1].fix(0.0)
    m.x[2].fix(0.0)
    m.total.deactivate()
    solver.solve(m, seed=1)
    row = m.w.origin.matrix[0]
    assert m.x[0].value == pytest.approx(row[3] / row[0], abs=1e-4)
    m.w.fix_to(row=1)
    solver.solve(m, seed=1)
    row = m.w.origin.matrix[1]
    assert m.x[0].value == pytest.approx(row[3] / row[0], abs=1e-4)


def test_two_models_alternate(solver):
    a, b = regression(), circle()
    for _ in range(2):
        solver.solve(a, seed=1)
        solver.solve(b)
        np.testing.assert_allclose(values(a), regression_answer(a)[0], atol=1e-5)
        assert b.x.value == pytest.approx(-1.0, abs=1e-5)


def test_a_second_solve_starts_where_the_first_ended(solver):
    m = circle()
    first = solver.solve(m)
    second = solver.solve(m, warm_start=True)
    assert second.iteration_count < first.iteration_count


def test_a_model_with_a_mistake_leaves_nothing_behind(solver):
    m = circle()
    m.y.domain = pyo.Integers
    with pytest.raises(ValueError, match="y"):
        solver.solve(m)
    m.y.domain = pyo.Reals
    solver.solve(m)
    assert m.x.value == pytest.approx(-1.0, abs=1e-5)
