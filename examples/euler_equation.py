"""A moment condition: the risk aversion of an investor, from the Euler equation.

    find gamma with   E[beta R exp(-gamma g)] = 1,   g ~ N(0.02, 0.03^2)   (consumption growth)

E[exp(-gamma g)] = exp(-0.02 gamma + 0.03^2 gamma^2 / 2), so gamma is the smaller root of

    0.03^2/2 gamma^2 - 0.02 gamma + log(beta R) = 0.

There is nothing to minimise: the objective is zero, and the constraint is a square system.
"""

import math

import pyomo.environ as pyo
from scipy import stats

from pyomo_stochsqp import E, RandomParam

BETA, R = 0.98, 1.04
GROWTH, DEVIATION = 0.02, 0.03

#: certified: within 3 tol_opt
TOLERANCE = 3e-3


def build():
    m = pyo.ConcreteModel("Euler equation")
    m.gamma = pyo.Var(initialize=2.0)
    m.g = RandomParam(distribution=stats.norm(GROWTH, DEVIATION))
    m.nothing = pyo.Objective(expr=0.0)
    m.euler = pyo.Constraint(expr=E(BETA * R * pyo.exp(-m.gamma * m.g)) == 1.0)
    return m


def answers(m, results):
    """What was found, beside the exact number."""
    a, b, c = DEVIATION**2 / 2, -GROWTH, math.log(BETA * R)
    return {"gamma": (m.gamma.value, (-b - math.sqrt(b * b - 4 * a * c)) / (2 * a))}


def main():
    m = build()
    results = pyo.SolverFactory("stochsqp").solve(m, seed=1)
    pairs = answers(m, results)
    found, exact = pairs["gamma"]
    print(f"gamma  found {found:.6f}   exact {exact:.6f}")
    return pairs


if __name__ == "__main__":
    main()
