"""A portfolio for an investor with exponential utility: the least entropic risk of the loss.

    minimise log(E[exp(-theta r'x)]) / theta   subject to   1'x = 1,   r ~ N(mu, S)

For normal returns the risk is -mu'x + theta/2 x'Sx, and x solves one linear system. The exponential
is centred before it is taken, so a large theta does no harm.
"""

import numpy as np
import pyomo.environ as pyo
from scipy import stats

from pyomo_stochsqp import Entropic, RandomParam

THETA = 8.0
MEAN = np.array([0.06, 0.10, 0.14])
COVARIANCE = np.array([[0.0025, 0.0018, 0.0], [0.0018, 0.0144, 0.0108], [0.0, 0.0108, 0.0324]])

#: certified: within 3 tol_opt
TOLERANCE = 5e-3


def build(theta=THETA):
    m = pyo.ConcreteModel("entropic risk")
    m.x = pyo.Var(range(3), initialize=1 / 3)
    m.r = RandomParam(range(3), distribution=stats.multivariate_normal(MEAN, COVARIANCE))
    m.risk = pyo.Objective(expr=Entropic(-sum(m.r[j] * m.x[j] for j in range(3)), theta))
    m.budget = pyo.Constraint(expr=sum(m.x[j] for j in range(3)) == 1)
    return m


def closed_form(theta=THETA):
    """x and its risk."""
    ones = np.ones((1, 3))
    kkt = np.block([[theta * COVARIANCE, ones.T], [ones, np.zeros((1, 1))]])
    x = np.linalg.solve(kkt, np.append(MEAN, 1.0))[:3]
    return x, -MEAN @ x + theta / 2 * x @ COVARIANCE @ x


def answers(m, results):
    """What was found, beside the exact numbers."""
    x, risk = closed_form()
    pairs = {f"x[{j}]": (m.x[j].value, x[j]) for j in range(3)}
    pairs["risk"] = (results.certificate.objective, risk)
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
