r"""Small models whose runs are disturbed, and how runs are compared."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pyomo.environ as pyo
import scipy.stats as st
from pyomo.contrib.solver.common.factory import SolverFactory

from pyomo_stochsqp import CVaR, E, RandomParam

ROWS = np.random.default_rng(7).normal(size=(6000, 3))


def tilting() -> Any:
    """A distribution and an expectation constraint: stages."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=0.5)
    m.w = RandomParam(distribution=st.norm(1, 1))
    m.cost = pyo.Objective(expr=m.x**2)
    m.tilt = pyo.Constraint(expr=E(pyo.exp(m.x * m.w)) == math.e)
    return m


def table() -> Any:
    """Finite data: samples that end with all rows."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(3), initialize=0.2, bounds=(-3, 3))
    m.w = RandomParam(range(3), data=ROWS)
    utility = sum(pyo.exp(-m.w[j] * m.x[j]) for j in range(3))
    m.cost = pyo.Objective(expr=E(utility) + sum((m.x[j] - 0.3 * j) ** 4 for j in range(3)))
    m.row = pyo.Constraint(expr=E(sum((m.w[j] + m.x[j]) ** 2 for j in range(3))) <= 3.2)
    return m


def sampler() -> Any:
    """A user's sampler, independent draws."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var([0, 1], initialize=1.0, bounds=(0, 9))
    m.w = RandomParam([0, 1], sampler=lambda rng, n: rng.gamma(2.0, size=(n, 2)))
    m.cost = pyo.Objective(expr=E((m.x[0] - m.w[0]) ** 2 + pyo.exp(0.2 * m.x[1] * m.w[1])))
    m.row = pyo.Constraint(expr=m.x[0] + E(m.w[0] * m.x[1]) >= 3.0)
    return m


def risk() -> Any:
    """A quantile inside a formula: numbers that are eliminated, kinks that are rounded off."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var([0, 1], initialize=0.5, bounds=(0, 1))
    m.w = RandomParam([0, 1], distribution=[st.norm(1, 1), st.norm(1.2, 2)])
    loss = -(m.x[0] * m.w[0] + m.x[1] * m.w[1])
    m.cost = pyo.Objective(expr=CVaR(loss, 0.9) + m.x[0] ** 2)
    m.all = pyo.Constraint(expr=m.x[0] + m.x[1] == 1)
    return m


MODELS: dict[str, Callable[[], Any]] = {
    "tilting": tilting,
    "table": table,
    "sampler": sampler,
    "risk": risk,
}


def solved(m: Any, **options: Any) -> Any:
    """The results, whatever the end."""
    solver = SolverFactory("stochsqp")
    solver.config.raise_exception_on_nonoptimal_result = False
    given = {} if options.get("resume") is not None else {"seed": 4}
    return solver.solve(m, **{**given, **options})


def bits(results: Any) -> dict[str, bytes]:
    """What is compared: history, certificates, point and multipliers."""
    found = results.certificate
    x = np.array(list(results.solution_loader.get_vars().values()))
    return {
        "history": results.history.table.tobytes(),
        "certificates": results.certificates.table.tobytes(),
        "x": x.tobytes(),
        "certified": str(found).encode(),
    }


def same(one: Any, two: Any) -> bool:
    """Whether two runs are the same, bit for bit."""
    return bits(one) == bits(two)
