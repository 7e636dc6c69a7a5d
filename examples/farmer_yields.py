"""The farmer of Birge and Louveaux with yields that vary continuously.

Yields of wheat, corn and beets are independent and uniform, 20 % around 2.5, 3 and 20 t per acre.
They are coefficients of the first stage's acres, so what is random is the technology matrix. The
rest is as in farmer.py: wheat and corn are bought or sold so that the cattle can be fed, and beets
are sold, at a low price beyond a quota of 6,000 t.

Each crop's mean cost is a one-dimensional integral, so the exact acres solve three equations in one
multiplier: what the last acre brings is the same for all crops. The book's answer is a profit of
111,237 with 135.83, 85.07 and 279.10 acres.
"""

import numpy as np
import pyomo.environ as pyo
from scipy import optimize, stats

from pyomo_stochsqp import E, RandomParam, Recourse

CROPS = ("wheat", "corn", "beets")
PLANTING = {"wheat": 150.0, "corn": 230.0, "beets": 260.0}
YIELD = {"wheat": 2.5, "corn": 3.0, "beets": 20.0}
SPREAD = 0.2
FEED = {"wheat": 200.0, "corn": 240.0, "beets": 6000.0}
#: prices of a tonne where the harvest is less than FEED, and where it is more
BELOW = {"wheat": 238.0, "corn": 210.0, "beets": 36.0}
BEYOND = {"wheat": 170.0, "corn": 150.0, "beets": 10.0}
LAND = 500.0

#: a gap of 1e-4 of the profit; the profit is flat, so acres are looked at less closely
TOLERANCE = 2e-3
#: of acres
NEAR = 15.0


def build():
    m = pyo.ConcreteModel("farmer with continuous yields")
    m.acres = pyo.Var(CROPS, bounds=(0, LAND))
    m.land = pyo.Constraint(expr=sum(m.acres.values()) <= LAND)
    laws = [stats.uniform((1 - SPREAD) * YIELD[c], 2 * SPREAD * YIELD[c]) for c in CROPS]
    m.harvest = RandomParam(CROPS, distribution=laws)

    @Recourse(m)
    def second(b):
        b.buy = pyo.Var(["wheat", "corn"], bounds=(0, None))
        b.sell = pyo.Var(["wheat", "corn"], bounds=(0, None))
        b.beets = pyo.Var(bounds=(0, FEED["beets"]))
        b.surplus = pyo.Var(bounds=(0, None))
        b.feed = pyo.Constraint(
            ["wheat", "corn"],
            rule=lambda b, c: m.harvest[c] * m.acres[c] + b.buy[c] - b.sell[c] >= FEED[c],
        )
        b.sold = pyo.Constraint(expr=b.beets + b.surplus <= m.harvest["beets"] * m.acres["beets"])
        b.income = pyo.Expression(
            expr=sum(BEYOND[c] * b.sell[c] - BELOW[c] * b.buy[c] for c in ("wheat", "corn"))
            + BELOW["beets"] * b.beets
            + BEYOND["beets"] * b.surplus
        )

    planting = sum(PLANTING[c] * m.acres[c] for c in CROPS)
    m.profit = pyo.Objective(expr=E(m.second.income) - planting, sense=pyo.maximize)
    m.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    return m


def income(crop, acres):
    """Mean income of a crop: E[below * (h - f) - (below - beyond) * (h - f)+], h = yield * acres;
    beets have no feed to buy, so that their f is sold."""
    low, high = ((1 + s * SPREAD) * YIELD[crop] * acres for s in (-1, 1))
    beyond = np.clip(high - FEED[crop], 0.0, None) ** 2 - np.clip(low - FEED[crop], 0.0, None) ** 2
    more = beyond / (2 * (high - low)) if acres > 0 else 0.0
    mean = BELOW[crop] * (YIELD[crop] * acres) - (BELOW[crop] - BEYOND[crop]) * more
    return mean - (BELOW[crop] * FEED[crop] if crop != "beets" else 0.0)


def exact():
    """(acres by crop, profit), by one-dimensional concave functions."""

    def profit(x):
        acres = (x[0], x[1], LAND - x[0] - x[1])
        return sum(income(c, a) - PLANTING[c] * a for c, a in zip(CROPS, acres, strict=True))

    best = optimize.minimize(
        lambda x: -profit(x) / 1e5, (100.0, 100.0), method="Nelder-Mead",
        options={"xatol": 1e-6, "fatol": 1e-12},
    ).x  # fmt: skip
    acres = (*best, LAND - best.sum())
    return dict(zip(CROPS, acres, strict=True)), profit(best)


def main():
    m = build()
    results = pyo.SolverFactory("stochsqp").solve(m, gap=1e-4, seed=1)
    acres, profit = exact()
    found = results.certificate.objective
    print(results.certificate)
    print(f"profit        found {found:12.1f}   exact {profit:12.1f}")
    for c in CROPS:
        print(f"{c:13} found {m.acres[c].value:12.2f}   exact {acres[c]:12.2f} acres")
        assert abs(m.acres[c].value - acres[c]) < NEAR
    print(f"an acre more is worth {m.dual[m.land]:.0f}")
    return {"profit": (found, profit)}


if __name__ == "__main__":
    main()
