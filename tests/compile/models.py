"""Models that exercise one feature each. Every function returns a model and batch makers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyomo.environ as pyo
import scipy.sparse as sp
import scipy.stats as st

from pyomo_stochsqp import E, RandomParam, RandomSource

N = 40


def _rng() -> np.random.Generator:
    return np.random.default_rng(7)


def logistic(sparse: bool = False, distributed: bool = False) -> Any:
    """Labels times features under log(1+exp), a scaled linear row, a product of data."""
    rng, n = _rng(), 9
    features = rng.normal(size=(N, n)) * (rng.random((N, n)) < 0.4)
    m = pyo.ConcreteModel()
    source = RandomSource(name="people")
    m.x = pyo.Var(range(n), initialize=0.1)
    data = sp.csr_matrix(features) if sparse else features
    m.a = RandomParam(range(n), data=data, source=source)
    m.y = RandomParam(data=rng.choice([-1.0, 1.0], N), source=source)
    m.z = RandomParam(range(3), data=rng.random((N, 3)), source=source)
    if distributed:
        margin = sum(-m.y * m.a[j] * m.x[j] for j in range(n))
    else:
        margin = -m.y * sum(m.a[j] * m.x[j] for j in range(n))
    m.obj = pyo.Objective(expr=E(pyo.log(1 + pyo.exp(margin))))
    m.fair = pyo.Constraint(
        range(3),
        rule=lambda m, k: E(m.z[k] * sum(m.a[j] * m.x[j] for j in range(n)) + m.z[k] - m.x[0]) == 0,
    )
    m.mean = pyo.Constraint(expr=E(sum((j + 1) * m.a[j] * m.x[j] for j in range(n)) - m.y) <= 1)
    return m


def sparse_logistic() -> Any:
    return logistic(sparse=True)


def distributed_logistic() -> Any:
    return logistic(distributed=True)


def groups() -> Any:
    """Many rows of one structure, shared and own data columns, long and short affine parts."""
    rng, n, rows = _rng(), 12, 6
    m = pyo.ConcreteModel()
    source = RandomSource(name="state")
    m.x = pyo.Var(range(n), initialize=0.2)
    m.w = RandomParam(range(n), data=rng.normal(size=(N, n)), source=source)
    m.v = RandomParam(range(rows), data=rng.normal(size=(N, rows)), source=source)
    m.p = pyo.Param(range(rows), mutable=True, initialize=lambda m, i: 0.3 * i + 0.1)
    m.obj = pyo.Objective(
        expr=E(sum((m.x[j] - m.w[j]) ** 2 for j in range(n)))
        + sum(0.1 * (j + 1) * m.x[j] ** 4 for j in range(n)),
        sense=pyo.maximize,
    )

    @m.Constraint(range(rows))
    def tanh_row(m: Any, i: int) -> Any:
        inner = sum(m.w[j] * m.x[(i + j) % n] for j in range(n - 2))
        return E(m.v[i] * pyo.atan(inner)) + m.p[i] * m.x[i] == 0

    @m.Constraint(range(rows))
    def own_columns(m: Any, i: int) -> Any:
        inner = sum((j + 1) * m.w[(i + j) % n] * m.x[j] for j in range(7 + i % 3))
        return E(pyo.sin(inner) * m.x[i]) <= 3

    @m.Constraint(range(rows))
    def constant_inner(m: Any, i: int) -> Any:
        inner = sum((0.1 + 0.01 * i * j) * m.x[j] for j in range(8))
        return E(m.v[i] * pyo.exp(inner) + m.v[0] * inner**2) + pyo.exp(-inner) >= -9

    @m.Constraint(range(rows))
    def shared_inner(m: Any, i: int) -> Any:
        inner = sum(m.w[j] * m.x[j] for j in range(n))
        return E(pyo.exp(0.1 * m.x[i] * inner) * m.x[(i + 1) % n]) == 1

    return m


def scenarios() -> Any:
    """Explicit blocks with 0/1 data, -1 labels, several structures, mutable Params, weights."""
    rng, n = _rng(), 8
    A = (rng.random((N, n)) < 0.3) * 1.0
    y = rng.choice([-1.0, 1.0], N)
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(n), initialize=0.1)
    m.p = pyo.Param(range(N), mutable=True, initialize=lambda m, s: np.sin(s))
    m.k = pyo.Param(mutable=True, initialize=1.5)

    @m.Block(range(N))
    def s(b: Any, s: int) -> None:
        b.z = pyo.Expression(expr=sum(float(A[s, j]) * m.x[j] for j in range(n)) + 0.5)
        b.cost = pyo.Expression(expr=pyo.log(1 + pyo.exp(-float(y[s]) * b.z)) + b.z**2)
        b.r = pyo.Expression(
            [0, 1],
            rule=lambda b, i: (
                m.k * (float(s % 2) * m.x[i] - m.p[s]) ** 2
                + (pyo.exp(m.x[2]) if s % 5 == 0 else 0.0)
                + m.x[3] * m.x[4] / (2 + m.x[5] ** 2)
            ),
        )

    m.obj = pyo.Objective(expr=E(m.s[:].cost) + m.x[0] ** 2)
    weights = {s: float(w) for s, w in enumerate(rng.dirichlet(np.ones(N)))}
    m.c = pyo.Constraint([0, 1], rule=lambda m, i: 2 * E(m.s[:].r[i], weights=weights) == 1)
    m.mixed = pyo.Constraint(expr=m.x[1] * E(m.s[:].z) <= 4)
    return m


def recourse() -> Any:
    """Every scenario has its own variables; there are too many for a column each."""
    rng, size = _rng(), 150
    W = rng.normal(size=(size, 3))
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(3), initialize=0.3)
    m.q = pyo.Param(range(size), mutable=True, initialize=lambda m, s: 1.0 + 0.01 * s)

    @m.Block(range(size))
    def s(b: Any, s: int) -> None:
        b.y = pyo.Var(range(2), initialize=0.2)
        w = W[s].tolist()
        b.cost = pyo.Expression(expr=m.q[s] * b.y[0] + b.y[1] ** 2 + w[0] * m.x[0] * b.y[0])
        b.need = pyo.Expression(expr=pyo.exp(w[1] * b.y[1] + m.x[1]) + b.y[0] - w[2])
        b.con = pyo.Constraint(expr=b.y[0] + b.y[1] ** 2 >= w[2] * m.x[0] + w[1])

    m.obj = pyo.Objective(expr=E(m.s[:].cost))
    m.need = pyo.Constraint(expr=E(m.s[:].need) <= 4)
    return m


def several_sources() -> Any:
    """A table, a distribution, and a product of two tables, in the same rows."""
    rng = _rng()
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(4), initialize=0.4)
    m.a = RandomParam(range(2), data=rng.normal(size=(N, 2)))
    m.b = RandomParam(range(2), distribution=st.norm(1.0, 0.2))
    m.c = RandomParam(data=rng.normal(size=5), weights=[0.1, 0.2, 0.3, 0.2, 0.2])
    m.d = RandomParam(range(2), data=rng.normal(size=(6, 2)))
    x = m.x
    m.obj = pyo.Objective(expr=E(pyo.exp(m.a[0] * x[0])) + E(m.b[0] * x[1] ** 2) + x[2] ** 2)
    m.mix = pyo.Constraint(expr=E(m.c * m.d[0] * x[0] + pyo.sin(m.c * x[1] + m.d[1])) == 0)
    m.sum = pyo.Constraint(expr=E(m.a[1] * x[3] - m.b[1] * x[0]) + x[3] <= 2)
    return m


def finite_sources() -> Any:
    """Two finite sources, one of them a product with weights."""
    rng = _rng()
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(3), initialize=0.4)
    m.a = RandomParam(range(2), data=rng.normal(size=(N, 2)))
    m.c = RandomParam(data=rng.normal(size=5), weights=[0.1, 0.2, 0.3, 0.2, 0.2])
    m.d = RandomParam(data=rng.normal(size=7))
    m.obj = pyo.Objective(expr=E((m.a[0] - m.x[0]) ** 2) + E(m.c * m.d * m.x[1] ** 2))
    m.con = pyo.Constraint(expr=E(pyo.exp(m.c * m.x[1] + m.d * m.x[2])) + m.x[0] == 1)
    return m


def exact_only() -> Any:
    """No randomness at all."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(6), initialize=lambda m, j: 0.3 + 0.1 * j)
    m.fixed = pyo.Var(initialize=2.0)
    m.fixed.fix()
    m.p = pyo.Param(initialize=3.0, mutable=True)
    x = m.x
    m.obj = pyo.Objective(expr=pyo.log(x[0]) * x[1] ** m.p + m.fixed * x[2] - x[3] / x[4])
    m.lin = pyo.Constraint(expr=m.p * x[0] + m.fixed * x[1] - x[2] + m.p == 4)
    m.non = pyo.Constraint(range(5), rule=lambda m, i: x[i] * x[i + 1] - pyo.sqrt(x[i]) == i)
    m.one = pyo.Constraint(expr=x[5] ** m.fixed + m.p ** x[5] <= 8)
    return m


def narrow() -> Any:
    """A few columns of a wide table, of integers."""
    rng = _rng()
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(3), initialize=0.4)
    m.w = RandomParam(range(40), data=rng.integers(-3, 4, size=(N, 40)))
    m.obj = pyo.Objective(expr=E(pyo.cos(m.w[31] * m.x[0]) + m.w[7] * m.x[1] ** 2))
    m.con = pyo.Constraint(expr=E(m.w[2] * m.x[2] + abs(m.w[3]) * m.x[0] ** 2) == 1)
    return m


def inner_sums() -> Any:
    """Sums of many equal terms inside nonlinear expressions: norms, forms, a hidden layer."""
    rng, n = _rng(), 9
    C = np.cov(rng.normal(size=(n, 40)))
    m = pyo.ConcreteModel()
    source = RandomSource(name="state")
    m.x = pyo.Var(range(n), initialize=0.2)
    m.y = pyo.Var(range(8), range(8), initialize=0.2)
    m.w = RandomParam(range(n), data=rng.normal(size=(N, n)), source=source)
    m.v = RandomParam(range(5), data=rng.normal(size=(N, 5)), source=source)
    m.p = pyo.Param(range(n), mutable=True, initialize=lambda m, j: 1.0 + 0.1 * j)
    m.u = pyo.Expression(expr=sum(m.p[j] * m.x[j] ** 2 for j in range(n)))
    x, w, v = m.x, m.w, m.v
    layer = sum(x[k] * pyo.atan(sum(w[j] * m.y[k, j] for j in range(8))) for k in range(8))
    m.obj = pyo.Objective(
        expr=E(pyo.sqrt(1 + sum((w[j] * x[j]) ** 2 for j in range(n))) + (layer - v[0]) ** 2)
        + pyo.sqrt(sum(C[i, j] * x[i] * x[j] for i in range(n) for j in range(n)))
    )
    # the same sum in every row, with and without data
    m.shared = pyo.Constraint(range(5), rule=lambda m, i: pyo.exp(0.1 * m.u) * x[i] + m.u == 1)
    m.random = pyo.Constraint(
        range(5),
        rule=lambda m, i: E(v[i] * pyo.exp(0.1 * sum((x[j] - w[j]) ** 2 for j in range(n)))) <= 9,
    )
    # a sum of its own in every row
    m.own = pyo.Constraint(
        range(5),
        rule=lambda m, i: pyo.sqrt(1 + sum((x[j] - 0.1 * i) ** 2 for j in range(n - i % 2))) <= 9,
    )
    m.own_random = pyo.Constraint(
        range(5),
        rule=lambda m, i: (
            E(
                v[i]
                * pyo.log(2 + sum((0.1 * (i + 1) * x[j] - w[(i + j) % n]) ** 2 for j in range(n)))
            )
            <= 9
        ),
    )
    m.layers = pyo.Constraint(
        range(4),
        rule=lambda m, i: (
            E(
                pyo.cos(
                    sum(v[i] * pyo.sin(sum(w[j] * m.y[k, j] for j in range(8))) for k in range(8))
                )
            )
            <= 9
        ),
    )
    m.data = pyo.Constraint(expr=E(x[0] * pyo.sqrt(1 + sum(w[j] ** 2 for j in range(n)))) <= 9)
    return m


ALL: list[Callable[[], Any]] = [
    logistic,
    sparse_logistic,
    distributed_logistic,
    groups,
    scenarios,
    recourse,
    several_sources,
    finite_sources,
    exact_only,
    narrow,
    inner_sums,
]
