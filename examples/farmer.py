"""The farmer of Birge and Louveaux: a linear two-stage program with recourse blocks.

500 acres are sown with wheat, corn and sugar beets before the yields are known. Afterwards wheat
and corn are bought or sold so that the cattle can be fed (200 t and 240 t), and beets are sold, at
a low price beyond a quota of 6,000 t. Yields are 20 % low, average or 20 % high.

The known optimum is a profit of 108,390 with 170, 80 and 250 acres.

Three scenarios of a linear program are no case for sampling: this shows that the form with scenario
blocks, the one operations-research courses teach, works unchanged. Any other Pyomo solver reads the
same model.
"""

import pyomo.environ as pyo

from pyomo_stochsqp import E

CROPS = ("wheat", "corn", "beets")
PLANTING = {"wheat": 150.0, "corn": 230.0, "beets": 260.0}
YIELD = {"wheat": 2.5, "corn": 3.0, "beets": 20.0}
FEED = {"wheat": 200.0, "corn": 240.0}
BUY = {"wheat": 238.0, "corn": 210.0}
SELL = {"wheat": 170.0, "corn": 150.0}
WEATHER = {"low": 0.8, "average": 1.0, "high": 1.2}
ACRES = {"wheat": 170.0, "corn": 80.0, "beets": 250.0}

#: finite data: no sampling error; relative to the size of the numbers
TOLERANCE = 1e-4


def build():
    m = pyo.ConcreteModel("farmer")
    m.acres = pyo.Var(CROPS, bounds=(0.0, 500.0), initialize=100.0)
    m.land = pyo.Constraint(expr=sum(m.acres[c] for c in CROPS) <= 500.0)

    @m.Block(list(WEATHER))
    def scenario(b, s):
        b.buy = pyo.Var(list(FEED), bounds=(0.0, None), initialize=0.0)
        b.sell = pyo.Var(list(FEED), bounds=(0.0, None), initialize=0.0)
        b.beets = pyo.Var(bounds=(0.0, 6000.0), initialize=0.0)
        b.surplus = pyo.Var(bounds=(0.0, None), initialize=0.0)
        harvest = {c: WEATHER[s] * YIELD[c] * m.acres[c] for c in CROPS}
        b.feed = pyo.Constraint(
            list(FEED), rule=lambda b, c: harvest[c] + b.buy[c] - b.sell[c] >= FEED[c]
        )
        b.sold = pyo.Constraint(expr=b.beets + b.surplus <= harvest["beets"])
        b.cost = pyo.Expression(
            expr=sum(BUY[c] * b.buy[c] - SELL[c] * b.sell[c] for c in FEED)
            - 36.0 * b.beets
            - 10.0 * b.surplus
        )

    m.cost = pyo.Objective(
        expr=sum(PLANTING[c] * m.acres[c] for c in CROPS) + E(m.scenario[:].cost)
    )
    return m


def answers(m, results):
    """What was found, beside the exact numbers."""
    pairs = {f"acres of {c}": (m.acres[c].value, ACRES[c]) for c in CROPS}
    pairs["profit"] = (-pyo.value(m.cost), 108390.0)
    return pairs


def main():
    m = build()
    results = pyo.SolverFactory("stochsqp").solve(m, seed=1)
    pairs = answers(m, results)
    for name, (found, exact) in pairs.items():
        print(f"{name:15} found {found:14.4f}   exact {exact:12.1f}")
    return pairs


if __name__ == "__main__":
    main()
