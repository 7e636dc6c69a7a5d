"""Models of mpi-sppy and models for it; nodes are written here as mpi-sppy writes them."""

from types import SimpleNamespace

import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.stats as st

from examples import farmer
from pyomo_stochsqp import (
    E,
    RandomParam,
    from_scenario_creator,
    positive_part,
    to_scenario_creator,
    value_of_information,
)
from pyomo_stochsqp.errors import ModelError

YIELDS = {"low": 0.8, "average": 1.0, "high": 1.2}


def scenario_creator(name, quota=6000.0, **changes):
    """The farmer, with names and a redundant row that every scenario repeats."""
    m = pyo.ConcreteModel(name)
    m.factor = pyo.Param(initialize=YIELDS[name], mutable=True)
    m.total = pyo.Param(initialize=500.0, mutable=True)
    m.first = pyo.Block()
    m.first.acres = pyo.Var(farmer.CROPS, bounds=(0.0, 500.0), initialize=100.0)
    m.buy = pyo.Var(list(farmer.FEED), bounds=(0.0, None))
    m.sell = pyo.Var(list(farmer.FEED), bounds=(0.0, None))
    m.beets, m.surplus = pyo.Var(bounds=(0.0, quota)), pyo.Var(bounds=(0.0, None))
    m.harvest = pyo.Expression(
        farmer.CROPS, rule=lambda m, c: m.factor * farmer.YIELD[c] * m.first.acres[c]
    )
    m.land = pyo.Constraint(expr=sum(m.first.acres.values()) <= m.total)
    m.feed = pyo.Constraint(
        list(farmer.FEED),
        rule=lambda m, c: m.harvest[c] + m.buy[c] - m.sell[c] >= farmer.FEED[c],
    )
    m.sold = pyo.Constraint(expr=m.beets + m.surplus <= m.harvest["beets"])
    m.profit = pyo.Objective(
        expr=sum(farmer.SELL[c] * m.sell[c] - farmer.BUY[c] * m.buy[c] for c in farmer.FEED)
        + 36.0 * m.beets
        + 10.0 * m.surplus
        - sum(farmer.PLANTING[c] * m.first.acres[c] for c in farmer.CROPS),
        sense=pyo.maximize,
    )
    m._mpisppy_node_list = [SimpleNamespace(nonant_vardata_list=list(m.first.acres.values()))]
    m._mpisppy_probability = "uniform"
    for key, value in changes.items():
        setattr(m, key, value)
    return m


def test_the_farmer_in_three_lines():
    m = from_scenario_creator(scenario_creator, list(YIELDS))
    results = pyo.SolverFactory("stochsqp").solve(m)
    pyo.assert_optimal_termination(results)
    assert pyo.value(m.expected_cost) == pytest.approx(108390.0, rel=1e-6)
    assert {c: v.value for c, v in m.acres.items()} == pytest.approx(farmer.ACRES, rel=1e-5)
    # the scenario still shows what it calls its own
    assert m.scenario["low"].first.acres["corn"] is m.acres["corn"]
    # what all scenarios say is said once
    assert list(m.common) == ["land"]
    assert not any(b.land.active for b in m.scenario.values())


def test_what_is_made_is_a_model_like_any_other():
    m = from_scenario_creator(scenario_creator, list(YIELDS))
    found = value_of_information(m)
    assert found.vss.value == pytest.approx(1150.0, abs=1.0)
    assert found.evpi.value == pytest.approx(7015.56, abs=1.0)
    pytest.importorskip("highspy")
    pyo.SolverFactory("appsi_highs").solve(m)
    assert pyo.value(m.expected_cost) == pytest.approx(108390.0, rel=1e-6)


def test_probabilities_keywords_and_modules():
    p = {"low": 0.5, "average": 0.3, "high": 0.2}

    def create(name, quota):
        return scenario_creator(name, quota, _mpisppy_probability=p[name])

    module = SimpleNamespace(
        scenario_creator=create, scenario_names_creator=lambda n: list(YIELDS)[:n]
    )
    m = from_scenario_creator(module, 3, quota=5000.0)
    assert m.scenario["low"].beets.ub == 5000.0
    for key, block in m.scenario.items():
        block.scenario_cost.set_value({"low": 1.0, "average": 10.0, "high": 100.0}[key])
    assert pyo.value(m.expected_cost) == pytest.approx(0.5 + 3.0 + 20.0)


def test_bounds_of_all_scenarios_hold_and_fixed_variables_stay_fixed():
    def create(name):
        m = scenario_creator(name)
        m.first.acres["corn"].setub({"low": 90.0, "average": 70.0, "high": None}[name])
        m.first.acres["wheat"].setlb({"low": 5.0, "average": 0.0, "high": 1.0}[name])
        m.first.acres["beets"].fix(200.0)
        return m

    m = from_scenario_creator(create, list(YIELDS))
    assert (m.acres["corn"].ub, m.acres["wheat"].lb) == (70.0, 5.0)
    assert m.acres["beets"].fixed


def test_rows_of_the_first_stage_that_differ_stay():
    def create(name):
        m = scenario_creator(name)
        m.total.set_value({"low": 500.0, "average": 400.0, "high": 500.0}[name])
        return m

    m = from_scenario_creator(create, list(YIELDS))
    assert all(b.land.active for b in m.scenario.values())


def nodes(count):
    return {"_mpisppy_node_list": [SimpleNamespace(nonant_vardata_list=[])] * count}


def renamed(name):
    m = scenario_creator(name)
    if name == "high":
        own = m._mpisppy_node_list[0].nonant_vardata_list
        own[0], own[1] = own[1], own[0]
    return m


def with_another_kind(name):
    m = scenario_creator(name)
    m.sets = pyo.SOSConstraint(var=m.first.acres, sos=1)
    return m


def failing(name):
    return {}["price"]


SAME = scenario_creator("low")


@pytest.mark.parametrize(
    ("creator", "names", "message"),
    [
        (lambda name: scenario_creator(name, **nodes(0)), ["low"], "'low' has no _mpisppy_node"),
        (lambda name: scenario_creator(name, **nodes(1)), ["low"], "names no first-stage variable"),
        (lambda name: scenario_creator(name, **nodes(2)), ["low"], r"has 3 stages.*SDDP"),
        (lambda name: pyo.AbstractModel(), ["low"], "returned AbstractModel"),
        (lambda name: SAME, ["low", "high"], "used already"),
        (failing, ["low"], "failed for 'low' with KeyError: 'price'"),
        (renamed, list(YIELDS), r"'high' is not that of 'low': 'first.acres\[corn\]' stands"),
        (with_another_kind, list(YIELDS), "'sets' in scenario 'low' is a SOSConstraint"),
        (3.0, ["low"], "neither a function nor a module"),
        (scenario_creator, "low", "list of names"),
        (scenario_creator, ["low", "low"], "different names"),
        (
            lambda name: scenario_creator(
                name, _mpisppy_probability=0.5 if name == "low" else "uniform"
            ),
            ["low", "high"],
            "'high' has no probability",
        ),
    ],
)
def test_what_cannot_be_read_is_refused_by_name(creator, names, message):
    with pytest.raises(ModelError, match=message):
        from_scenario_creator(creator, names)


def attach(monkeypatch):
    """mpi-sppy's own function needs MPI on some machines; what it attaches is this."""
    import sys

    def attach_root_node(model, cost, variables):
        model._mpisppy_node_list = [SimpleNamespace(nonant_vardata_list=variables)]

    sputils = SimpleNamespace(attach_root_node=attach_root_node)
    monkeypatch.setitem(sys.modules, "mpisppy", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "mpisppy.utils", SimpleNamespace(sputils=sputils))
    monkeypatch.setitem(sys.modules, "mpisppy.utils.sputils", sputils)


def test_there_and_back_again(monkeypatch):
    attach(monkeypatch)
    creator = to_scenario_creator(farmer.build())
    assert creator.names == list(farmer.WEATHER)
    assert creator.scenario_names_creator(2, start=1) == ["average", "high"]
    one = creator("low")
    assert one._mpisppy_probability == pytest.approx(1 / 3)
    assert list(one.scenario) == ["low"]
    m = from_scenario_creator(creator, creator.names)
    pyo.assert_optimal_termination(pyo.SolverFactory("stochsqp").solve(m))
    assert pyo.value(m.expected_cost) == pytest.approx(-108390.0, rel=1e-6)


def test_rows_of_tables_are_scenarios(monkeypatch):
    attach(monkeypatch)
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=0.0)
    m.w = RandomParam(data=[1.0, 3.0, 8.0], weights=[0.5, 0.25, 0.25])
    m.cost = pyo.Objective(expr=E((m.x - m.w) ** 2))
    creator = to_scenario_creator(m)
    assert [creator(n)._mpisppy_probability for n in creator.names] == [0.5, 0.25, 0.25]
    assert pyo.value(creator("scen2").cost) == pytest.approx(64.0)
    back = from_scenario_creator(creator, creator.names)
    pyo.SolverFactory("stochsqp").solve(back)
    assert back.x.value == pytest.approx(3.25, rel=1e-6)
    assert m.w.random
    with pytest.raises(ModelError, match="no scenario 'scen9'"):
        creator("scen9")


def formula(m):
    m.cost.set_value(pyo.log(E(pyo.exp(m.x - m.w))))


def kink(m):
    m.cost.set_value(E(positive_part(m.w - m.x)))


def expectation_row(m):
    m.row = pyo.Constraint(expr=E(m.w * m.x) <= 4.0)


def distribution(m):
    m.u = RandomParam(distribution=st.norm())
    m.cost.set_value(E((m.x - m.w - m.u) ** 2))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (formula, "formulas of expectations"),
        (kink, "rounded off.*width=0.01"),
        (expectation_row, "'row' holds an expectation"),
        (distribution, "one table"),
    ],
)
def test_what_scenarios_cannot_say_apart_is_refused(change, message):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=0.0)
    m.w = RandomParam(data=np.array([1.0, 3.0]))
    m.cost = pyo.Objective(expr=E((m.x - m.w) ** 2))
    change(m)
    with pytest.raises(ModelError, match=message):
        to_scenario_creator(m)


@pytest.mark.parametrize("count", [3, 30, 100])
def test_the_farmer_that_mpi_sppy_ships(count):
    theirs = pytest.importorskip("mpisppy.tests.examples.farmer", exc_type=ImportError)
    highs = pytest.importorskip("highspy")
    assert highs
    from mpisppy.utils.sputils import create_EF

    m = from_scenario_creator(theirs, count, num_scens=count)
    pyo.assert_optimal_termination(pyo.SolverFactory("stochsqp").solve(m))
    names = theirs.scenario_names_creator(count)
    form = create_EF(names, theirs.scenario_creator, {"num_scens": count}, suppress_warnings=True)
    pyo.SolverFactory("appsi_highs").solve(form)
    assert pyo.value(m.expected_cost) == pytest.approx(pyo.value(form.EF_Obj), rel=1e-6)
