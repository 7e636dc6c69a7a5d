"""The portfolio of largest Sharpe ratio: a ratio of an expectation and a standard deviation.

    maximise (E[r'x] - r0) / Std[r'x]   subject to   1'x = 1,   r ~ N(mu, S)

The answer is the tangency portfolio, x proportional to S^-1 (mu - r0), with the ratio
sqrt((mu - r0)' S^-1 (mu - r0)).
"""

import numpy as np
import pyomo.environ as pyo
from scipy import stats

from pyomo_stochsqp import E, RandomParam, Std

SAFE = 0.03
MEAN = np.array([0.06, 0.10, 0.14])
COVARIANCE = np.array([[0.0025, 0.0018, 0.0], [0.0018, 0.0144, 0.0108], [0.0, 0.0108, 0.0324]])

#: certified: within 3 tol_opt
TOLERANCE = 5e-3


def build():
    m = pyo.ConcreteModel("Sharpe ratio")
    m.x = pyo.Var(range(3), initialize=1 / 3)
    m.r = RandomParam(range(3), distribution=stats.multivariate_normal(MEAN, COVARIANCE))
    gain = sum(m.r[j] * m.x[j] for j in range(3))
    m.ratio = pyo.Objective(expr=(E(gain) - SAFE) / Std(gain), sense=pyo.maximize)
    m.budget = pyo.Constraint(expr=sum(m.x[j] for j in range(3)) == 1)
    return m


def answers(m, results):
    """What was found, beside the exact numbers."""
    tangent = np.linalg.solve(COVARIANCE, MEAN - SAFE)
    pairs = {f"x[{j}]": (m.x[j].value, tangent[j] / tangent.sum()) for j in range(3)}
    pairs["Sharpe ratio"] = (results.certificate.objective, np.sqrt((MEAN - SAFE) @ tangent))
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
