"""Recourse: what may be written, what is refused, and the matrices that come of it."""

import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.stats as st

from pyomo_stochsqp import CVaR, E, RandomParam, Recourse
from pyomo_stochsqp.declare import read_model
from pyomo_stochsqp.declare.recourse import NotAffineError, affine, read_two_stage
from pyomo_stochsqp.errors import ModelError
from tests.recourse.two_stage_models import farmer, newsvendor


def matrices(model):
    return affine(read_two_stage(model))


def test_both_ways_to_declare():
    m = newsvendor()
    m.other = Recourse(rule=lambda b: b.add_component("y", pyo.Var()))
    assert isinstance(m.second, Recourse) and isinstance(m.other, Recourse)
    assert isinstance(m.clone().second, Recourse)


def test_matrices_of_the_farmer():
    a = matrices(farmer())
    assert [v.name for v in a.origin.first] == [f"acres[{c}]" for c in ("wheat", "corn", "beets")]
    assert a.c.base.tolist() == [150.0, 230.0, 260.0] and not a.c.random
    assert a.q.base.tolist() == [238.0, 210.0, -170.0, -150.0, -36.0, -10.0]
    assert sorted(a.T.entries.random) == [0, 1, 2]
    assert a.lower.base.tolist() == [200.0, 240.0, -np.inf]
    assert a.upper.base.tolist() == [np.inf, np.inf, 0.0]
    assert a.x_upper.tolist() == [500.0] * 3


def test_any_function_of_the_random_numbers_is_a_coefficient():
    m = newsvendor()
    m.w = RandomParam([1, 2], distribution=st.norm(2, 1))
    m.second.more = pyo.Constraint(
        expr=(m.w[1], pyo.exp(m.w[2]) * m.second.short + m.w[1] * m.w[2] + 1, 2 * m.w[1])
    )
    m.second.short.setub(m.w[2])
    a = matrices(m)
    numbers = {id(m.w[1]): np.array([1.0, 2.0]), id(m.w[2]): np.array([0.0, 3.0])}

    def lookup(leaf):
        return numbers.get(id(leaf), 7.0)

    assert a.lower.complete(lookup, 2)[:, 1].tolist() == [1 - 0 - 1, 2 - 6 - 1]
    assert a.upper.complete(lookup, 2)[:, 1].tolist() == [2 - 0 - 1, 4 - 6 - 1]
    assert a.y_upper.complete(lookup, 2).ravel().tolist() == [0.0, 3.0]
    assert np.exp([0.0, 3.0]) in a.W.entries.drawn(lookup, 2)[:, -1]


def test_maximising_turns_the_sign():
    m = newsvendor()
    m.obj.set_value(-m.stock - 4 * E(m.second.short))
    m.obj.sense = pyo.maximize
    a = matrices(m)
    assert (a.c.base.tolist(), a.q.base.tolist()) == ([1.0], [4.0])


def test_fixed_numbers_leave_an_ordinary_model():
    m = newsvendor()
    m.demand.fix_to(100)
    assert [r.name for r in read_model(m).rows] == ["second.meet"]
    pyo.SolverFactory("appsi_highs").solve(m)
    assert m.stock.value == pytest.approx(100)


def outside(m):
    m.wrong = pyo.Constraint(expr=m.second.short <= 3)


def in_the_objective(m):
    m.obj.set_value(m.stock + m.second.short)


def random_outside(m):
    m.wrong = pyo.Constraint(expr=m.stock >= m.demand)


def expectation_inside(m):
    m.second.wrong = pyo.Constraint(expr=m.second.short <= E(m.demand))


def formula(m):
    m.obj.set_value(m.stock + CVaR(m.second.short, 0.9))


def nested(m):
    m.second.third = Recourse(rule=lambda b: None)


def two_objectives(m):
    m.wrong = pyo.Objective(expr=m.stock)


def forgotten(m):
    m.w = RandomParam(distribution=st.norm())


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (outside, "'wrong': variable 'second.short' is decided in the second stage"),
        (in_the_objective, "'obj': variable 'second.short' is decided in the second stage"),
        (random_outside, "'wrong': RandomParam 'demand' is used outside an expectation"),
        (expectation_inside, r"'second.wrong': E\[demand\] stands where decisions are made"),
        (formula, "'obj': .* is a formula of expectations"),
        (nested, "'second.third' stands inside Recourse 'second'"),
        (two_objectives, "one active objective; there are 2"),
        (forgotten, "RandomParam 'w' appears in no expectation"),
    ],
)
def test_mistakes_are_named(spoil, message):
    m = newsvendor()
    spoil(m)
    with pytest.raises(ModelError, match=message):
        read_two_stage(m)


def test_a_model_without_first_stage_is_refused():
    m = newsvendor()
    m.stock.fix(3)
    with pytest.raises(ModelError, match="no free variables outside of its Recourse"):
        read_two_stage(m)


def test_an_index_is_refused():
    with pytest.raises(ModelError, match="has no index"):
        Recourse([1, 2])


def test_what_is_not_linear_is_named():
    m = newsvendor()
    m.second.curved = pyo.Constraint(expr=m.second.short**2 <= m.demand)
    with pytest.raises(NotAffineError, match=r"'second\.curved'"):
        matrices(m)


def test_rooms_without_recourse_say_so():
    with pytest.raises(ModelError, match="Recourse 'second' depends on random numbers"):
        read_model(newsvendor())
