"""A portfolio from a table of returns: the least variance for a required mean return.

    minimise E[(r'x - target)^2]   subject to   E[r'x] = target,   sum(x) = 1

Each row of the table is one day, each column one asset. With the sample mean and covariance of the
table, the optimality conditions are a linear system: that is the exact answer to compare with.
"""

import numpy as np
import pyomo.environ as pyo

import pyomo_stochsqp
from pyomo_stochsqp import E, RandomParam

ASSETS = ["bonds", "energy", "health", "metals"]
TARGET = 0.6

#: finite data: no sampling error
TOLERANCE = 1e-6


def daily_returns(days=2000):
    rng = np.random.default_rng(4)
    mean = np.array([0.2, 0.8, 0.6, 1.0])
    factor = np.array([[0.3, 0, 0, 0], [0.1, 1.0, 0, 0], [0.2, 0.3, 0.8, 0], [0.0, 0.6, 0.2, 1.5]])
    return mean + rng.normal(size=(days, 4)) @ factor.T


def build():
    returns = daily_returns()
    m = pyo.ConcreteModel("portfolio")
    m.A = pyo.Set(initialize=ASSETS)
    m.x = pyo.Var(m.A, initialize=0.25)
    m.r = RandomParam(m.A, data=returns)
    m.gain = pyo.Expression(expr=sum(m.r[a] * m.x[a] for a in m.A))
    m.risk = pyo.Objective(expr=E((m.gain - TARGET) ** 2))
    m.mean = pyo.Constraint(expr=E(m.gain) == TARGET)
    m.invested = pyo.Constraint(expr=sum(m.x[a] for a in m.A) == 1)
    return m


def exact_portfolio(returns):
    mean, covariance = returns.mean(axis=0), np.cov(returns.T, bias=True)
    rows = np.vstack([mean, np.ones(4)])
    kkt = np.block([[2 * covariance, rows.T], [rows, np.zeros((2, 2))]])
    return np.linalg.solve(kkt, np.array([0, 0, 0, 0, TARGET, 1.0]))[:4]


def answers(m, results):
    """What was found, beside the exact numbers."""
    exact = exact_portfolio(daily_returns())
    return {a: (m.x[a].value, x) for a, x in zip(ASSETS, exact, strict=True)}


def main():
    m = build()
    results = pyo.SolverFactory("stochsqp").solve(m, seed=1)
    pairs = answers(m, results)
    print(f"{'':8s}  {'found':>8s}  {'exact':>8s}")
    for asset, (found, exact) in pairs.items():
        print(f"{asset:8s}  {found:8.4f}  {exact:8.4f}")
    print(pyomo_stochsqp.evaluate(m))
    return pairs


if __name__ == "__main__":
    main()
