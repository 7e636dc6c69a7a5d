"""Outcomes of single scenarios, further expressions, other random numbers."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pyomo.environ as pyo
import pytest
import scipy.stats as st

from pyomo_stochsqp import CVaR, E, RandomParam, RandomSource, Variance, evaluate
from pyomo_stochsqp.errors import DataError, ModelError, OptionError
from pyomo_stochsqp.evaluation import Outcome

mpl.use("Agg")


@pytest.fixture
def shop():
    """A stock x, a demand w ~ N(3, 1), a price d from a table."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=4.0)
    m.w = RandomParam(distribution=st.norm(3, 1))
    m.d = RandomParam(data=[1.0, 2.0, 3.0, 6.0])
    m.cost = pyo.Objective(expr=m.x + E((m.x - m.w) ** 2 + m.d * m.x))
    m.row = pyo.Constraint(expr=E(m.w * m.x) <= 14)
    m.rest = pyo.Expression(expr=pyo.exp(-m.w) * m.x - pyo.sqrt(m.d))
    return m


def test_outcomes_average_to_the_values(shop):
    e = evaluate(shop, shop.rest, seed=1)
    for name in ("cost", "row", "rest"):
        # the same scenarios of w; those of d in another order
        assert e.outcomes[name].mean == pytest.approx(e[name].value, abs=5e-3 * e[name].value)
    # w x is normal with mean 12 and standard deviation 4
    row = e.outcomes[shop.row]
    assert row.std == pytest.approx(4.0, rel=5e-3)
    assert row.quantile(0.95) == pytest.approx(12 + 4 * st.norm.ppf(0.95), rel=5e-3)
    assert row.violation_probability == pytest.approx(st.norm.sf(0.5), abs=5e-3)
    tail = 12 + 4 * st.norm.pdf(st.norm.ppf(0.9)) / 0.1
    assert row.cvar(0.9) == pytest.approx(tail, rel=5e-3)


def test_every_operation_is_that_of_pyomo(shop):
    """Against Pyomo's own value, with the random numbers fixed to those of a row."""
    m, x, w, d = shop, shop.x, shop.w, shop.d
    m.all = pyo.Expression(
        expr=pyo.log(1 + w**2) - pyo.tanh(d / w) + abs(w - x) ** 1.5 / (2 + pyo.sin(w * d))
        + pyo.atan(-w) * (3 - d) + 2 * x - w * 0.5 + pyo.log10(d) - pyo.cosh(0.1 * w)
    )  # fmt: skip
    rows = np.array([0.3, 1.7, 2.9, 4.0])
    frame = evaluate(m, m.all, data={w: rows, d: [2.5]}, seed=0).outcomes.to_pandas()
    for number in rows:
        w.fix_to(number)
        d.fix_to(2.5)
        assert np.abs(frame["all"] - pyo.value(m.all)).min() < 1e-12
        w.unfix()
        d.unfix()


def test_what_may_be_asked_for(shop):
    m = shop
    m.y = pyo.Var([1, 2], initialize={1: 5.0, 2: 6.0})
    asked = evaluate(m, m.y, m.x + 1, E((m.w - E(m.w)) ** 2), CVaR(m.w, 0.9), m.w, seed=1)
    assert asked[m.y[1]].value == 5.0 and asked["y[2]"].value == 6.0
    assert asked["x + 1"].value == 5.0 and asked["x + 1"].required == ""
    assert asked["E[(w - E[w])**2]"].value == pytest.approx(1.0, rel=1e-2)
    assert asked["w"].value == pytest.approx(3.0, rel=1e-3)
    outcomes = {o.name for o in asked.outcomes}
    # one number per scenario, unless it is a formula of expectations, or not random
    assert outcomes == {"cost", "row", "E[(w - E[w])**2]", "w"}
    with pytest.raises(KeyError, match=r"there are cost, row"):
        asked.outcomes["nothing"]
    with pytest.raises(ModelError, match="'hello' is no Pyomo expression"):
        evaluate(m, "hello")


def test_scenario_blocks_bring_their_weights():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=2.0)
    weights = {1: 0.2, 2: 0.3, 3: 0.5}

    @m.Block([1, 2, 3])
    def scenario(b, s):
        b.y = pyo.Var(initialize=float(s))
        b.cost = pyo.Expression(expr=s * m.x + b.y)

    m.obj = pyo.Objective(expr=E(m.scenario[:].cost, weights=weights), sense=pyo.maximize)
    e = evaluate(m, m.scenario[:].y)
    assert e.exact and e["scenario[:].y"].value == pytest.approx(2.3)
    outcome = e.outcomes["obj"]
    assert outcome.values.tolist() == [3.0, 6.0, 9.0]
    assert outcome.weights.tolist() == [0.2, 0.3, 0.5]
    assert outcome.quantile(0.2) == 3.0 and outcome.quantile(0.21) == 6.0
    # the worst tenth of a gain are small numbers
    assert outcome.cvar(0.9) == 3.0 and outcome.cvar(0.5) == pytest.approx(
        (0.2 * 3 + 0.3 * 6) / 0.5
    )
    assert e.outcomes.to_pandas()["weight"].tolist() == [0.2, 0.3, 0.5]


def test_statistics_of_an_outcome():
    o = Outcome("o", np.array([3.0, 1.0, 2.0, 4.0]), None, lower=1.0, upper=3.0)
    assert (o.mean, o.quantile(0.0), o.quantile(0.5), o.quantile(1.0)) == (2.5, 1.0, 2.0, 4.0)
    assert o.violation_probability == 0.25
    assert o.cvar(0.0) == 2.5 and o.cvar(0.75) == 4.0 and o.cvar(0.625) == pytest.approx(11 / 3)
    values, probability = o.distribution()
    assert values.tolist() == [1, 2, 3, 4] and probability.tolist() == [0.25, 0.5, 0.75, 1]
    for bad in (lambda: o.quantile(1.2), lambda: o.cvar(1.0)):
        with pytest.raises(OptionError, match="the level is a"):
            bad()


# -- other random numbers -------------------------------------------------------------------------


def test_other_numbers_are_used_and_forgotten(shop):
    m = shop
    own = evaluate(m, samples=64_000, seed=1)["row"].value
    stressed = {m.w: st.norm(5, 1), "d": np.array([10.0, 20.0])}
    e = evaluate(m, data=stressed, samples=64_000, seed=1)
    assert e["row"].value == pytest.approx(20.0, rel=1e-3)
    assert e["cost"].value == pytest.approx(4 + 1 + 1 + 15 * 4, rel=1e-3)
    assert evaluate(m, samples=64_000, seed=1)["row"].value == own
    assert m.w.mean() == 3.0 and m.d.mean() == 3.0


@pytest.mark.parametrize(
    "given",
    [
        lambda m: {m.w: lambda rng, size: np.full((size, 1), 5.0)},
        lambda m: {"w": [5.0, 5.0]},
        lambda m: {m.w: RandomSource(data=[4.0, 8.0], weights=[0.75, 0.25])},
    ],
)
def test_samplers_tables_and_weights(shop, given):
    e = evaluate(shop, data=given(shop), samples=6400, seed=1)
    assert e["row"].value == pytest.approx(20.0, rel=1e-12)


def test_a_model_with_one_source_takes_the_numbers_alone():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=1.0)
    m.r = RandomParam(["a", "b"], data={"a": [1.0, 2.0], "b": [3.0, 4.0], "c": [0.0, 0.0]})
    m.obj = pyo.Objective(expr=E(m.r["a"] * m.x + 10 * m.r["b"]))
    held_out = {"b": np.array([1.0]), "a": np.array([2.0])}
    assert evaluate(m, data=held_out)["obj"].value == 12.0
    assert evaluate(m, data=np.array([[2.0, 1.0]]))["obj"].value == 12.0


def test_tables_of_pandas_are_no_distributions():
    """They can be sampled, and have a function of that name."""
    m = pyo.ConcreteModel()
    m.r = RandomParam(["a", "b"], data=[[1.0, 2.0], [3.0, 4.0]])
    m.obj = pyo.Objective(expr=E(m.r["a"] + 10 * m.r["b"]))
    frame = pd.DataFrame({"b": [1.0, 3.0], "a": [2.0, 4.0]})
    assert evaluate(m, data=frame)["obj"].value == 23.0
    assert evaluate(m, data={m.r: frame.iloc[:1]})["obj"].value == 12.0
    n = pyo.ConcreteModel()
    n.w = RandomParam(data=pd.Series([1.0, 3.0]))
    n.obj = pyo.Objective(expr=E(n.w))
    assert evaluate(n, data=frame["b"])["obj"].value == 2.0


def test_rows_that_belong_together_are_replaced_together():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=1.0)
    days = RandomSource("days")
    m.wind = RandomParam(data=[1.0, 2.0], source=days)
    m.price = RandomParam(data=[3.0, 1.0], source=days)
    m.obj = pyo.Objective(expr=E(m.wind * m.price * m.x))
    with pytest.raises(DataError, match="give numbers for 'price', too"):
        evaluate(m, data={m.wind: [1.0]})
    new = {m.wind: [1.0, 1.0, 4.0], m.price: [1.0, 1.0, 1.0]}
    assert evaluate(m, data=new)["obj"].value == 2.0
    assert evaluate(m)["obj"].value == 2.5


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"w": [1.0], "q": [1.0]}, "'q' is no RandomParam"),
        ([1.0, 2.0], "say which one the numbers are for"),
        ({"w": np.zeros((3, 2))}, "2 columns for 1 members"),
        ({"w": RandomSource()}, "has no numbers of its own"),
    ],
)
def test_refusals(shop, data, message):
    with pytest.raises(DataError, match=message):
        evaluate(shop, data=data)
    assert shop.w.mean() == 3.0


# -- tables and pictures --------------------------------------------------------------------------


def test_tables_and_pictures(shop, tmp_path):
    shop.spread = pyo.Constraint(expr=Variance(shop.w * shop.x) <= 30)
    e = evaluate(shop, samples=6400, seed=1)
    text = str(e.outcomes)
    assert "P(violated)" in text and "spread" in text and "6400 scenarios" in text
    assert "<table" in e._repr_html_() and "P(violated)" in e.outcomes._repr_html_()
    frame = e.to_pandas()
    assert list(frame.index) == ["cost", "row", "spread"]
    assert len(e.outcomes.to_pandas()) == 6400
    other = evaluate(shop, data={shop.w: st.norm(4, 2)}, samples=6400, seed=1)
    figure = e.plot(other, tmp_path / "outcomes.png", labels=("calm", "stressed"))
    assert (tmp_path / "outcomes.png").stat().st_size > 10_000
    assert len(figure.axes) == 6
    e.plot(str(tmp_path / "alone.png"))
    assert (tmp_path / "alone.png").stat().st_size > 10_000
    with pytest.raises(OptionError, match="nothing to plot"):
        e.plot(evaluate(shop, samples=64).outcomes.__class__([], ""))
