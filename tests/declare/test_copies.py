"""Clones, deep copies and pickles of models stand on their own."""

import copy
import pickle

import cloudpickle
import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.stats as st

from pyomo_stochsqp import E, RandomParam, RandomSource
from pyomo_stochsqp.declare import read_model


def scenario_rule(b, s):
    b.cost = pyo.Expression(expr=s * b.model().x)


def build(**random):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=2.0)
    rows = RandomSource("rows", data={"a": [1.0, 3.0], "b": [5.0, 9.0]})
    m.a = RandomParam(source=rows)
    m.b = RandomParam(source=rows)
    m.w = RandomParam(**(random or {"distribution": st.norm(1, 1)}))
    m.prob = pyo.Param([1, 2], initialize={1: 0.25, 2: 0.75}, mutable=True)

    m.scenario = pyo.Block([1, 2], rule=scenario_rule)
    m.obj = pyo.Objective(expr=E(m.w * m.x) + E(m.a * m.b * m.x))
    m.con = pyo.Constraint(expr=E(m.scenario[:].cost, weights=m.prob[:]) + E([m.x, 1.0]) <= 9)
    m.alike = pyo.Constraint(expr=E(m.scenario[:].cost, weights=m.prob[:]) >= 0)
    return m


def in_pickle(m):
    return pickle.loads(pickle.dumps(m))


@pytest.mark.parametrize("duplicate", [pyo.ConcreteModel.clone, copy.deepcopy, in_pickle])
def test_copies_are_independent_and_complete(duplicate):
    m = build()
    pyo.value(m.con.body)  # builds averages, which must not travel
    new = duplicate(m)
    new.x.value = 10.0
    new.prob[1], new.prob[2] = 1.0, 0.0
    assert pyo.value(m.con.body) == pytest.approx(1.75 * 2 + 1.5)
    assert pyo.value(new.con.body) == pytest.approx(10 + 5.5)
    program = read_model(new)
    assert [s.name for s in program.sources] == ["w", "rows", "scenario", "scenarios"]
    assert [v.model() for v in program.variables] == [new]
    assert set(program.leaves) == {id(new.w), id(new.a), id(new.b)}
    new.w.fix_to("mean")
    assert m.w.random
    assert str(new.obj.expr) == str(m.obj.expr)


def test_clones_share_tables():
    m = build()
    assert m.clone().a.origin is m.a.origin


def test_samplers_written_as_lambdas_need_cloudpickle():
    m = build(sampler=lambda rng, size: rng.normal(size=size))
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(m)
    new = cloudpickle.loads(cloudpickle.dumps(m))
    draw = read_model(new).sources[0].parts[0].draw
    rows = draw(np.random.default_rng(3), 4)
    np.testing.assert_array_equal(rows[0][:, 0], np.random.default_rng(3).normal(size=4))


def test_fixed_values_travel():
    m = build()
    m.w.fix_to(4.0)
    assert pyo.value(in_pickle(m).w) == 4.0


def test_a_sub_block_clone_keeps_reading_its_model():
    m = build()
    m.sub = pyo.Block()
    m.sub.mean = pyo.Expression(expr=E(m.w * m.x))
    m.twin = m.sub.clone()
    assert str(m.twin.mean.expr) == "E[w*x]"
