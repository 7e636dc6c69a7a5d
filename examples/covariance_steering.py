"""Steering a covariance: the weakest feedback that brings a random state to a given spread.

    x1 = a x0 + u + w,   u = -k x0,   x0 ~ N(0, 1),   w ~ N(0, 0.5^2),   a = 1
    minimise E[u^2]   subject to   E[x1^2] = 0.64

E[u^2] = k^2 and E[x1^2] = (a - k)^2 + 0.25, so (1 - k)^2 = 0.39 and k = 1 - sqrt(0.39). The
multiplier is d(k^2)/d(0.64) = -k / (1 - k).
"""

import math

import pyomo.environ as pyo
from scipy import stats

from pyomo_stochsqp import E, RandomParam

A, SIGMA_0, SIGMA_W, SPREAD = 1.0, 1.0, 0.5, 0.64

#: certified: k within 3 tol_opt; the multiplier has a steeper slope
TOLERANCE = 1e-2


def build():
    m = pyo.ConcreteModel("covariance steering")
    m.k = pyo.Var(initialize=0.0)
    m.x0 = RandomParam(distribution=stats.norm(0.0, SIGMA_0))
    m.w = RandomParam(distribution=stats.norm(0.0, SIGMA_W))
    u = -m.k * m.x0
    m.effort = pyo.Objective(expr=E(u**2))
    m.spread = pyo.Constraint(expr=E((A * m.x0 + u + m.w) ** 2) == SPREAD)
    m.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    return m


def answers(m, results):
    """What was found, beside the exact numbers."""
    k = A - math.sqrt(SPREAD - SIGMA_W**2) / SIGMA_0
    pairs = {"k": (m.k.value, k), "dual": (m.dual[m.spread], -k / (A - k))}
    return pairs


def main():
    m = build()
    results = pyo.SolverFactory("stochsqp").solve(m, seed=1)
    pairs = answers(m, results)
    for name, (found, exact) in pairs.items():
        print(f"{name:5} found {found:9.6f}   exact {exact:9.6f}")
    return pairs


if __name__ == "__main__":
    main()
