"""Every mistake in a model is refused with a message that names the component and the remedy."""

import pyomo.environ as pyo
import pytest
import scipy.stats as st
from pyomo.core.expr.numeric_expr import MaxExpression, MinExpression
from pyomo.gdp import Disjunct, Disjunction
from pyomo.mpec import Complementarity, complements

from pyomo_stochsqp import E, RandomParam
from pyomo_stochsqp.declare import read_model
from pyomo_stochsqp.errors import ModelError


@pytest.fixture
def model():
    m = pyo.ConcreteModel(name="plant")
    m.x = pyo.Var(initialize=1.0)
    m.y = pyo.Var(initialize=1.0)
    m.w = RandomParam(distribution=st.norm())
    m.obj = pyo.Objective(expr=E(m.w * m.x) + m.y)
    return m


def refused(m, *messages):
    with pytest.raises(ModelError) as error:
        read_model(m)
    for message in messages:
        assert message in str(error.value)


@pytest.mark.parametrize(
    "build",
    [
        lambda m: m.w * m.x == 1,
        lambda m: m.x <= m.w,
        lambda m: pyo.inequality(0, m.x, m.w),
        lambda m: m.w * E(m.w * m.x) == 1,
        lambda m: E(m.w * m.x) == m.w,
    ],
)
def test_random_param_outside(model, build):
    model.con = pyo.Constraint(expr=build(model))
    refused(model, "'con'", "'w' is used outside an expectation", "E(...)", "fix_to")


def test_kinks_of_expectations(model):
    """Under E scenarios round them off; a function of one number stays kinked."""
    model.con = pyo.Constraint(expr=abs(E(model.w * model.x)) <= 1)
    refused(model, "'con'", "not a differentiable function", "smooth_abs(z, width)")


@pytest.mark.parametrize(("domain", "word"), [(pyo.Binary, "binary"), (pyo.Integers, "integer")])
def test_discrete_variables(model, domain, word):
    model.n = pyo.Var(domain=domain, initialize=1)
    model.con = pyo.Constraint(expr=model.n <= model.x)
    refused(model, "'n'", word, "relax_integer_vars")
    model.n.fix(1)
    read_model(model)


def test_random_data_that_no_expectation_reads(model):
    model.lost = RandomParam([1, 2], distribution=st.norm())
    refused(model, "'lost' appears in no expectation", "del_component")
    model.spare = pyo.Constraint(expr=E(model.lost[1] * model.x) == 0)
    model.spare.deactivate()  # it may be switched on again, so it counts
    read_model(model)


@pytest.mark.parametrize(
    ("build", "function", "remedy"),
    [
        (lambda z: pyo.Expr_if(IF=z >= 0, THEN=z, ELSE=0), "(Expr_if)", "smooth blend"),
        (lambda z: pyo.floor(z), "(floor)", "continuous quantity"),
        (lambda z: pyo.ceil(z), "(ceil)", "continuous quantity"),
    ],
)
def test_functions_without_derivatives(model, build, function, remedy):
    m = model
    m.con = pyo.Constraint(expr=E(build(m.w * m.x)) <= 1)
    refused(m, "'con'", "not a differentiable function", function, remedy)
    m.con.set_value(build(m.x) <= 1)
    refused(m, "'con'", function)


@pytest.mark.parametrize(
    ("build", "function", "remedy"),
    [
        (lambda z: abs(z), "(abs)", "smooth_abs"),
        (lambda z: MaxExpression((z, 0.0)), "(max)", "smooth_max"),
        (lambda z: MinExpression((z, 0.0)), "(min)", "smooth_min"),
    ],
)
def test_kinks_without_randomness(model, build, function, remedy):
    m = model
    m.con = pyo.Constraint(expr=E(m.w * build(m.x)) <= 1)
    refused(m, "'con'", "not a differentiable function", function, remedy)
    m.con.set_value(build(m.x) <= 1)
    refused(m, "'con'", function)


def test_variables_without_a_value_start_at_zero_within_their_bounds(model):
    """As with other solvers; nothing is written into the model by reading it."""
    bounds = [(None, None), (2, None), (None, -3), (1, 4), (-1, 1), (0, 0)]
    model.z = pyo.Var(range(6), bounds=lambda m, i: bounds[i])
    model.con = pyo.Constraint(expr=sum(model.z.values()) == model.x)
    program = read_model(model)
    start = dict(zip([v.name for v in program.variables], program.start, strict=True))
    assert [start[f"z[{i}]"] for i in range(6)] == [0.0, 2.0, -3.0, 1.0, 0.0, 0.0]
    assert start["x"] == 1.0
    assert all(v.value is None for v in model.z.values())


def test_fixed_without_value(model):
    model.z = pyo.Var()
    model.z.fixed = True
    model.con = pyo.Constraint(expr=model.z * model.x == 1)
    refused(model, "'con'", "'z' is fixed but has no value", "fix(value)")


def test_two_objectives(model):
    model.second = pyo.Objective(expr=model.x)
    refused(model, "'plant' has 2 active objectives (obj, second)", "deactivate()")


def test_no_objective(model):
    model.obj.deactivate()
    model.con = pyo.Constraint(expr=E(model.w * model.x) == 0)
    refused(model, "'plant'", "no active objective", "Objective(expr=0)")


def test_abstract_model():
    refused(pyo.AbstractModel(name="plan"), "'plan'", "create_instance()")


def test_variables_of_another_model(model):
    other = pyo.ConcreteModel()
    other.far = pyo.Var(initialize=1.0)
    model.con = pyo.Constraint(expr=other.far == model.x)
    refused(model, "'far' belongs to another model than 'plant'")


def test_violated_constant_constraint(model):
    model.y.fix(2.0)
    model.con = pyo.Constraint(expr=model.y <= 1)
    refused(model, "'con' has no free variables and is violated", "Unfix")


def disjunct(m):
    m.choice = Disjunct()


def disjunction(m):
    m.left, m.right = Disjunct(), Disjunct()
    m.choice = Disjunction(expr=[m.left, m.right])
    m.left.deactivate()
    m.right.deactivate()


def sos(m):
    m.z = pyo.Var([1, 2], initialize=1.0)
    m.choice = pyo.SOSConstraint(var=m.z, sos=1)


def complementarity(m):
    m.choice = Complementarity(expr=complements(m.x >= 0, m.y >= 0))


def logical(m):
    m.flag = pyo.BooleanVar()
    m.choice = pyo.LogicalConstraint(expr=m.flag.implies(m.flag))


@pytest.mark.parametrize(
    ("add", "remedy"),
    [
        (disjunct, "gdp.fix_disjuncts"),
        (disjunction, "gdp.fix_disjuncts"),
        (sos, "deactivate it"),
        (complementarity, "mpec.simple_nonlinear"),
        (logical, "Deactivate it"),
    ],
)
def test_components_that_would_be_ignored(model, add, remedy):
    add(model)
    refused(model, "'choice", "cannot be handled", remedy)
    model.choice.deactivate()
    read_model(model)
