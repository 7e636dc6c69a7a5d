"""Models that once ended in a wrong answer: contradictions, steep rows, unusable curvature."""

import numpy as np
import pyomo.environ as pyo
import pytest
from pyomo.opt import TerminationCondition as TC

from pyomo_stochsqp import E, RandomParam
from pyomo_stochsqp.errors import OptionError


def solved(m, **options):
    results = pyo.SolverFactory("stochsqp").solve(m, seed=1, load_solutions=False, **options)
    if results.solver.termination_condition == TC.optimal:
        m.solutions.load_from(results)
    return results.solver


def one_variable(objective, initialize=0.0, **bounds):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=initialize, **bounds)
    m.obj = pyo.Objective(expr=objective(m.x))
    return m


def test_bounds_that_contradict_each_other_are_named():
    m = one_variable(lambda x: x**2, domain=pyo.NonNegativeReals, bounds=(None, -1))
    status = solved(m)
    assert status.termination_condition == TC.infeasible
    assert "'x'" in status.message and "no value lies between" in status.message


def test_a_range_that_contradicts_itself_is_named():
    m = one_variable(lambda x: x**2)
    m.low, m.high = pyo.Param(initialize=3, mutable=True), pyo.Param(initialize=1, mutable=True)
    m.row = pyo.Constraint(expr=pyo.inequality(m.low, m.x, m.high))
    status = solved(m)
    assert status.termination_condition == TC.infeasible and "'row'" in status.message


def test_a_false_expectation_without_variables_is_named():
    m = one_variable(lambda x: x**2)
    m.w = RandomParam(data=[1.0, 2.0, 3.0])
    m.row = pyo.Constraint(expr=E(m.w) >= 5)
    status = solved(m)
    assert status.termination_condition == TC.infeasible and "'row'" in status.message


def test_a_true_expectation_without_variables_is_dropped():
    m = one_variable(lambda x: (x - 1) ** 2)
    m.w = RandomParam(data=[1.0, 2.0, 3.0])
    m.row = pyo.Constraint(expr=E(m.w) <= 5)
    assert solved(m).termination_condition == TC.optimal
    assert m.x.value == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("start", [0.0, 10.0, 20.0, 40.0])
def test_a_row_may_be_steep_at_the_start_and_flat_at_the_end(start):
    """The gradient of exp(x) falls from 2e17 at 40 to 100 at the solution, log(100)."""
    m = one_variable(lambda x: (x - 1) ** 2, start)
    m.row = pyo.Constraint(expr=pyo.exp(m.x) >= 100)
    assert solved(m).termination_condition == TC.optimal
    assert m.x.value == pytest.approx(np.log(100.0), abs=1e-6)


def test_an_objective_that_falls_exponentially_is_unbounded():
    """Its derivatives overflow long before x looks large."""
    m = one_variable(lambda x: -pyo.exp(x), 1.0, bounds=(0, None))
    assert solved(m).termination_condition == TC.unbounded


def test_an_infinite_slope_at_a_bound_ends_in_a_status():
    """The minimum is at the bound, where no multiplier exists: anything but a wrong 'optimal'."""
    m = one_variable(lambda x: 6.3 * pyo.sqrt(x + 1) + x**4, -0.26, bounds=(-1, 3))
    status = solved(m, max_iter=200)
    assert status.termination_condition != TC.optimal or m.x.value == pytest.approx(-1, abs=1e-3)


@pytest.mark.parametrize(
    ("hessian", "said"),
    [
        (np.ones(2), "shape"),
        (-np.ones(3), "positive"),
        (np.diag([1.0, -1.0, 1.0]), "positive definite"),
        (np.triu(np.ones((3, 3))), "symmetric"),
        (lambda k, x, y: np.zeros(3), "positive"),
        (lambda k, x, y: np.ones((2, 2)), "shape"),
    ],
)
def test_an_unusable_hessian_is_an_error(hessian, said):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(3), initialize=1.0)
    m.obj = pyo.Objective(expr=sum((m.x[i] - i) ** 2 for i in range(3)))
    with pytest.raises(OptionError, match=said):
        solved(m, hessian=hessian, algorithm="stochsqp")
