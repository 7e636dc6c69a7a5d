"""A slice of the campaign: bad data and bad models are refused by name, none is misread."""

import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.stats as st

from benchmarks.hostile import declarations
from pyomo_stochsqp import E, RandomParam, smooth_max
from pyomo_stochsqp.declare import read_model
from pyomo_stochsqp.errors import ModelError

SLICE = 6


def test_bad_declarations_are_refused_by_name():
    counts = declarations.run(seed=1, every=SLICE)
    assert sum(counts.values()) > 100
    assert not any(counts[wrong] for wrong in declarations.WRONG)


@pytest.mark.slow
def test_all_bad_declarations_are_refused_by_name():
    counts = declarations.run(seed=2)
    assert sum(counts.values()) > 800
    assert not any(counts[wrong] for wrong in declarations.WRONG)


def test_a_good_model_is_none_of_them():
    """Otherwise refusing everything would pass."""

    def build():
        m = pyo.ConcreteModel()
        m.x = pyo.Var(initialize=0.5)
        m.w = RandomParam(data=[1.0, 2.0, 3.0])
        m.obj = pyo.Objective(expr=E((m.x - m.w) ** 2))
        return m

    assert declarations.verdict(build, "w")[0] == "accepted"


def test_masked_entries_are_missing_where_they_are_read():
    table = np.ma.array([[1.0, 2.0], [3.0, 4.0]], mask=[[0, 0], [0, 1]])
    m = pyo.ConcreteModel()
    m.first = RandomParam(data={"first": table[:, 0], "second": table[:, 1]})
    assert m.first.mean() == 2.0
    with pytest.raises(ValueError, match="masked and missing"):
        m.second = RandomParam(data={"first": table[:, 0], "second": table[:, 1]})


def test_an_expression_that_contains_itself_is_named():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=0.5)
    m.loop = pyo.Expression(expr=m.x)
    m.loop.set_value(m.loop + 1)
    m.obj = pyo.Objective(expr=m.loop)
    with pytest.raises(ModelError, match="'loop' contains itself"):
        read_model(m)


def test_shared_expressions_and_kinks_inside_kinks_are_read_once():
    """Written out as trees both would have more nodes than memory."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=0.5)
    m.w = RandomParam(distribution=st.norm())
    e = m.x
    for _ in range(100):
        e = pyo.sin(e) + pyo.cos(e)
    m.obj = pyo.Objective(expr=e + E(smooth_max(m.w, m.x, m.w * m.x, 2 * m.w, m.w**2)))
    assert len(read_model(m).variables) == 1


def test_a_sum_that_is_nearly_one_is_told_apart_from_one():
    m = pyo.ConcreteModel()
    with pytest.raises(ValueError, match=r"sum to 1\.000003, not 1"):
        m.w = RandomParam(data=[1.0, 2.0], weights=[0.5, 0.500003])
