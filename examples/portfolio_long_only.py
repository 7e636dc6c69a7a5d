"""Portfolio with an expected return of at least t and no short sales: an expectation inequality.

    minimise E[(r'x - t)^2]   subject to   E[r'x] >= t,   1'x = 1,   x >= 0,   r ~ N(mu, S)

The objective is x'Sx + (mu'x - t)^2. Where the target is active the second term and its gradient
vanish, so the answer is the portfolio of least variance among those with expected return t or more.
It is found exactly by trying every set of assets that may be held: for each, the equalities are one
linear system. Here the safest asset is not held.
"""

from itertools import combinations

import numpy as np
import pyomo.environ as pyo
from scipy import stats

from pyomo_stochsqp import E, RandomParam

TARGET = 0.15
MEAN = np.array([0.06, 0.10, 0.14, 0.20])
DEVIATION = np.array([0.05, 0.12, 0.18, 0.30])
CORRELATION = np.array(
    [
        [1.0, 0.3, 0.2, 0.1],
        [0.3, 1.0, 0.5, 0.3],
        [0.2, 0.5, 1.0, 0.4],
        [0.1, 0.3, 0.4, 1.0],
    ]
)
COVARIANCE = CORRELATION * np.outer(DEVIATION, DEVIATION)

#: certified: within 3 tol_opt
TOLERANCE = 3e-3


def build():
    m = pyo.ConcreteModel("long-only portfolio")
    m.A = pyo.RangeSet(0, len(MEAN) - 1)
    m.x = pyo.Var(m.A, initialize=1.0 / len(MEAN), bounds=(0.0, None))
    m.r = RandomParam(m.A, distribution=stats.multivariate_normal(MEAN, COVARIANCE))
    portfolio = sum(m.r[a] * m.x[a] for a in m.A)
    m.risk = pyo.Objective(expr=E((portfolio - TARGET) ** 2))
    m.target = pyo.Constraint(expr=E(portfolio) >= TARGET)
    m.budget = pyo.Constraint(expr=sum(m.x[a] for a in m.A) == 1.0)
    m.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    return m


def closed_form():
    """The least-variance portfolio with return t, over all sets of assets that are held."""
    candidates = []
    n = len(MEAN)
    for size in range(2, n + 1):
        for held in map(list, combinations(range(n), size)):
            rows = np.vstack([MEAN[held], np.ones(size)])
            hessian = 2.0 * COVARIANCE[np.ix_(held, held)]
            kkt = np.block([[hessian, rows.T], [rows, np.zeros((2, 2))]])
            part = np.linalg.solve(kkt, np.concatenate([np.zeros(size), [TARGET, 1.0]]))[:size]
            x = np.zeros(n)
            x[held] = part
            if part.min() >= 0.0:
                candidates.append(x)
    return min(candidates, key=lambda x: x @ COVARIANCE @ x)


def answers(m, results):
    """What was found, beside the exact numbers."""
    x = closed_form()
    pairs = {f"x[{a}]": (m.x[a].value, x[a]) for a in m.A}
    pairs["variance"] = (results.certificate.objective, x @ COVARIANCE @ x)
    return pairs


def main():
    m = build()
    results = pyo.SolverFactory("stochsqp").solve(m, seed=1)
    pairs = answers(m, results)
    for name, (found, exact) in pairs.items():
        print(f"{name:9} found {found:9.6f}   exact {exact:9.6f}")
    return pairs


if __name__ == "__main__":
    main()
