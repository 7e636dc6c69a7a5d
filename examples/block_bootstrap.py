"""How much energy for next week? Weeks are made of pieces of the past.

    minimise E[c q + p (d_1 + ... + d_7 - q)+],   d a week of daily demands

There are 600 days of demand, and cold days follow cold days. The block bootstrap draws weeks of
seven consecutive days, so that they are as cold together as they were; its weeks are the 600 that
there are (the series is closed to a circle), and the best q is the 1 - c/p quantile of their sums.
Days drawn one by one (block=1) forget that, and weeks look safer than they are.
"""

import numpy as np
import pyomo.environ as pyo

from pyomo_stochsqp import BlockBootstrap, E, RandomParam, positive_part

COST, PENALTY, WEEK = 1.0, 10.0, 7

#: relative to the numbers: the quantile of 600 weeks, and kinks rounded off
TOLERANCE = 5e-3


def past():
    """Daily demands with memory: an autoregression of order one around 10."""
    shocks = np.random.default_rng(3).standard_normal(600)
    days = np.empty(600)
    level = 0.0
    for t, shock in enumerate(shocks):
        level = 0.9 * level + 0.8 * shock
        days[t] = 10.0 + level
    return days


def build(block=WEEK):
    m = pyo.ConcreteModel("energy for a week")
    m.days = pyo.RangeSet(WEEK)
    m.q = pyo.Var(initialize=70.0)
    m.demand = RandomParam(m.days, sampler=BlockBootstrap(past(), horizon=WEEK, block=block))
    short = positive_part(sum(m.demand[t] for t in m.days) - m.q)
    m.cost = pyo.Objective(expr=COST * m.q + PENALTY * E(short))
    return m


def weeks():
    """The sums of all weeks that there are."""
    days = past()
    return sum(np.roll(days, -t) for t in range(WEEK))


def cost(q):
    """What an order costs on average."""
    return COST * q + PENALTY * np.maximum(weeks() - q, 0.0).mean()


def closed_form():
    """(the best order, its cost)."""
    best = np.quantile(weeks(), 1 - COST / PENALTY, method="inverted_cdf")
    return best, cost(best)


def answers(m, results):
    """What was found, beside the exact numbers."""
    best, least = closed_form()
    return {"order": (m.q.value, best), "cost": (results.certificate.objective, least)}


def main():
    m = build()
    results = pyo.SolverFactory("stochsqp").solve(m, seed=1)
    pairs = answers(m, results)
    for name, (found, exact) in pairs.items():
        print(f"{name:6} found {found:8.3f}   exact {exact:8.3f}")
    single = build(block=1)
    pyo.SolverFactory("stochsqp").solve(single, seed=1)
    print(
        f"days drawn one by one: order {single.q.value:.3f}, which costs {cost(single.q.value):.3f}"
    )
    return pairs


if __name__ == "__main__":
    main()
