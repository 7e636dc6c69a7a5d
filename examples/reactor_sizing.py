"""The smallest stirred tank whose expected conversion is 90 %.

    minimise V   subject to   E[k V / (1 + k V)] = 0.9,   k in {1, 2}, equally likely

Clearing denominators, 0.4 V^2 - 2.4 V - 1.8 = 0, so V = 3 + 1.5 sqrt(6). The multiplier is
1 / E[k / (1 + k V)^2]: the volume that one more unit of conversion costs.

The data are a table with two rows. A batch holds all of it, so nothing is sampled and the answer is
exact to rounding.
"""

import math

import pyomo.environ as pyo

from pyomo_stochsqp import E, RandomParam

#: finite data: solved without sampling, to tol_feas = tol_opt = 1e-6
TOLERANCE = 1e-5


def build():
    m = pyo.ConcreteModel("reactor sizing")
    m.V = pyo.Var(initialize=1.0)
    m.k = RandomParam(data=[1.0, 2.0])
    m.size = pyo.Objective(expr=m.V)
    m.conversion = pyo.Constraint(expr=E(m.k * m.V / (1.0 + m.k * m.V)) == 0.9)
    m.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    return m


def answers(m, results):
    """What was found, beside the exact numbers."""
    V = 3.0 + 1.5 * math.sqrt(6.0)
    dual = 2.0 / sum(k / (1.0 + k * V) ** 2 for k in (1.0, 2.0))
    pairs = {"V": (m.V.value, V), "dual": (m.dual[m.conversion], dual)}
    return pairs


def main():
    m = build()
    results = pyo.SolverFactory("stochsqp").solve(m, seed=1)
    pairs = answers(m, results)
    for name, (found, exact) in pairs.items():
        print(f"{name:5} found {found:11.6f}   exact {exact:11.6f}")
    return pairs


if __name__ == "__main__":
    main()
