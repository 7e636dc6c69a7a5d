"""Mean-variance portfolio with an expected-return target, both seen only through samples.

    minimise E[(r'x - t)^2]   subject to   E[r'x] = t,   1'x = 1,   r ~ N(mu, S)

Where E[r'x] = t holds, the objective is the variance x'Sx. The answer solves one linear system,

    [ 2S  mu  1 ] [x ]   [0]
    [ mu' 0   0 ] [y1] = [t]
    [ 1'  0   0 ] [y2]   [1]

Short sales (negative x) are allowed here; portfolio_long_only.py forbids them.
"""

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

#: certified: within 3 tol_opt, beside a multiplier of size 1
TOLERANCE = 5e-3


def build():
    m = pyo.ConcreteModel("Markowitz")
    m.A = pyo.RangeSet(0, len(MEAN) - 1)
    m.x = pyo.Var(m.A, initialize=1.0 / len(MEAN))
    m.r = RandomParam(m.A, distribution=stats.multivariate_normal(MEAN, COVARIANCE))
    portfolio = sum(m.r[a] * m.x[a] for a in m.A)
    m.risk = pyo.Objective(expr=E((portfolio - TARGET) ** 2))
    m.target = pyo.Constraint(expr=E(portfolio) == TARGET)
    m.budget = pyo.Constraint(expr=sum(m.x[a] for a in m.A) == 1.0)
    m.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    return m


def closed_form():
    """x, and the duals of the two constraints with Pyomo's sign."""
    n = len(MEAN)
    rows = np.vstack([MEAN, np.ones(n)])
    kkt = np.block([[2.0 * COVARIANCE, rows.T], [rows, np.zeros((2, 2))]])
    solution = np.linalg.solve(kkt, np.concatenate([np.zeros(n), [TARGET, 1.0]]))
    return solution[:n], -solution[n:]


def answers(m, results):
    """What was found, beside the exact numbers."""
    x, duals = closed_form()
    pairs = {f"x[{a}]": (m.x[a].value, x[a]) for a in m.A}
    pairs["variance"] = (results.certificate.objective, x @ COVARIANCE @ x)
    pairs["dual of target"] = (m.dual[m.target], duals[0])
    return pairs


def main():
    m = build()
    results = pyo.SolverFactory("stochsqp").solve(m, seed=1)
    pairs = answers(m, results)
    for name, (found, exact) in pairs.items():
        print(f"{name:14} found {found:10.6f}   exact {exact:10.6f}")
    return pairs


if __name__ == "__main__":
    main()
