"""Explicit scenarios: slices over blocks, lists, mappings; weights; deactivated blocks."""

import logging

import numpy as np
import pandas as pd
import pyomo.environ as pyo
import pytest

from pyomo_stochsqp import E, RandomParam
from pyomo_stochsqp.declare import read_model
from pyomo_stochsqp.errors import DataError, ModelError


@pytest.fixture
def model():
    """Scenario s costs s x; E = x times the mean of s."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=1.0)
    m.S = pyo.Set(initialize=["low", "mid", "high"])
    m.size = pyo.Param(m.S, initialize={"low": 1.0, "mid": 2.0, "high": 6.0}, mutable=True)
    m.prob = pyo.Param(m.S, initialize={"low": 0.5, "mid": 0.25, "high": 0.25}, mutable=True)

    @m.Block(m.S)
    def scenario(b, s):
        b.probability = pyo.Param(initialize=m.prob[s])
        b.fee = 10.0
        b.cost = pyo.Expression(expr=m.size[s] * m.x)
        b.residual = pyo.Expression([1, 2], rule=lambda b, j: j * m.size[s] * m.x)

    return m


def test_equal_probabilities(model):
    assert pyo.value(E(model.scenario[:].cost)) == pytest.approx(3.0)
    assert pyo.value(E(model.scenario[:].residual[2])) == pytest.approx(6.0)


def test_plain_numbers_in_blocks(model):
    assert pyo.value(E(model.scenario[:].fee)) == 10.0


@pytest.mark.parametrize(
    "weights",
    [
        lambda m: m.prob,
        lambda m: m.prob[:],
        lambda m: m.scenario[:].probability,
        lambda m: {"low": 0.5, "mid": 0.25, "high": 0.25},
        lambda m: [0.5, 0.25, 0.25],
        lambda m: np.array([0.5, 0.25, 0.25]),
        lambda m: pd.Series({"high": 0.25, "low": 0.5, "mid": 0.25}),  # matched by name
    ],
    ids=["param", "slice", "block slice", "dict", "list", "array", "series"],
)
def test_kinds_of_weights(model, weights):
    assert pyo.value(E(model.scenario[:].cost, weights=weights(model))) == pytest.approx(2.5)


def test_lists_mappings_and_indexed_expressions(model):
    m = model
    m.cost = pyo.Expression(m.S, rule=lambda m, s: m.size[s] * m.x)
    assert pyo.value(E([m.x, 3 * m.x])) == 2.0
    assert pyo.value(E({"a": m.x, "b": 3 * m.x}, weights={"a": 0.25, "b": 0.75})) == 2.5
    assert pyo.value(E(m.cost)) == pyo.value(E(m.cost[:])) == pytest.approx(3.0)
    assert pyo.value(E(m.size[s] * m.x for s in m.S)) == pytest.approx(3.0)


def test_partial_and_nested_slices(model):
    m = model

    @m.Block([1, 2], ["a", "b"])
    def region(b, r, s):
        b.cost = pyo.Expression(expr=r * m.x)
        b.inner = pyo.Block([1, 2], rule=lambda c, i: c.add_component("k", pyo.Param(initialize=i)))

    assert pyo.value(E(m.region[1, :].cost)) == 1.0
    assert pyo.value(E(m.region[...].cost)) == 1.5
    assert pyo.value(E(m.region[:, "a"].inner[:].k)) == 1.5


def test_sharing_one_source_named_after_the_blocks(model):
    m = model
    m.obj = pyo.Objective(expr=E(m.scenario[:].cost, weights=m.prob))
    m.con = pyo.Constraint(
        [1, 2], rule=lambda m, j: E(m.scenario[:].residual[j], weights=m.prob[:]) >= 1
    )
    for instance in (m, m.clone()):
        program = read_model(instance)
        assert [(s.name, s.size) for s in program.sources] == [("scenario", 3)]
        part = program.sources[0].parts[0]
        assert list(part.scenario_keys) == ["low", "mid", "high"]
        np.testing.assert_allclose(part.weights, [0.5, 0.25, 0.25])


def test_different_weights_are_different_sources_and_say_so(model, caplog):
    m = model
    m.obj = pyo.Objective(expr=E(m.scenario[:].cost, weights=m.prob))
    m.con = pyo.Constraint(expr=E(m.scenario[:].residual[1]) >= 1)
    with caplog.at_level(logging.WARNING, "pyomo_stochsqp"):
        program = read_model(m)
    assert [s.name for s in program.sources] == ["scenario", "scenario_2"]
    assert "differ in their scenarios or weights" in caplog.text


def test_lists_are_separate_unless_they_name_a_source(model):
    m = model
    m.obj = pyo.Objective(expr=E([m.x, 2 * m.x]) + E([3 * m.x, m.x]))
    assert len(read_model(m).sources) == 2
    m.obj.expr = E([m.x, 2 * m.x], source="coin") + E([3 * m.x, m.x], source="coin")
    assert [s.name for s in read_model(m).sources] == ["coin"]


def test_one_node_used_twice_is_one_source(model):
    m = model
    m.mean = pyo.Expression(expr=E([m.x, 2 * m.x]))
    m.obj = pyo.Objective(expr=m.mean)
    m.con = pyo.Constraint(expr=m.mean >= 1)
    assert len(read_model(m).sources) == 1


def test_deactivated_blocks_need_a_decision(model):
    m = model
    m.obj = pyo.Objective(expr=E(m.scenario[:].cost))
    m.scenario["high"].deactivate()
    with pytest.raises(DataError, match=r"1 scenario blocks are deactivated.*renormalise=True"):
        read_model(m)
    m.obj.expr = E(m.scenario[:].cost, weights={"low": 0.9, "mid": 0.1, "high": 0.0})
    assert len(read_model(m).objective.terms[0].scenarios) == 2
    m.obj.expr = E(m.scenario[:].cost, weights=m.prob, renormalise=True)
    program = read_model(m)
    np.testing.assert_allclose(program.sources[0].parts[0].weights, [2 / 3, 1 / 3])
    assert pyo.value(m.obj) == pytest.approx(4 / 3)
    m.scenario["high"].activate()
    assert read_model(m).sources[0].size == 3


def test_blocks_deactivated_after_an_average_was_built(model):
    node = E(model.scenario[:].cost, renormalise=True)
    assert pyo.value(node) == pytest.approx(3.0)
    model.scenario["high"].deactivate()
    assert pyo.value(node) == pytest.approx(1.5)


def test_all_deactivated(model):
    m = model
    m.obj = pyo.Objective(expr=E(m.scenario[:].cost, renormalise=True))
    m.scenario.deactivate()
    with pytest.raises(ModelError, match="all scenario blocks are deactivated"):
        read_model(m)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([0.5, 0.5], "for 3 scenarios"),
        ([0.5, 0.5, 0.5], r"sum to 1\.5, not 1.*divide them by their sum"),
        ([1.5, -0.5, 0.0], "weight -0.5 of scenario mid is not a probability"),
        ([np.nan, 0.5, 0.5], "scenario low is not a probability"),
        ({"low": 1.0}, "no weight for scenario 'mid'"),
    ],
)
def test_wrong_weights(model, weights, message):
    node = E(model.scenario[:].cost, weights=weights)
    with pytest.raises(DataError, match=message):
        pyo.value(node)


def test_mistakes_are_found_where_they_are_written(model):
    with pytest.raises(ModelError, match=r"no such component.*cots"):
        E(model.scenario[:].cots)
    with pytest.raises(ModelError, match=r"is indexed.*add an index"):
        E(model.scenario[:].residual)
    model.empty = pyo.Block(pyo.Any)
    with pytest.raises(ModelError, match="no scenarios"):
        E(model.empty[:].cost)


def test_random_params_do_not_belong_into_explicit_scenarios(model):
    m = model
    m.w = RandomParam(data=[1.0, 2.0])
    m.obj = pyo.Objective(expr=E([m.x * m.w, m.x]))
    with pytest.raises(ModelError, match=r"'obj'.*'w' is used inside an explicit scenario"):
        read_model(m)


def test_two_stage_blocks_bring_their_own_variables_and_rows():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=5.0, bounds=(0, None))

    @m.Block([3.0, 7.0])
    def scenario(b, demand):
        b.sales = pyo.Var(initialize=1.0, bounds=(0, None))
        b.stock = pyo.Constraint(expr=b.sales <= m.x)
        b.market = pyo.Constraint(expr=b.sales <= demand)
        b.profit = pyo.Expression(expr=2 * b.sales - m.x)

    m.obj = pyo.Objective(expr=E(m.scenario[:].profit), sense=pyo.maximize)
    program = read_model(m)
    assert [v.name for v in program.variables] == [
        "x",
        "scenario[3.0].sales",
        "scenario[7.0].sales",
    ]
    assert len(program.rows) == 4
    assert all(not row.body.terms for row in program.rows)  # exact
    assert program.sign == -1
