"""A nonconvex constraint: a linear cost on a sphere that is only seen through noise.

    minimise c'x   subject to   E ||x - z||^2 = r^2,   z ~ N(0, 0.1 I),   x in R^5

E ||x - z||^2 = ||x||^2 + 5 * 0.1, so with r^2 = 1.5 the feasible set is the unit sphere. The answer
is x = -c/||c||, the cost -||c||, and the multiplier d(cost)/d(r^2) = -||c||/2. The other stationary
point, +c/||c||, is the maximum.
"""

import math

import pyomo.environ as pyo
from scipy import stats

from pyomo_stochsqp import E, RandomParam

N = 5
C = [1.0, 2.0, 3.0, 4.0, 5.0]
VARIANCE, RADIUS_SQUARED = 0.1, 1.5

#: certified: within 3 tol_opt
TOLERANCE = 3e-3


def build():
    m = pyo.ConcreteModel("noisy sphere")
    m.I = pyo.RangeSet(0, N - 1)
    m.x = pyo.Var(m.I, initialize=1.0)
    m.z = RandomParam(m.I, distribution=stats.norm(0.0, math.sqrt(VARIANCE)))
    m.cost = pyo.Objective(expr=sum(C[i] * m.x[i] for i in m.I))
    m.sphere = pyo.Constraint(expr=E(sum((m.x[i] - m.z[i]) ** 2 for i in m.I)) == RADIUS_SQUARED)
    m.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    return m


def answers(m, results):
    """What was found, beside the exact numbers."""
    norm = math.hypot(*C)
    pairs = {f"x[{i}]": (m.x[i].value, -C[i] / norm) for i in m.I}
    pairs["cost"] = (pyo.value(m.cost), -norm)
    pairs["dual"] = (m.dual[m.sphere], -norm / 2)
    return pairs


def main():
    m = build()
    results = pyo.SolverFactory("stochsqp").solve(m, seed=1)
    pairs = answers(m, results)
    for name, (found, exact) in pairs.items():
        print(f"{name:6} found {found:10.6f}   exact {exact:10.6f}")
    return pairs


if __name__ == "__main__":
    main()
