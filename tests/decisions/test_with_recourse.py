"""The farmer with a second stage that is written once."""

import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.stats as st

from pyomo_stochsqp import E, RandomParam, Recourse, pareto, sensitivity, value_of_information
from pyomo_stochsqp.errors import ModelError

pytest.importorskip("highspy")

SELL = {"wheat": 170, "corn": 150}
BUY = {"wheat": 238, "corn": 210}
NEED = {"wheat": 200, "corn": 240}


def farmer(**numbers):
    m = pyo.ConcreteModel("farmer")
    m.acres = pyo.Var(["wheat", "corn", "beets"], bounds=(0, 500))
    m.land = pyo.Constraint(expr=sum(m.acres.values()) <= 500)
    m.seed = pyo.Param(initialize=150.0, mutable=True)
    m.weather = RandomParam(**numbers)

    @Recourse(m)
    def season(b):
        b.buy, b.sell = (pyo.Var(list(NEED), bounds=(0, None)) for _ in range(2))
        b.beets, b.surplus = pyo.Var(bounds=(0, 6000)), pyo.Var(bounds=(0, None))
        tons = {"wheat": 2.5, "corn": 3, "beets": 20}
        grown = {c: m.weather * t * m.acres[c] for c, t in tons.items()}
        b.feed = pyo.Constraint(
            list(NEED), rule=lambda b, c: grown[c] + b.buy[c] - b.sell[c] >= NEED[c]
        )
        b.sold = pyo.Constraint(expr=b.beets + b.surplus <= grown["beets"])
        b.cost = pyo.Expression(
            expr=sum(BUY[c] * b.buy[c] - SELL[c] * b.sell[c] for c in NEED)
            - 36 * b.beets - 10 * b.surplus
        )  # fmt: skip

    planting = m.seed * m.acres["wheat"] + 230 * m.acres["corn"] + 260 * m.acres["beets"]
    m.cost = pyo.Objective(expr=planting + E(m.season.cost))
    return m


def test_value_of_information():
    m = farmer(data=np.array([0.8, 1.0, 1.2]))
    found = value_of_information(m)
    assert found.recourse_problem == pytest.approx(-108390, abs=1)
    assert found.expected_value == pytest.approx(-118600, abs=1)
    assert found.evpi.value == pytest.approx(7015.56, abs=1)
    assert found.vss.value == pytest.approx(1150, abs=1)
    assert found.vss.standard_error == 0.0
    assert set(found.decision) == {"acres[wheat]", "acres[corn]", "acres[beets]"}
    assert m.acres["wheat"].value == pytest.approx(170) and m.weather.mean() == 1.0


def test_distributions_give_intervals():
    """Of the 200 midpoints of the same distribution all scenarios can be solved."""
    grid = 0.8 + 0.4 * (np.arange(200) + 0.5) / 200
    exact = value_of_information(farmer(data=grid), scenarios=200)
    drawn = value_of_information(farmer(distribution=st.uniform(0.8, 0.4)), samples=2000, seed=3)
    for one in ("evpi", "vss"):
        found, truth = getattr(drawn, one), getattr(exact, one).value
        assert found.standard_error > 0.0
        assert abs(found.value - truth) < 4.0 * found.standard_error + 20.0


def test_a_frontier():
    m = farmer(data=np.array([0.8, 1.0, 1.2]))
    f = pareto(m, m.seed, [150.0, 200.0], m.acres["wheat"], m.season.beets)
    assert f[0].objective == pytest.approx(-108390, abs=1)
    assert f[0].values == pytest.approx((170.0, 5000.0), rel=1e-6)
    assert f[1].objective > f[0].objective and f[1].values[0] < 170.0
    assert m.seed.value == 150.0


def test_sensitivities_are_refused():
    m = farmer(data=np.array([0.8, 1.0, 1.2]))
    with pytest.raises(ModelError, match="'farmer' has Recourse"):
        sensitivity(m, m.seed)
