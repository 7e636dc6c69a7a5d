"""Small models with known answers."""

from __future__ import annotations

import math

import numpy as np
import pyomo.environ as pyo
from scipy import stats

from pyomo_stochsqp import E, RandomParam

#: limits end most runs of these tests: their results are wanted, not an exception
WHATEVER_THE_END = {"raise_exception_on_nonoptimal_result": False}

TILT_X = math.sqrt(3.0) - 1.0
TILT_DUAL = 2.0 * TILT_X / (math.e * math.sqrt(3.0))


def tilting():
    """min x^2 s.t. E[exp(x w)] = e, w ~ N(1, 1): a distribution."""
    m = pyo.ConcreteModel("tilting")
    m.x = pyo.Var(initialize=0.5)
    m.w = RandomParam(distribution=stats.norm(1, 1))
    m.cost = pyo.Objective(expr=m.x**2)
    m.tilt = pyo.Constraint(expr=E(pyo.exp(m.x * m.w)) == math.e)
    m.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    m.rc = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    return m


def regression(rows=200):
    """min E[(w'x - v)^2] s.t. x_0 + x_1 + x_2 = p: finite data, a quadratic, a mutable Param."""
    rng = np.random.default_rng(3)
    table = rng.standard_normal((rows, 4))
    m = pyo.ConcreteModel("regression")
    m.x = pyo.Var(range(3), initialize=0.0)
    m.p = pyo.Param(initialize=1.0, mutable=True)
    m.w = RandomParam(range(4), data=table)
    m.fit = pyo.Objective(expr=E((sum(m.w[j] * m.x[j] for j in range(3)) - m.w[3]) ** 2))
    m.total = pyo.Constraint(expr=sum(m.x[j] for j in range(3)) == m.p)
    m.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    return m


def regression_answer(m):
    """(x, Pyomo's dual) from the normal equations."""
    table = np.array([[m.w.origin.matrix[i, j] for j in range(4)] for i in range(200)])
    W, v = table[:, :3], table[:, 3]
    K = np.block([[2 * W.T @ W / 200, np.ones((3, 1))], [np.ones((1, 3)), np.zeros((1, 1))]])
    solution = np.linalg.solve(K, np.append(2 * W.T @ v / 200, pyo.value(m.p)))
    return solution[:3], -solution[3]


def circle(sense=pyo.minimize):
    """+-(x + 2 y) on the circle x^2 + y^2 = 5: no randomness."""
    m = pyo.ConcreteModel("circle")
    m.x = pyo.Var(initialize=-0.5)
    m.y = pyo.Var(initialize=-1.5)
    sign = 1.0 if sense == pyo.minimize else -1.0
    m.obj = pyo.Objective(expr=sign * (m.x + 2 * m.y), sense=sense)
    m.on = pyo.Constraint(expr=m.x**2 + m.y**2 == 5)
    m.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    return m


def service(rows=None):
    """min E[c'x] s.t. E[w_j x_j] >= 1, x >= 0, sum x <= 5: inequalities, bounds, two sources."""
    m = pyo.ConcreteModel("service")
    m.x = pyo.Var(range(4), bounds=(0, 3), initialize=1.5)
    if rows is None:
        m.w = RandomParam(range(4), distribution=stats.uniform(0.5, 1.0))
        m.c = RandomParam(range(4), distribution=stats.norm(2.0, 0.5))
    else:
        rng = np.random.default_rng(7)
        m.w = RandomParam(range(4), data=0.5 + rng.random((rows, 4)))
        m.c = RandomParam(range(4), data=2.0 + 0.5 * rng.standard_normal((rows, 4)))
    m.cost = pyo.Objective(expr=E(sum((j + 1) * m.c[j] * m.x[j] ** 2 for j in range(4))))
    m.serve = pyo.Constraint([0, 1], rule=lambda m, j: E(m.w[j] * m.x[j] * m.x[j + 2]) >= 1)
    m.limit = pyo.Constraint(expr=sum(m.x[j] for j in range(4)) <= 5)
    m.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    m.rc = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    return m
