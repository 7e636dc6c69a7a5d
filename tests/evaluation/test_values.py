"""evaluate: out-of-sample values with honest uncertainty."""

import math

import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.stats as st

from pyomo_stochsqp import E, RandomParam
from pyomo_stochsqp.errors import ModelError, OptionError
from pyomo_stochsqp.evaluation import evaluate


@pytest.fixture
def model():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=0.5)
    m.w = RandomParam(distribution=st.norm(1, 2))
    m.obj = pyo.Objective(expr=E(pyo.exp(m.w * m.x)) + m.x, sense=pyo.maximize)
    m.con = pyo.Constraint([0, 1], rule=lambda m, j: E((m.w - j) ** 2 * m.x) <= 3)
    m.cap = pyo.Constraint(expr=m.x <= 4)
    return m


def test_closed_forms_lie_within_the_errors(model):
    table = evaluate(model, samples=64_000, seed=3)
    # E exp(w x) = exp(mu x + sigma^2 x^2 / 2); E (w - j)^2 = (mu - j)^2 + sigma^2
    exact = {"obj": math.exp(0.5 + 0.5) + 0.5, "con[0]": 2.5, "con[1]": 2.0}
    assert [v.name for v in table] == list(exact)
    for value in table:
        # five standard errors fail once in 2 million runs
        assert abs(value.value - exact[value.name]) < 5 * value.standard_error
        low, high = value.interval
        t = st.t.ppf(0.975, 31)
        assert high - low == pytest.approx(2 * t * value.standard_error)
    # independent draws err by the spread of w^2 x over sqrt(64000), evenly spread ones by less
    spread = math.sqrt(2 * 2**4 + 4 * 2**2) * 0.5
    assert 0.0 < table[model.con[0]].standard_error < 0.3 * spread / math.sqrt(64_000)


def test_confidence_intervals_cover(model):
    """Over 200 seeds, about 90 % of the 90 % intervals hold the exact value."""
    inside = 0
    for seed in range(200):
        low, high = evaluate(model, samples=640, seed=seed, confidence=0.9)["con[1]"].interval
        inside += low <= 2.0 <= high
    # binomial(200, 0.9) has standard deviation 4.2; the skewness of few points costs a little
    assert 160 <= inside <= 197


def test_seeds_repeat(model):
    assert (
        evaluate(model, samples=1000, seed=1).values == evaluate(model, samples=1000, seed=1).values
    )
    assert (
        evaluate(model, samples=1000, seed=1).values != evaluate(model, samples=1000, seed=2).values
    )


def test_finite_data_is_exact_when_it_fits():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=2.0)
    data = np.arange(500.0)
    weights = np.linspace(1, 2, 500) / np.linspace(1, 2, 500).sum()
    m.w = RandomParam(data=data, weights=weights)
    m.obj = pyo.Objective(expr=E(m.w * m.x))
    table = evaluate(m, samples=500)
    assert table.exact
    assert table["obj"].value == pytest.approx(2 * weights @ data)
    assert table["obj"].standard_error == 0.0
    sampled = evaluate(m, samples=320, seed=0)
    assert not sampled.exact
    assert sampled["obj"].standard_error > 0


def test_scenario_blocks():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=2.0)

    @m.Block([1, 2, 3])
    def scenario(b, s):
        b.cost = pyo.Expression(expr=s * m.x)

    m.obj = pyo.Objective(expr=E(m.scenario[:].cost, weights={1: 0.5, 2: 0.25, 3: 0.25}))
    assert evaluate(m)["obj"].value == pytest.approx(3.5) == pytest.approx(pyo.value(m.obj))


def test_fixed_random_params_are_constants(model):
    model.w.fix_to("mean")
    table = evaluate(model)
    assert table.exact
    assert [v.name for v in table] == ["obj"]  # the constraints are ordinary ones now
    assert table["obj"].value == pytest.approx(math.exp(0.5) + 0.5)


def test_the_table_prints(model):
    text = str(evaluate(model, samples=64, seed=5))
    first, header, rule, *rows = text.splitlines()
    assert first == "Estimates from 64 fresh scenarios per source (seed 5)"
    assert header.split() == ["value", "std.", "error", "95%", "interval", "required"]
    assert set(rule) == {"-"}
    assert [row.split()[0] for row in rows] == ["obj", "con[0]", "con[1]"]
    assert rows[0].endswith("maximize")
    assert rows[1].endswith("<= 3")
    with pytest.raises(KeyError, match="cap"):
        evaluate(model, samples=64)["cap"]


@pytest.mark.parametrize(
    ("build", "text"),
    [
        (lambda e: e == 2, "= 2"),
        (lambda e: e >= 1, ">= 1"),
        (lambda e: (1, e, 2), "in [1, 2]"),
    ],
)
def test_requirements(model, build, text):
    model.extra = pyo.Constraint(expr=build(E(model.w * model.x)))
    assert evaluate(model, samples=64)["extra"].required == text


def test_refusals(model):
    with pytest.raises(OptionError, match="at least 64"):
        evaluate(model, samples=10)
    with pytest.raises(OptionError, match="between 0 and 1"):
        evaluate(model, confidence=95)
    model.obj.set_value(E(pyo.log(model.w) * model.x))
    with pytest.raises(ModelError, match=r"obj.*functions are defined"):
        evaluate(model, samples=640, seed=0)
