"""The steady-state Kalman gain, without the Riccati equation.

A state x' = x + w is observed as y = x + v, with E[w^2] = E[v^2] = 1. A filter with gain K turns
the prediction error e into e' = (1 - K) e + w - K v. In steady state e and e' have the same
variance P = s^2; with e = s z, z ~ N(0, 1):

    minimise s^2   subject to   E[((1 - K) s z + w - K v)^2 - s^2] = 0

The Riccati equation P = P/(P + 1) + 1 gives P = (1 + sqrt(5))/2 = 1.618034 and K = P/(P + 1) =
0.618034: the golden ratio and its inverse.
"""

import math

import pyomo.environ as pyo
from scipy import stats

from pyomo_stochsqp import E, RandomParam

#: certified: within 3 tol_opt
TOLERANCE = 3e-3


def build():
    m = pyo.ConcreteModel("Kalman gain")
    m.s = pyo.Var(initialize=2.0)
    m.K = pyo.Var(initialize=0.3)
    m.r = RandomParam(["z", "w", "v"], distribution=stats.norm())
    error = (1.0 - m.K) * m.s * m.r["z"] + m.r["w"] - m.K * m.r["v"]
    m.variance = pyo.Objective(expr=m.s**2)
    m.steady = pyo.Constraint(expr=E(error**2) - m.s**2 == 0.0)
    return m


def answers(m, results):
    """What was found, beside the exact numbers."""
    golden = (1.0 + math.sqrt(5.0)) / 2.0
    pairs = {"P": (m.s.value**2, golden), "K": (m.K.value, golden - 1.0)}
    return pairs


def main():
    m = build()
    results = pyo.SolverFactory("stochsqp").solve(m, seed=1)
    pairs = answers(m, results)
    for name, (found, exact) in pairs.items():
        print(f"{name}  found {found:9.6f}   exact {exact:9.6f}")
    return pairs


if __name__ == "__main__":
    main()
