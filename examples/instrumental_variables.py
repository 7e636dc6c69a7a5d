"""Instrumental variables: a regression whose regressor is correlated with its error.

    y = 1 + 2 x + 1.5 u + e,   x = z + u + f,   z, u, e, f ~ N(0, 1);   u is not observed

    find t with   E[z_i (y - t_0 - t_1 x)] = 0   for the instruments z_0 = 1 and z_1 = z

The answer is t = (1, 2), the coefficients of the equation. Least squares converges to the wrong
slope: 2 + 1.5 cov(x, u)/var(x) = 2.5.

The data come from a simulator: any function that returns rows of numbers will do.
"""

import numpy as np
import pyomo.environ as pyo

from pyomo_stochsqp import E, RandomParam

TRUE = (1.0, 2.0)

#: certified: within 3 tol_opt
TOLERANCE = 3e-3


def simulate(rng, size):
    """Rows (z, x, y) of the structural equations."""
    z, u, e, f = rng.standard_normal((4, size))
    x = z + u + f
    y = TRUE[0] + TRUE[1] * x + 1.5 * u + e
    return np.column_stack([z, x, y])


def build():
    m = pyo.ConcreteModel("instrumental variables")
    m.t = pyo.Var([0, 1], initialize=0.0)
    m.w = RandomParam(["z", "x", "y"], sampler=simulate)
    residual = m.w["y"] - m.t[0] - m.t[1] * m.w["x"]
    instruments = {0: 1.0, 1: m.w["z"]}
    m.nothing = pyo.Objective(expr=0.0)
    m.moment = pyo.Constraint([0, 1], rule=lambda m, i: E(instruments[i] * residual) == 0.0)
    return m


def answers(m, results):
    """What was found, beside the exact numbers."""
    pairs = {f"t[{i}]": (m.t[i].value, TRUE[i]) for i in (0, 1)}
    return pairs


def main():
    m = build()
    results = pyo.SolverFactory("stochsqp").solve(m, seed=1)
    pairs = answers(m, results)
    for name, (found, exact) in pairs.items():
        print(f"{name}  found {found:9.6f}   exact {exact:9.6f}")
    print("least squares would say t[1] = 2.5")
    return pairs


if __name__ == "__main__":
    main()
