"""Two kinds of plants that fail at random: the cheapest mix that nearly always meets a demand.

    minimise c'x   subject to   P(a'x >= 100) >= 0.95,   x >= 0,   a ~ N(mu, S)

a is what one unit of each kind delivers. For normal a the chance constraint is
mu'x - q sqrt(x'Sx) >= 100 with q the 95 % quantile of N(0, 1): along every ray x = s (1, rho) the
scale s follows, and the best rho is found by a search in one dimension.
"""

import numpy as np
import pyomo.environ as pyo
from scipy import optimize, stats

from pyomo_stochsqp import Probability, RandomParam

DEMAND, LEVEL = 100.0, 0.95
COST = np.array([1.0, 1.3])
MEAN = np.array([0.8, 0.9])
COVARIANCE = np.array([[0.04, 0.002], [0.002, 0.01]])

#: relative; certified: within 3 tol_opt of x
TOLERANCE = 1e-2


def build():
    m = pyo.ConcreteModel("capacity")
    m.x = pyo.Var(range(2), bounds=(0, None), initialize=10.0)
    m.a = RandomParam(range(2), distribution=stats.multivariate_normal(MEAN, COVARIANCE))
    delivered = sum(m.a[j] * m.x[j] for j in range(2))
    m.cost = pyo.Objective(expr=sum(COST[j] * m.x[j] for j in range(2)))
    m.reliable = pyo.Constraint(expr=Probability(delivered >= DEMAND) >= LEVEL)
    return m


def closed_form():
    """The cheapest x."""

    def mix(rho):
        ray = np.array([1.0, rho])
        spread = stats.norm.ppf(LEVEL) * np.sqrt(ray @ COVARIANCE @ ray)
        return DEMAND / (MEAN @ ray - spread) * ray

    best = optimize.minimize_scalar(
        lambda rho: COST @ mix(rho), bounds=(0.0, 10.0), method="bounded", options={"xatol": 1e-10}
    )
    return mix(best.x)


def reliability(x):
    """P(a'x >= 100)."""
    return stats.norm.sf(DEMAND, MEAN @ x, np.sqrt(x @ COVARIANCE @ x))


def answers(m, results):
    """What was found, beside the exact numbers."""
    x = closed_form()
    pairs = {f"x[{j}]": (m.x[j].value, x[j]) for j in range(2)}
    pairs["cost"] = (pyo.value(m.cost), COST @ x)
    pairs["P(enough)"] = (reliability(np.array([m.x[j].value for j in range(2)])), LEVEL)
    return pairs


def main():
    m = build()
    results = pyo.SolverFactory("stochsqp").solve(m, seed=1)
    pyo.assert_optimal_termination(results)
    pairs = answers(m, results)
    for name, (found, exact) in pairs.items():
        print(f"{name:12} found {found:10.6f}   exact {exact:10.6f}")
    return pairs


if __name__ == "__main__":
    main()
