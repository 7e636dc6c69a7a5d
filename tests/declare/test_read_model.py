"""The record that read_model makes of a model."""

import math

import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.stats as st
from hypothesis import given, settings
from hypothesis import strategies as hs

from pyomo_stochsqp import E, RandomParam
from pyomo_stochsqp.declare import read_model


@pytest.fixture
def model():
    m = pyo.ConcreteModel()
    m.J = pyo.Set(initialize=[0, 1])
    m.x = pyo.Var(m.J, initialize=1.0)
    m.y = pyo.Var(initialize=2.0)
    m.w = RandomParam(m.J, distribution=st.multivariate_normal([0.0, 0.0]))
    return m


def test_exact_parts_multipliers_and_integrands(model):
    m = model
    m.obj = pyo.Objective(
        expr=E(m.w[0]) * m.x[0] + 3 * E(m.w[1] * m.y) - E(m.w[0] ** 2) / m.y + m.y**2
    )
    program = read_model(m)
    function = program.objective
    assert str(function.exact) == "y**2"
    assert [str(t.integrand) for t in function.terms] == ["w[0]", "w[1]*y", "w[0]**2"]
    multipliers = [pyo.value(t.multiplier) for t in function.terms]
    assert multipliers == [1.0, 3.0, -0.5]
    assert program.leaves[id(m.w[1])].column == 1


def test_an_integrand_with_one_source_is_kept_whole(model):
    m = model
    m.obj = pyo.Objective(expr=E(sum(m.w[j] * m.x[j] for j in m.J) + m.y**2 + 3))
    (term,) = read_model(m).objective.terms
    assert str(term.integrand) == "w[0]*x[0] + w[1]*x[1] + y**2 + 3"


@pytest.mark.parametrize(
    ("build", "lower", "upper"),
    [
        (lambda e: e == 2, 2.0, 2.0),
        (lambda e: e <= 2, -math.inf, 2.0),
        (lambda e: e >= 2, 2.0, math.inf),
        (lambda e: 2 >= e, -math.inf, 2.0),
        (lambda e: pyo.inequality(1, e, 3), 1.0, 3.0),
        (lambda e: (1, e, 3), 1.0, 3.0),
        (lambda e: (e, 2), 2.0, 2.0),
        (lambda e: (None, e, 3), -math.inf, 3.0),
        (lambda e: (1, e, None), 1.0, math.inf),
    ],
)
def test_forms_of_constraints(model, build, lower, upper):
    m = model
    m.obj = pyo.Objective(expr=m.y)
    m.con = pyo.Constraint(expr=build(E(m.w[0] * m.x[0])))
    (row,) = read_model(m).rows
    assert (row.lower, row.upper) == (lower, upper)
    assert len(row.body.terms) == 1


def test_expectations_on_both_sides(model):
    m = model
    m.obj = pyo.Objective(expr=m.y)
    m.con = pyo.Constraint(expr=E(m.w[0] * m.x[0]) == E(m.w[1] * m.x[1]) + m.y)
    (row,) = read_model(m).rows
    assert [pyo.value(t.multiplier) for t in row.body.terms] == [1.0, -1.0]
    assert (row.lower, row.upper) == (0.0, 0.0)
    assert pyo.value(row.body.exact) == -2.0


def test_lists_indices_blocks_expressions_and_references(model):
    m = model
    m.obj = pyo.Objective(expr=m.y, sense=pyo.maximize)
    m.mean = pyo.Expression(m.J, rule=lambda m, j: E(m.w[j] * m.x[j]))
    m.indexed = pyo.Constraint(m.J, rule=lambda m, j: 2 * m.mean[j] == 1)
    m.listed = pyo.ConstraintList()
    m.listed.add(m.mean[0] + m.mean[1] <= 3)
    m.sub = pyo.Block()
    m.sub.inner = pyo.Block([1])
    m.sub.inner[1].con = pyo.Constraint(expr=m.mean[0] >= 0)
    m.again = pyo.Reference(m.indexed)
    m.name_of_w = pyo.Reference(m.w)
    m.off = pyo.Constraint(expr=m.mean[0] == 7)
    m.off.deactivate()
    program = read_model(m)
    names = [row.name for row in program.rows]
    assert names == ["indexed[0]", "indexed[1]", "listed[1]", "sub.inner[1].con"]
    assert program.sign == -1
    assert len(program.sources) == 1


def test_variables_come_in_order_of_declaration_and_only_if_they_appear(model):
    m = model
    m.unused = pyo.Var()  # without a value, but nobody asks for it
    m.obj = pyo.Objective(expr=m.y + E(m.w[0] * m.x[1]) + m.x[0])
    assert [v.name for v in read_model(m).variables] == ["x[0]", "x[1]", "y"]


def test_fixed_variables_are_constants_and_mutable_params_stay_symbols(model):
    m = model
    m.p = pyo.Param(initialize=5.0, mutable=True)
    m.obj = pyo.Objective(expr=m.p * m.y * E(m.w[0] * m.x[0]) + m.x[1])
    m.con = pyo.Constraint(expr=m.x[0] <= m.p)
    m.y.fix(3.0)
    program = read_model(m)
    assert [v.name for v in program.variables] == ["x[0]", "x[1]"]
    assert pyo.value(program.objective.terms[0].multiplier) == 15.0
    assert program.rows[0].upper == 5.0
    m.p.value = 1.0
    assert pyo.value(program.objective.terms[0].multiplier) == 3.0
    assert read_model(m).rows[0].upper == 1.0


def test_constraints_without_variables_are_left_out(model, caplog):
    m = model
    m.obj = pyo.Objective(expr=m.y)
    m.con = pyo.Constraint(expr=m.x[0] ** 2 == 1)
    m.mean = pyo.Constraint(expr=E(m.w[0] * m.x[0]) == 0)
    m.x.fix(1.0)
    assert read_model(m).rows == []
    assert "'mean' has no free variables" in caplog.text


def test_sub_blocks_can_be_read_with_variables_of_their_model(model):
    m = model
    m.sub = pyo.Block()
    m.sub.obj = pyo.Objective(expr=E(m.w[0] * m.x[0]))
    assert [v.name for v in read_model(m.sub).variables] == ["x[0]"]


def test_no_objective_is_a_feasibility_problem_without_expectations(model):
    m = model
    m.del_component(m.w)
    m.con = pyo.Constraint(expr=m.y == 1)
    program = read_model(m)
    assert program.objective_component is None
    assert program.objective.exact == 0.0


def test_functions_without_derivatives_may_be_applied_to_data_alone(model):
    m = model
    m.obj = pyo.Objective(expr=E(abs(m.w[0]) * m.x[0] + pyo.ceil(m.w[1]) * m.y))
    m.x[1].fix(2.0)
    m.con = pyo.Constraint(expr=m.y >= abs(m.x[1]))
    assert len(read_model(m).rows) == 1


def test_sharing_named_expressions_is_not_exponential():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=1.0)
    m.w = RandomParam(data=np.ones(2))
    m.level = pyo.Expression(range(60))
    m.level[0] = m.w * m.x
    for k in range(1, 60):
        m.level[k] = m.level[k - 1] + m.level[k - 1] ** 2
    m.obj = pyo.Objective(expr=E(m.level[59]))
    assert len(read_model(m).objective.terms) == 1


def test_abstract_models_with_scenario_blocks():
    a = pyo.AbstractModel()
    a.S = pyo.Set()
    a.d = pyo.Param(a.S)
    a.x = pyo.Var(initialize=1.0)

    def scenario_rule(b, s):
        b.cost = pyo.Expression(expr=(b.model().x - b.model().d[s]) ** 2)

    a.scenario = pyo.Block(a.S, rule=scenario_rule)
    a.obj = pyo.Objective(rule=lambda m: E(m.scenario[:].cost))
    instance = a.create_instance({None: {"S": {None: [1, 2]}, "d": {1: 3.0, 2: 5.0}}})
    program = read_model(instance)
    assert [pyo.value(e) for e in program.objective.terms[0].scenarios] == [4.0, 16.0]


FACTORS = [
    lambda m: 2.0,
    lambda m: m.y,
    lambda m: pyo.exp(m.x[0]),
    lambda m: m.p,
]
PIECES = [
    lambda m: E(m.v * m.x[0]),
    lambda m: m.named,
    lambda m: E([m.x[1], 3.0]),
    lambda m: m.y**2,
    lambda m: 4.0,
]
OPERATIONS = hs.sampled_from(["add", "subtract", "multiply", "divide", "negate", "named"])


@settings(max_examples=60, deadline=None)
@given(hs.lists(hs.tuples(OPERATIONS, hs.integers(0, 4), hs.integers(0, 3)), max_size=8))
def test_whatever_is_affine_is_taken_apart_correctly(steps):
    """exact + sum multiplier * E[integrand] has the value of the expression it was read from."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var([0, 1], initialize=0.7)
    m.y = pyo.Var(initialize=1.3)
    m.p = pyo.Param(initialize=0.4, mutable=True)
    m.v = RandomParam(data=[1.0, 2.0, 6.0])
    m.named = pyo.Expression(expr=2 * E(m.v**2 * m.y) + m.x[0])
    m.more = pyo.Expression(range(len(steps)))
    expr = E(m.v * m.y) + m.x[0]
    for k, (operation, piece, factor) in enumerate(steps):
        if operation == "add":
            expr = expr + PIECES[piece](m)
        elif operation == "subtract":
            expr = PIECES[piece](m) - expr
        elif operation == "multiply":
            expr = FACTORS[factor](m) * expr
        elif operation == "divide":
            expr = expr / FACTORS[factor](m)
        elif operation == "negate":
            expr = -expr
        else:
            m.more[k] = expr
            expr = m.more[k]
    m.obj = pyo.Objective(expr=expr)
    function = read_model(m).objective
    total = pyo.value(function.exact)
    for term in function.terms:
        inside = E(term.integrand) if term.integrand is not None else E(list(term.scenarios))
        total += pyo.value(term.multiplier) * pyo.value(inside)
    assert total == pytest.approx(pyo.value(expr), rel=1e-10)
