"""The E node: its two forms, its algebra inside Pyomo expressions, and how it prints."""

import io
import math

import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.stats as st
from pyomo.core.expr.calculus.derivatives import differentiate
from pyomo.core.expr.visitor import identify_variables

from pyomo_stochsqp import E, RandomParam
from pyomo_stochsqp.errors import ModelError


@pytest.fixture
def model():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=2.0)
    m.y = pyo.Var(initialize=3.0)
    m.w = RandomParam(data=[1.0, 2.0, 6.0], weights=[0.5, 0.25, 0.25])
    m.z = RandomParam(distribution=st.norm())
    return m


def test_finite_template_has_the_weighted_mean_as_value(model):
    # sum p (w x - 1)^2 = .5 (2-1)^2 + .25 (4-1)^2 + .25 (12-1)^2
    m = model
    assert pyo.value(E((m.w * m.x - 1) ** 2)) == pytest.approx(0.5 + 0.25 * 9 + 0.25 * 121)


def test_a_member_alone_and_a_number_may_stand_under_e(model):
    assert pyo.value(E(model.w)) == pytest.approx(2.5)
    assert pyo.value(E(7.0)) == 7.0
    assert pyo.value(E(model.x**2)) == 4.0


def test_independent_finite_sources_multiply_out(model):
    m = model
    m.v = RandomParam(data=[0.0, 1.0])
    # E[w v] = E[w] E[v], E[(w + v)^2] needs every combination of rows
    assert pyo.value(E(m.w * m.v)) == pytest.approx(2.5 * 0.5)
    w, p = np.array([1.0, 2.0, 6.0]), np.array([0.5, 0.25, 0.25])
    exact = sum(p[i] * 0.5 * (w[i] + v) ** 2 for i in range(3) for v in (0.0, 1.0))
    assert pyo.value(E((m.w + m.v) ** 2)) == pytest.approx(exact)


def test_sums_products_and_in_place_operators_keep_the_node(model):
    m = model
    e = E(m.z * m.x)
    node = e
    e += m.y
    e *= 2
    e /= 4
    e -= 1
    assert str(e) == "(E[z*x] + y)*2/4 - 1"
    assert node._average is None  # no average was built by arithmetic


@pytest.mark.parametrize(
    ("build", "text"),
    [
        (lambda m: E(pyo.exp(m.z * m.x)), "E[exp(z*x)]"),
        (lambda m: 3 * E(m.z) + m.y**2, "3*E[z] + y**2"),
        (lambda m: E([m.x, m.y]), "E[x, ... 2 scenarios]"),
    ],
)
def test_printing(model, build, text):
    assert str(build(model)) == text


def test_printing_with_a_labeler_uses_the_labels(model):
    from pyomo.core.base.symbol_map import SymbolMap
    from pyomo.core.expr.visitor import expression_to_string

    symbols = SymbolMap(labeler=lambda v: v.name.upper())
    assert expression_to_string(E(model.z * model.x), smap=symbols) == "E[Z*X]"


def test_blocks_print_as_their_slice():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=1.0)

    @m.Block([1, 2, 3])
    def scenario(b, s):
        b.cost = pyo.Expression(expr=s * m.x)

    assert str(E(m.scenario[:].cost)) == "E[scenario[:].cost]"


def test_pprint_and_display_do_not_fail_and_do_not_build_averages(model):
    m = model
    node = E(m.z * m.x)
    m.obj = pyo.Objective(expr=node + m.x)
    m.con = pyo.Constraint(expr=E(m.w * m.x) == 1)
    out = io.StringIO()
    m.pprint(ostream=out)
    assert "E[z*x] + x" in out.getvalue()
    assert "E[w*x]" in out.getvalue()
    assert "RandomParam Declarations" in out.getvalue()
    assert node._average is None


def test_variables_of_a_continuous_expectation_can_be_listed(model):
    m = model
    names = {v.name for v in identify_variables(E(pyo.exp(m.z * m.x)) * m.y)}
    assert names == {"x", "y"}


def test_derivatives_of_a_finite_expectation(model):
    m = model
    # d/dx sum p exp(w x) = sum p w exp(w x)
    exact = 0.5 * math.exp(2) + 0.25 * 2 * math.exp(4) + 0.25 * 6 * math.exp(12)
    for mode in ("reverse_numeric", "reverse_symbolic"):
        found = pyo.value(differentiate(E(pyo.exp(m.w * m.x)), wrt=m.x, mode=mode))
        assert found == pytest.approx(exact)


def test_polynomial_degree_and_is_fixed(model):
    m = model
    assert (E(m.w * m.x) + m.y).polynomial_degree() == 1
    assert E(m.z * m.x**2).polynomial_degree() == 2
    assert not E(m.z * m.x).is_fixed()
    m.x.fix()
    assert E(m.z * m.x).is_fixed()
    assert E([m.x, m.x**2]).is_fixed()


def test_the_average_follows_changes(model):
    m = model
    node = E(m.w * m.x)
    first = node.args
    assert node.args is first  # visitors compare arguments by identity
    m.w.fix_to(10.0)
    assert pyo.value(node) == 20.0
    m.w.unfix()
    assert pyo.value(node) == pytest.approx(5.0)


def test_the_average_follows_a_named_expression(model):
    m = model
    m.loss = pyo.Expression(expr=m.w * m.x)
    node = E(m.loss)
    assert pyo.value(node) == pytest.approx(5.0)
    m.loss.expr = m.w * m.y
    assert pyo.value(node) == pytest.approx(7.5)


def test_mutable_weights_are_read_anew():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=1.0)
    m.p = pyo.Param([0, 1], initialize={0: 0.5, 1: 0.5}, mutable=True)
    m.w = RandomParam(data=[0.0, 4.0], weights=m.p)
    node = E(m.w * m.x)
    assert pyo.value(node) == 2.0
    m.p[0], m.p[1] = 0.25, 0.75
    assert pyo.value(node) == 3.0


def test_transformations_keep_the_expectation(model):
    from pyomo.core.expr.visitor import replace_expressions

    m = model
    node = E(m.z * m.x)
    m.obj = pyo.Objective(expr=node + 1)
    replace_expressions(m.obj.expr, {id(m.x): m.y}, remove_named_expressions=False)
    assert str(node) == "E[z*y]"


def test_an_average_that_would_not_fit_into_memory_is_refused(model):
    m = model
    for name in "abc":
        m.add_component(name, RandomParam(data=np.ones(200)))
    with pytest.raises(ModelError, match=r"8000000 terms.*stochsqp.*extensive_form"):
        _ = E(m.a * m.b * m.c).args


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda m: E(m.z <= m.x), "probability of an event"),
        (lambda m: E("cost"), "numeric Pyomo expression"),
        (lambda m: E([]), "no scenarios"),
        (lambda m: E(m.z, weights=[1.0]), "belong to explicit scenarios"),
        (lambda m: E(m.z, renormalise=True), "belong to explicit scenarios"),
        (lambda m: E(m.wide), "'wide' is indexed"),
    ],
)
def test_wrong_use(model, build, message):
    model.wide = RandomParam([1, 2], distribution=st.norm())
    with pytest.raises(ModelError, match=message):
        build(model)


def test_a_random_number_has_no_value_of_its_own(model):
    with pytest.raises(ModelError, match=r"'z' is random.*E\(\.\.\.\).*extensive_form"):
        pyo.value(model.z)
    assert pyo.value(model.z, exception=False) is None
