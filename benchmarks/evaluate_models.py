"""The benchmark problems of ``evaluate.py``, as Pyomo models."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pyomo.environ as pyo
import scipy.sparse as sp

from pyomo_stochsqp import E, RandomParam, RandomSource

N = 5000


def logistic(sparse: bool) -> tuple[Any, dict[str, Any]]:
    """P1: logistic regression, n = 123, with 10 linear rows of random coefficients."""
    rng = np.random.default_rng(1)
    n, rows = 123, 10
    data = {
        "features": (rng.random((N, n)) < 14 / n) * rng.choice([1.0, 0.5], (N, n)),
        "labels": rng.choice([-1.0, 1.0], N),
        "table": rng.normal(size=(N, rows * n)),
        "rhs": rng.normal(size=(N, rows)),
    }
    if sparse:
        data["features"] = sp.csr_matrix(data["features"])
    m = pyo.ConcreteModel()
    source = RandomSource(name="people")
    m.x = pyo.Var(range(n), initialize=0.1)
    m.a = RandomParam(range(n), data=data["features"], source=source)
    m.y = RandomParam(data=data["labels"], source=source)
    m.A = RandomParam(range(rows), range(n), data=data["table"], source=source)
    m.b = RandomParam(range(rows), data=data["rhs"], source=source)
    margin = sum(m.a[j] * m.x[j] for j in range(n))
    m.obj = pyo.Objective(expr=E(pyo.log(1 + pyo.exp(-m.y * margin))))
    m.rows = pyo.Constraint(
        range(rows),
        rule=lambda m, i: E(sum(m.A[i, j] * m.x[j] for j in range(n)) - m.b[i]) == 0,
    )
    return m, data


def small() -> tuple[Any, dict[str, Any]]:
    """P2: a small nonlinear program, n = 5, m = 3."""
    data = {"w": np.random.default_rng(2).normal(0.2, 0.5, size=(N, 4))}
    return small_model(data["w"]), data


def small_model(table: Any) -> Any:
    """P2 on any table of four columns."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(5), initialize=0.5)
    m.w = RandomParam(range(4), data=table)
    x, w = m.x, m.w
    m.obj = pyo.Objective(
        expr=E(
            pyo.exp(w[0] * x[0])
            + (x[1] - w[1]) ** 2
            + pyo.log(1 + (w[2] * x[2]) ** 2)
            + w[3] * x[3] * x[4]
        )
        + 0.1 * (x[3] ** 2 + x[4] ** 2)
    )
    m.c1 = pyo.Constraint(expr=E(w[0] * x[0] + w[1] * x[1] ** 2) == 1)
    m.c2 = pyo.Constraint(expr=E(pyo.sin(w[2] * x[2]) * x[3] + w[3] * x[4]) == 0.5)
    m.c3 = pyo.Constraint(expr=x[0] * x[4] + x[1] ** 2 - x[3] == 1)
    return m


def sparse_rows() -> tuple[Any, dict[str, Any]]:
    """P3: n = 2000, m = 1000 nonlinear rows of 5 variables each."""
    rng = np.random.default_rng(3)
    n, rows = 2000, 1000
    data = {
        "p": rng.normal(0.0, 0.3, size=(N, rows)),
        "q": rng.normal(1.0, 0.3, size=(N, rows)),
        "d": rng.normal(size=(N, n)),
        "index": np.array([rng.choice(n, 5, replace=False) for _ in range(rows)]),
    }
    m = pyo.ConcreteModel()
    source = RandomSource(name="state")
    m.x = pyo.Var(range(n), initialize=0.1)
    m.p = RandomParam(range(rows), data=data["p"], source=source)
    m.q = RandomParam(range(rows), data=data["q"], source=source)
    m.d = RandomParam(range(n), data=data["d"], source=source)
    m.obj = pyo.Objective(expr=E(sum((m.x[j] - m.d[j]) ** 2 for j in range(n))))

    @m.Constraint(range(rows))
    def con(m: Any, i: int) -> Any:
        a, b, c, d, e = (m.x[int(j)] for j in data["index"][i])
        rooted = pyo.sqrt(1 + (d - m.p[i]) ** 2)
        return E(pyo.exp(m.p[i] * a) + m.q[i] * b * c + rooted + e**2) == 3

    return m, data


def small_blocks(count: int) -> tuple[Any, float]:
    """P2 as explicit scenario blocks, and the CPU seconds that Pyomo took to build them."""
    table = np.random.default_rng(2).normal(0.2, 0.5, size=(count, 4))
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(5), initialize=0.5)
    x = m.x

    def scenario(b: Any, s: int) -> None:
        w = table[s].tolist()
        b.cost = pyo.Expression(
            expr=pyo.exp(w[0] * x[0])
            + (x[1] - w[1]) ** 2
            + pyo.log(1 + (w[2] * x[2]) ** 2)
            + w[3] * x[3] * x[4]
        )
        b.first = pyo.Expression(expr=w[0] * x[0] + w[1] * x[1] ** 2)
        b.second = pyo.Expression(expr=pyo.sin(w[2] * x[2]) * x[3] + w[3] * x[4])

    start = time.process_time()
    m.scenario = pyo.Block(range(count), rule=scenario)
    seconds = time.process_time() - start
    m.obj = pyo.Objective(expr=E(m.scenario[:].cost) + 0.1 * (x[3] ** 2 + x[4] ** 2))
    m.c1 = pyo.Constraint(expr=E(m.scenario[:].first) == 1)
    m.c2 = pyo.Constraint(expr=E(m.scenario[:].second) == 0.5)
    return m, seconds


def logistic_blocks(count: int) -> tuple[Any, float]:
    """0/1 features and -1/+1 labels as explicit blocks, and the seconds to build them."""
    rng = np.random.default_rng(1)
    n = 123
    features = (rng.random((count, n)) < 14 / n) * 1.0
    labels = rng.choice([-1.0, 1.0], count)
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(n), initialize=0.1)

    def scenario(b: Any, s: int) -> None:
        margin = sum(features[s, j] * m.x[j] for j in np.flatnonzero(features[s]).tolist())
        b.cost = pyo.Expression(expr=pyo.log(1 + pyo.exp(-labels[s] * margin)))

    start = time.process_time()
    m.scenario = pyo.Block(range(count), rule=scenario)
    seconds = time.process_time() - start
    m.obj = pyo.Objective(expr=E(m.scenario[:].cost))
    return m, seconds
