"""Unmixing two signals: the projection of least kurtosis (independent component analysis).

    minimise E[(p - E[p])^4] / Variance[p]^2,   p = u'z,   subject to   u'u = 1

z = R s is a rotation of two independent signals of unit variance, s1 logistic (kurtosis 4.2) and s2
uniform (kurtosis 1.8). The kurtosis of a mixture lies between: the least one is that of the uniform
signal alone, and u is the second column of R. Nobody tells the solver what the signals were.
"""

import numpy as np
import pyomo.environ as pyo
from scipy import stats

from pyomo_stochsqp import E, RandomParam, Variance

ANGLE = 0.4
ROTATION = np.array([[np.cos(ANGLE), -np.sin(ANGLE)], [np.sin(ANGLE), np.cos(ANGLE)]])

#: certified: within 3 tol_opt
TOLERANCE = 5e-3


def build():
    m = pyo.ConcreteModel("kurtosis")
    m.u = pyo.Var(range(2), initialize={0: 0.1, 1: 1.0})
    m.s1 = RandomParam(distribution=stats.logistic(scale=np.sqrt(3) / np.pi))
    m.s2 = RandomParam(distribution=stats.uniform(-np.sqrt(3), 2 * np.sqrt(3)))
    heard = [ROTATION[i, 0] * m.s1 + ROTATION[i, 1] * m.s2 for i in range(2)]
    p = sum(m.u[i] * heard[i] for i in range(2))
    m.kurtosis = pyo.Objective(expr=E((p - E(p)) ** 4) / Variance(p) ** 2)
    m.unit = pyo.Constraint(expr=m.u[0] ** 2 + m.u[1] ** 2 == 1)
    return m


def answers(m, results):
    """What was found, beside the exact numbers."""
    pairs = {f"u[{i}]": (m.u[i].value, ROTATION[i, 1]) for i in range(2)}
    pairs["kurtosis"] = (results.certificate.objective, 1.8)
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
