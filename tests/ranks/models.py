"""Five models: data, a distribution with inequalities, a formula, a sampler, explicit scenarios."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo
from scipy import stats

from pyomo_stochsqp import E, RandomParam, RandomSource, Recourse, Std


def logistic(rows: int = 20_000) -> Any:
    """min E[log(1 + exp(-v a'x))] + |x|^2 / 1000 s.t. sum x = 1."""
    rng = np.random.default_rng(5)
    a = rng.normal(size=(rows, 4))
    v = np.where(rng.random(rows) < 1 / (1 + np.exp(-a @ [1.0, -1.0, 0.5, 0.0])), 1.0, -1.0)
    m = pyo.ConcreteModel("logistic")
    m.x = pyo.Var(range(4), initialize=0.0)
    patients = RandomSource("patients")
    m.a = RandomParam(range(4), data=a, source=patients)
    m.v = RandomParam(data=v, source=patients)
    loss = pyo.log(1 + pyo.exp(-m.v * sum(m.a[j] * m.x[j] for j in range(4))))
    m.loss = pyo.Objective(expr=E(loss) + 1e-3 * sum(m.x[j] ** 2 for j in range(4)))
    m.total = pyo.Constraint(expr=sum(m.x[j] for j in range(4)) == 1)
    return m


def portfolio() -> Any:
    """Inequalities under expectations of two sources."""
    m = pyo.ConcreteModel("portfolio")
    m.x = pyo.Var(range(3), bounds=(0, 1), initialize=1 / 3)
    m.r = RandomParam(range(3), distribution=[stats.norm(0.1 * j, 0.1 + 0.2 * j) for j in range(3)])
    m.c = RandomParam(distribution=stats.expon(0.0, 0.1))
    gain = sum(m.r[j] * m.x[j] for j in range(3))
    m.utility = pyo.Objective(expr=E(pyo.exp(-gain)))
    m.risk = pyo.Constraint(expr=E(gain**2) <= 0.1)
    m.cost = pyo.Constraint(expr=E(m.c * m.x[2] ** 2) <= 0.05)
    m.budget = pyo.Constraint(expr=sum(m.x[j] for j in range(3)) == 1)
    return m


def spread() -> Any:
    """A formula of expectations: a standard deviation."""
    m = pyo.ConcreteModel("spread")
    m.x = pyo.Var(range(2), bounds=(-5, 5), initialize=0.5)
    m.w = RandomParam(range(2), distribution=[stats.norm(1, 1), stats.norm(2, 3)])
    m.risk = pyo.Objective(expr=Std(m.w[0] * m.x[0] + m.w[1] * m.x[1] ** 2))
    m.mean = pyo.Constraint(expr=E(m.w[0] * m.x[0] + m.w[1] * m.x[1]) >= 1)
    return m


def newsvendor() -> Any:
    """A user's sampler."""

    def demand(rng: np.random.Generator, size: int) -> np.ndarray:
        return rng.gamma(4.0, 25.0, (size, 1))

    m = pyo.ConcreteModel("newsvendor")
    m.q = pyo.Var(bounds=(0, None), initialize=50.0)
    m.d = RandomParam(sampler=demand)
    m.cost = pyo.Objective(expr=E(0.01 * (m.q - m.d) ** 2 + pyo.exp(0.01 * (m.d - m.q))))
    return m


def blocks(count: int = 40) -> Any:
    """Explicit scenarios."""
    m = pyo.ConcreteModel("blocks")
    m.x = pyo.Var(range(2), initialize=1.0)
    m.s = pyo.Block(range(count))
    for i in range(count):
        m.s[i].cost = pyo.Expression(expr=(m.x[0] - i / count) ** 2 + pyo.exp(m.x[1] * i / count))
    m.total = pyo.Objective(expr=E(m.s[:].cost))
    m.row = pyo.Constraint(expr=m.x[0] + m.x[1] >= 0.1)
    return m


def stocked() -> Any:
    """Two stages: what is short is bought when demand is known."""
    m = pyo.ConcreteModel("stocked")
    m.stock = pyo.Var(bounds=(0, 200))
    m.demand = RandomParam(distribution=stats.uniform(50, 100))
    m.second = Recourse()
    m.second.short = pyo.Var(bounds=(0, None))
    m.second.meet = pyo.Constraint(expr=m.stock + m.second.short >= m.demand)
    m.cost = pyo.Objective(expr=m.stock + 4 * E(m.second.short))
    return m


MODELS = {f.__name__: f for f in (logistic, portfolio, spread, newsvendor, blocks)}
