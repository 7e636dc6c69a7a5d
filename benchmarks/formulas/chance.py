r"""Chance constraints with known answers, from feasible and from infeasible starts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pyomo.environ as pyo
from scipy import optimize, stats

from pyomo_stochsqp import E, Probability, RandomParam


class Chance(NamedTuple):
    """A model, its starts, the exact x and the true probability of the event at any x."""

    build: Callable[[float], Any]
    starts: tuple[float, ...]
    x: np.ndarray
    probability: Callable[[np.ndarray], float]
    level: float


def capacity() -> Chance:
    """The least capacity that meets a normal demand in 95 of 100 scenarios."""
    law = stats.norm(50, 10)

    def build(start: float) -> Any:
        m = pyo.ConcreteModel("capacity")
        m.x = pyo.Var([0], initialize=start, bounds=(0, None))
        m.demand = RandomParam(distribution=law)
        m.obj = pyo.Objective(expr=m.x[0])
        m.chance = pyo.Constraint(expr=Probability(m.demand <= m.x[0]) >= 0.95)
        return m

    return Chance(
        build, (100.0, 66.0, 20.0, 0.0), np.array([law.ppf(0.95)]), lambda x: law.cdf(x[0]), 0.95
    )


def dosage() -> Chance:
    """The largest x with x (2 - w) <= 3 in 95 of 100 scenarios, w lognormal."""
    law = stats.lognorm(0.5)
    x = 3 / (2 - law.ppf(0.05))

    def build(start: float) -> Any:
        m = pyo.ConcreteModel("dosage")
        m.x = pyo.Var([0], initialize=start, bounds=(0, 10))
        m.w = RandomParam(distribution=law)
        m.obj = pyo.Objective(expr=m.x[0], sense=pyo.maximize)
        m.chance = pyo.Constraint(expr=Probability(m.x[0] * (2 - m.w) <= 3) >= 0.95)
        return m

    return Chance(build, (0.5, 2.0, 9.0), np.array([x]), lambda v: 1 - law.cdf(2 - 3 / v[0]), 0.95)


def portfolio() -> Chance:
    """The largest mean return that is not below -0.05 in 90 of 100 scenarios, three assets."""
    mean = np.array([0.06, 0.10, 0.16])
    covariance = np.diag([0.05, 0.12, 0.2]) @ np.array(
        [[1, 0.3, 0.1], [0.3, 1, 0.4], [0.1, 0.4, 1]]
    ) @ np.diag([0.05, 0.12, 0.2])  # fmt: skip
    z = stats.norm.ppf(0.9)

    def probability(x: np.ndarray) -> float:
        return float(stats.norm.cdf((mean @ x + 0.05) / np.sqrt(x @ covariance @ x)))

    found = optimize.minimize(
        lambda x: -mean @ x, np.full(3, 1 / 3), method="SLSQP", bounds=[(0, 1)] * 3,
        constraints=[
            {"type": "eq", "fun": lambda x: x.sum() - 1},
            {"type": "ineq", "fun": lambda x: mean @ x + 0.05 - z * np.sqrt(x @ covariance @ x)},
        ],
        options={"ftol": 1e-14, "maxiter": 500},
    )  # fmt: skip

    def build(start: float) -> Any:
        m = pyo.ConcreteModel("portfolio")
        m.x = pyo.Var(range(3), initialize=start, bounds=(0, 1))
        m.r = RandomParam(range(3), distribution=stats.multivariate_normal(mean, covariance))
        p = sum(m.r[i] * m.x[i] for i in range(3))
        m.obj = pyo.Objective(expr=E(p), sense=pyo.maximize)
        m.all = pyo.Constraint(expr=sum(m.x[i] for i in range(3)) == 1)
        m.chance = pyo.Constraint(expr=Probability(p >= -0.05) >= 0.9)
        return m

    return Chance(build, (1 / 3, 1.0), found.x, probability, 0.9)


MODELS = {"capacity": capacity, "dosage": dosage, "portfolio": portfolio}
