"""The smallest real use: tilt a normal distribution until its moment has a given value.

    minimise x^2   subject to   E[exp(x w)] = e,   w ~ N(1, 1)

E[exp(x w)] = exp(x + x^2/2), so x = sqrt(3) - 1, and the multiplier is 2 x / (e sqrt(3)).
The solver is told none of this: it only draws samples of w.
"""

import math

import pyomo.environ as pyo
from scipy import stats

from pyomo_stochsqp import E, RandomParam

#: the default tolerance of sampled models
TOLERANCE = 1e-3


def build():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=0.5)
    m.w = RandomParam(distribution=stats.norm(1, 1))
    m.cost = pyo.Objective(expr=m.x**2)
    m.tilt = pyo.Constraint(expr=E(pyo.exp(m.x * m.w)) == math.e)
    m.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    return m


def answers(m, results):
    """What was found, beside the exact numbers."""
    x = math.sqrt(3) - 1
    return {
        "x": (m.x.value, x),
        "dual": (m.dual[m.tilt], 2 * x / (math.e * math.sqrt(3))),
    }


def main():
    m = build()
    results = pyo.SolverFactory("stochsqp").solve(m, seed=1)
    print(f"ended: {results.message}")
    pairs = answers(m, results)
    for name, (found, exact) in pairs.items():
        print(f"{name:5} found {found:.6f}   exact {exact:.6f}")
    return pairs


if __name__ == "__main__":
    main()
