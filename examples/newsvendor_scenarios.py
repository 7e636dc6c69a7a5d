"""A newsvendor over explicit scenarios: how many papers to order before demand is known?

    maximise E[ price min(x, D) - cost x ]

with 200 equally likely demands D, one Pyomo block each. min(x, D) has a kink, which a method that
uses derivatives cannot take, so it is replaced by the smooth D - log(1 + exp(k (D - x)))/k. The
optimum of the smooth problem solves mean_s 1/(1 + exp(k (x - D_s))) = cost/price; that of the
original one is the famous quantile, P(D <= x) = 1 - cost/price.
"""

import numpy as np
import pyomo.environ as pyo
from scipy.optimize import brentq
from scipy.special import expit

from pyomo_stochsqp import E

PRICE, COST, SHARPNESS = 3.0, 1.0, 2.0
DEMAND = np.random.default_rng(0).lognormal(mean=3.0, sigma=0.3, size=200)


#: finite data: no sampling error
TOLERANCE = 1e-6


def build():
    m = pyo.ConcreteModel("newsvendor")
    m.order = pyo.Var(initialize=10.0, bounds=(0, 100))

    @m.Block(range(len(DEMAND)))
    def scenario(b, s):
        demand = float(DEMAND[s])
        lost = pyo.log(1 + pyo.exp(SHARPNESS * (demand - m.order))) / SHARPNESS
        b.profit = pyo.Expression(expr=PRICE * (demand - lost) - COST * m.order)

    m.profit = pyo.Objective(expr=E(m.scenario[:].profit), sense=pyo.maximize)
    return m


def exact_order():
    def excess(x):
        return expit(SHARPNESS * (DEMAND - x)).mean() - COST / PRICE

    return brentq(excess, 0.0, 100.0)


def answers(m, results):
    """What was found, beside the exact number."""
    return {"order": (m.order.value, exact_order())}


def main():
    m = build()
    results = pyo.SolverFactory("stochsqp").solve(m, seed=1)
    pairs = answers(m, results)
    found, exact = pairs["order"]
    print(f"order found           {found:8.4f}")
    print(f"exact, smoothed       {exact:8.4f}")
    print(f"exact, with the kink  {np.quantile(DEMAND, 1 - COST / PRICE):8.4f}")
    return pairs


if __name__ == "__main__":
    main()
