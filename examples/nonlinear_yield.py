"""How large a plant whose yield saturates, when prices are random and its emissions are capped?

    maximise   -COST x + E[p (1 - exp(-y)) - y]    over the size x and, once p is known, the feed y
    subject to y <= x in every scenario,    E[y] <= CAP,        p uniform on [1, 5]

The cap holds on average, so the feeds of different prices share it. With its price v and a = 1 + v,

    y = log(p / a), between 0 and x,      E[(p exp(-x) - a)+] = COST,      E[y] = CAP,

and with u = exp(x) the integrals over p are  (5 - a u)^2 = 8 COST u  and
4 E[y] = a (u x - u + 1) + x (5 - a u): one equation for a.
"""

import math

import numpy as np
import pyomo.environ as pyo
from scipy.optimize import brentq
from scipy.stats import uniform

from pyomo_stochsqp import E, RandomParam, Recourse

COST, CAP, LEAST, MOST = 0.2, 0.5, 1.0, 5.0
#: certified to 1e-3
TOLERANCE = 5e-3


def build():
    m = pyo.ConcreteModel("plant")
    m.size = pyo.Var(bounds=(0, 5), initialize=0.5)
    m.price = RandomParam(distribution=uniform(LEAST, MOST - LEAST))

    @Recourse(m)
    def second(b):
        b.feed = pyo.Var(bounds=(0, None))
        b.capacity = pyo.Constraint(expr=b.feed <= m.size)
        b.profit = pyo.Expression(expr=m.price * (1 - pyo.exp(-b.feed)) - b.feed)

    m.profit = pyo.Objective(expr=E(m.second.profit) - COST * m.size, sense=pyo.maximize)
    m.emissions = pyo.Constraint(expr=E(m.second.feed) <= CAP)
    m.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    return m


def size(a):
    """The best plant if feed costs a."""
    half = 5 * a + 4 * COST
    return math.log((half - math.sqrt(half**2 - (5 * a) ** 2)) / a**2)


def mean_feed(a):
    x, u = size(a), math.exp(size(a))
    return (a * (u * x - u + 1) + x * (MOST - a * u)) / 4


def closed_form():
    """(size, price of the cap)."""
    a = brentq(lambda a: mean_feed(a) - CAP, 1.0, 3.0, xtol=1e-13)
    return size(a), a - 1


def answers(m, results):
    """What was found, beside the exact numbers."""
    x, price = closed_form()
    high = results.policy(m, {m.price: MOST})
    low = results.policy(m, {m.price: 2.0})
    return {
        "size": (m.size.value, x),
        "dual": (m.dual[m.emissions], price),
        "feed at 5": (high[m.second.feed], x),
        "feed at 2": (low[m.second.feed], np.log(2.0 / (1 + price))),
    }


def main():
    m = build()
    results = pyo.SolverFactory("stochsqp").solve(m, seed=1)
    pairs = answers(m, results)
    for name, (found, exact) in pairs.items():
        print(f"{name:10} found {found:9.5f}   exact {exact:9.5f}")
    return pairs


if __name__ == "__main__":
    main()
