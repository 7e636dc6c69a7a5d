"""Multipliers and reduced costs have Pyomo's signs: those that HiGHS returns for the same model."""

import itertools

import numpy as np
import pyomo.environ as pyo
import pytest
from pyomo.contrib.solver.common.factory import SolverFactory

from pyomo_stochsqp.certify import Certificate
from pyomo_stochsqp.declare import read_model
from pyomo_stochsqp.declare.reading.suffixes import starting_duals
from pyomo_stochsqp.interface.solver.solution import StochSQPSolutionLoader
from pyomo_stochsqp.oracle import Problem
from tests.interface.models import circle, regression, regression_answer


def quadratic(sense, flipped):
    """A convex quadratic with equalities, written with either sign of its rows."""
    s = 1 if sense == pyo.minimize else -1
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(4), initialize=1.0)
    m.obj = pyo.Objective(expr=s * sum((j + 1) * (m.x[j] - j) ** 2 for j in range(4)), sense=sense)
    f = -1 if flipped else 1
    m.a = pyo.Constraint(expr=f * (m.x[0] + 2 * m.x[1] - m.x[3]) == f * 3)
    m.b = pyo.Constraint(expr=f * (m.x[2] - m.x[0]) == f * -1)
    m.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    return m


@pytest.mark.parametrize(
    ("sense", "flipped"), list(itertools.product([pyo.minimize, pyo.maximize], [False, True]))
)
def test_equalities_agree_with_highs(sense, flipped):
    highs = SolverFactory("highs")
    if not highs.available():
        pytest.skip("HiGHS is not installed")
    theirs, ours = quadratic(sense, flipped), quadratic(sense, flipped)
    highs.solve(theirs)
    SolverFactory("stochsqp").solve(ours)
    for row in ("a", "b"):
        expected = theirs.dual[theirs.component(row)]
        assert ours.dual[ours.component(row)] == pytest.approx(expected, abs=1e-5)


def with_inequalities(sense, kind):
    """A strictly convex quadratic whose rows and bounds are active on the side that is named."""
    s = 1 if sense == pyo.minimize else -1
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(3), bounds=(-2, 2), initialize=0.5)
    target = {"lower": -5.0, "upper": 5.0, "inside": 0.1}[kind]
    m.obj = pyo.Objective(expr=s * sum((m.x[j] - target * (j + 1)) ** 2 for j in range(3)),
                          sense=sense)  # fmt: skip
    m.up = pyo.Constraint(expr=m.x[0] + m.x[1] <= 1)
    m.down = pyo.Constraint(expr=m.x[0] + m.x[1] >= -1)
    m.both = pyo.Constraint(expr=(-1.5, m.x[0] - 2 * m.x[1], 1.5))
    m.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    m.rc = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    return m


@pytest.mark.parametrize("kind", ["lower", "upper", "inside"])
@pytest.mark.parametrize("sense", [pyo.minimize, pyo.maximize])
def test_inequalities_and_bounds_agree_with_highs(sense, kind):
    highs = SolverFactory("highs")
    if not highs.available():
        pytest.skip("HiGHS is not installed")
    theirs, ours = with_inequalities(sense, kind), with_inequalities(sense, kind)
    highs.solve(theirs)
    SolverFactory("stochsqp").solve(ours)
    for row in ("up", "down", "both"):
        expected = theirs.dual[theirs.component(row)]
        assert ours.dual[ours.component(row)] == pytest.approx(expected, abs=1e-4)
    for j in range(3):
        assert ours.x[j].value == pytest.approx(theirs.x[j].value, abs=1e-5)
        assert ours.rc[ours.x[j]] == pytest.approx(theirs.rc[theirs.x[j]], abs=1e-4)


@pytest.mark.parametrize("sense", [pyo.minimize, pyo.maximize])
def test_the_dual_is_the_change_of_the_objective_per_unit_of_the_right_hand_side(sense):
    m = circle(sense)
    results = SolverFactory("stochsqp").solve(m)
    before = results.incumbent_objective
    dual = m.dual[m.on]
    m.on.set_value(m.x**2 + m.y**2 == 5 + 1e-3)
    after = SolverFactory("stochsqp").solve(m).incumbent_objective
    assert (after - before) / 1e-3 == pytest.approx(dual, rel=1e-2)


def test_expectations_in_the_objective():
    m = regression()
    SolverFactory("stochsqp").solve(m, seed=1)
    assert m.dual[m.total] == pytest.approx(regression_answer(m)[1], abs=1e-4)


@pytest.mark.parametrize("sense", [pyo.minimize, pyo.maximize])
def test_reduced_costs_belong_to_variables_at_a_bound(sense):
    s = 1 if sense == pyo.minimize else -1
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(3), bounds=(0, 1), initialize=0.0)
    m.obj = pyo.Objective(expr=s * sum(m.x[j] for j in range(3)), sense=sense)
    program = read_model(m)
    problem = Problem(
        x0=np.zeros(3), x_lower=np.zeros(3), x_upper=np.ones(3), row_lower=np.empty(0),
        row_upper=np.empty(0), jac_indptr=np.zeros(1, dtype=int), exact_rows=np.empty(0, bool),
        jac_indices=np.empty(0, dtype=int),
    )  # fmt: skip
    none, zero = np.empty(0), np.zeros(3)
    certificate = Certificate(
        x=np.array([0.0, 0.5, 1.0]), y=none, reduced_costs=np.array([1.0, 1e-7, -2.0]),
        objective=0.0, objective_error=0.0, objective_spread=0.0, objective_rounded=np.nan,
        violation=none,
        violation_lower=none, violation_bound=none, row_size=none, row_rounding=none,
        displacement=zero, displacement_error=zero, variable_size=np.ones(3),
        variable_rounding=zero, move=zero, gap=0.0, gap_noise=0.0, gap_along=0.0,
        gap_along_noise=0.0, objective_size=1.0,
        objective_rounding=0.0, has_gradient=True, flat=0, saddle=False, descent=none,
        confidence=0.95, scenarios=0, replicates=1, exact=True,
    )  # fmt: skip
    costs = StochSQPSolutionLoader.of(program, problem, certificate).get_reduced_costs()
    assert [costs[m.x[j]] for j in range(3)] == [s * 1.0, 0.0, s * -2.0]


def test_multipliers_to_start_from_are_read_with_the_same_sign():
    for sense in (pyo.minimize, pyo.maximize):
        m = circle(sense)
        SolverFactory("stochsqp").solve(m)
        program = read_model(m)
        s = program.sign
        assert starting_duals(program) == pytest.approx([-s * m.dual[m.on]])
        m.dual.deactivate()
        assert starting_duals(program) is None
