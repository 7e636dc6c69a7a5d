"""The smallest real use: tilt a normal distribution until its moment has a given value.

    minimise x^2   subject to   E[exp(x w)] = e,   w ~ N(1, 1)

E[exp(x w)] = exp(x + x^2/2), so x = sqrt(3) - 1, and the multiplier is 2 x / (e sqrt(3)).
The solver is told none of this: it only draws samples of w.
"""

import math

import pyomo.environ as pyo
from scipy import stats

from pyomo_stochsqp import E, RandomParam


def build_model():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=0.5)
    m.w = RandomParam(distribution=stats.norm(1, 1))
    m.cost = pyo.Objective(expr=m.x**2)
    m.tilt = pyo.Constraint(expr=E(pyo.exp(m.x * m.w)) == math.e)
    m.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    return m


def main():
    m = build_model()
    results = pyo.SolverFactory("stochsqp").solve(m, batch_size=256, seed=1)
    x = math.sqrt(3) - 1
    dual = 2 * x / (math.e * math.sqrt(3))
    print(f"stopped: {results.message}")
    print(f"x     {m.x.value:.6f}   exact {x:.6f}")
    print(f"dual  {m.dual[m.tilt]:.6f}   exact {dual:.6f}")
    assert abs(m.x.value - x) < 5e-3
    return m, results


if __name__ == "__main__":
    main()
