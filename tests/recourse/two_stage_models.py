"""Two-stage models that several tests solve."""

import numpy as np
import pyomo.environ as pyo
import scipy.stats as st

from pyomo_stochsqp import E, RandomParam, Recourse

CROPS = ("wheat", "corn", "beets")
YIELD = np.array([2.5, 3.0, 20.0])
FEED = {"wheat": 200.0, "corn": 240.0}
BUY = {"wheat": 238.0, "corn": 210.0}
SELL = {"wheat": 170.0, "corn": 150.0}


def farmer(weights=None, **randomness):
    """Birge and Louveaux: a profit of 108,390 with 170, 80 and 250 acres."""
    m = pyo.ConcreteModel("farmer")
    m.acres = pyo.Var(CROPS, bounds=(0, 500))
    m.land = pyo.Constraint(expr=sum(m.acres.values()) <= 500)
    data = np.outer([0.8, 1.0, 1.2], YIELD)
    m.harvest = RandomParam(CROPS, **(randomness or {"data": data, "weights": weights}))

    @Recourse(m)
    def second(b):
        b.buy = pyo.Var(list(FEED), bounds=(0, None))
        b.sell = pyo.Var(list(FEED), bounds=(0, None))
        b.beets = pyo.Var(bounds=(0, 6000))
        b.surplus = pyo.Var(bounds=(0, None))

        @b.Constraint(list(FEED))
        def feed(b, c):
            return m.harvest[c] * m.acres[c] + b.buy[c] - b.sell[c] >= FEED[c]

        b.sold = pyo.Constraint(expr=b.beets + b.surplus <= m.harvest["beets"] * m.acres["beets"])
        b.cost = pyo.Expression(
            expr=sum(BUY[c] * b.buy[c] - SELL[c] * b.sell[c] for c in FEED)
            - 36 * b.beets
            - 10 * b.surplus
        )

    planting = 150 * m.acres["wheat"] + 230 * m.acres["corn"] + 260 * m.acres["beets"]
    m.cost = pyo.Objective(expr=planting + E(m.second.cost))
    return m


PRICE, PENALTY = 1.0, 4.0


def newsvendor(distribution=None, integer=False):
    """Stock at 1, bought at 4 when demand is known: optimal at the quantile 1 - 1/4."""
    m = pyo.ConcreteModel("newsvendor")
    m.stock = pyo.Var(bounds=(0, 1000), domain=pyo.Integers if integer else pyo.Reals)
    m.demand = RandomParam(
        distribution=st.uniform(50, 100) if distribution is None else distribution
    )

    @Recourse(m)
    def second(b):
        b.short = pyo.Var(bounds=(0, None))
        b.meet = pyo.Constraint(expr=m.stock + b.short >= m.demand)

    m.obj = pyo.Objective(expr=PRICE * m.stock + PENALTY * E(m.second.short))
    return m


def newsvendor_cost(stock):
    """The exact objective for demands that are uniform on [50, 150]."""
    return PRICE * stock + PENALTY * (150.0 - stock) ** 2 / 200.0


BEST_STOCK = 125.0
BEST_COST = newsvendor_cost(BEST_STOCK)


def without_complete_recourse():
    """Stock at 2, bought at 1 when demand is known, but never more than 30."""
    m = pyo.ConcreteModel("tight")
    m.stock = pyo.Var(bounds=(0, 200))
    m.demand = RandomParam(distribution=st.uniform(50, 100))

    @Recourse(m)
    def second(b):
        b.buy = pyo.Var(bounds=(0, 30))
        b.meet = pyo.Constraint(expr=m.stock + b.buy >= m.demand)

    m.obj = pyo.Objective(expr=2 * m.stock + E(m.second.buy))
    return m
