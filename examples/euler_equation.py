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

#: the slope of the moment in gamma is only 0.02: an error of 1e-5 in E is one of 5e-4 in gamma
TOLERANCE = 1e-3


def build():
    m = pyo.ConcreteModel("Euler equation")
    m.gamma = pyo.Var(initialize=2.0)
    m.g = RandomParam(distribution=stats.norm(GROWTH, DEVIATION))
    m.nothing = pyo.Objective(expr=0.0)
    m.euler = pyo.Constraint(expr=E(BETA * R * pyo.exp(-m.gamma * m.g)) == 1.0)
    return m


def main():
    m = build()
    pyo.SolverFactory("stochsqp").solve(m, batch_size=256, seed=1, sampling="qmc", tol_feas=1e-5)
    a, b, c = DEVIATION**2 / 2, -GROWTH, math.log(BETA * R)
    exact = (-b - math.sqrt(b * b - 4 * a * c)) / (2 * a)
    print(f"gamma  found {m.gamma.value:.6f}   exact {exact:.6f}")
    return {"gamma": (m.gamma.value, exact)}


if __name__ == "__main__":
    main()
