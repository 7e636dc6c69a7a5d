"""The frontier of expected return and conditional value-at-risk.

    minimise CVaR[-r'x, 0.95]   subject to   E[r'x] = t,   1'x = 1,   for several t

For normal returns CVaR = -mu'x + k sqrt(x'Sx) with k = pdf(q)/0.05, q the 95 % quantile of N(0, 1).
With mean and budget given, the least CVaR is therefore that of the least variance, and x solves one
linear system. The solver does not know: replace the distribution by your own.
"""

import numpy as np
import pyomo.environ as pyo
from scipy import stats

from pyomo_stochsqp import CVaR, E, RandomParam

LEVEL = 0.95
TARGETS = (0.08, 0.10, 0.12, 0.14)
MEAN = np.array([0.06, 0.10, 0.14])
COVARIANCE = np.array([[0.0025, 0.0018, 0.0], [0.0018, 0.0144, 0.0108], [0.0, 0.0108, 0.0324]])

#: certified: within 3 tol_opt
TOLERANCE = 5e-3


def build(target=TARGETS[0]):
    m = pyo.ConcreteModel("mean and CVaR")
    m.x = pyo.Var(range(3), initialize=1 / 3)
    m.target = pyo.Param(initialize=target, mutable=True)
    m.r = RandomParam(range(3), distribution=stats.multivariate_normal(MEAN, COVARIANCE))
    gain = sum(m.r[j] * m.x[j] for j in range(3))
    m.risk = pyo.Objective(expr=CVaR(-gain, LEVEL))
    m.mean = pyo.Constraint(expr=E(gain) == m.target)
    m.budget = pyo.Constraint(expr=sum(m.x[j] for j in range(3)) == 1)
    return m


def closed_form(target):
    """x and its CVaR."""
    rows = np.vstack([MEAN, np.ones(3)])
    kkt = np.block([[2 * COVARIANCE, rows.T], [rows, np.zeros((2, 2))]])
    x = np.linalg.solve(kkt, [0, 0, 0, target, 1])[:3]
    k = stats.norm.pdf(stats.norm.ppf(LEVEL)) / (1 - LEVEL)
    return x, k * np.sqrt(x @ COVARIANCE @ x) - target


def answers(m, results):
    """What was found for the present target, beside the exact numbers."""
    target = m.target.value
    x, risk = closed_form(target)
    return {
        f"CVaR at {target}": (results.certificate.objective, risk),
        f"x[2] at {target}": (m.x[2].value, x[2]),
    }


def main():
    m = build()
    solver = pyo.SolverFactory("stochsqp")
    pairs = {}
    for target in TARGETS:
        m.target = target
        results = solver.solve(m, seed=1)
        pyo.assert_optimal_termination(results)
        pairs |= answers(m, results)
    for name, (found, exact) in pairs.items():
        print(f"{name:12} found {found:10.6f}   exact {exact:10.6f}")
    return pairs


if __name__ == "__main__":
    main()
