r"""Random models of twenty kinds. ``KINDS[kind](rng)`` builds one.

The kinds are those that ordinary models are made of, and those that nonlinear solvers fail on:
variables in different units, rows that depend on each other, flat objectives, complementarity.
Starts are as users give them: anywhere within the bounds, or nothing but zeros.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyomo.environ as pyo

Builder = Callable[[np.random.Generator], Any]
KINDS: dict[str, Builder] = {}


def kind(build: Builder) -> Builder:
    """Register a kind under its function's name."""
    KINDS[build.__name__] = build
    return build


def blank(n: int, start: Any = 0.0, lower: Any = None, upper: Any = None) -> Any:
    """A model with n variables."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(n))
    for j in range(n):
        m.x[j].set_value(float(np.broadcast_to(start, n)[j]))
        if lower is not None:
            m.x[j].setlb(float(np.broadcast_to(lower, n)[j]))
        if upper is not None:
            m.x[j].setub(float(np.broadcast_to(upper, n)[j]))
    m.rows = pyo.ConstraintList()
    return m


def linear(a: Any, x: Any) -> Any:
    return sum(float(a[j]) * x[j] for j in range(len(a)))


def definite(rng: np.random.Generator, n: int, condition: float = 100.0) -> np.ndarray:
    Q, _ = np.linalg.qr(rng.standard_normal((n, n)))
    return (Q * np.geomspace(1.0, condition, n)) @ Q.T


def quadratic(Q: np.ndarray, x: Any) -> Any:
    n = len(Q)
    return sum(float(Q[i, j]) * x[i] * x[j] for i in range(n) for j in range(n))


@kind
def convex_qp(rng: np.random.Generator) -> Any:
    n = int(rng.integers(2, 16))
    m = blank(n, rng.standard_normal(n), -2.0, 2.0)
    inside = rng.uniform(-1, 1, n)
    m.obj = pyo.Objective(
        expr=0.5 * quadratic(definite(rng, n), m.x) + linear(10 * rng.standard_normal(n), m.x)
    )
    for _ in range(n // 2):
        a = rng.standard_normal(n)
        m.rows.add(linear(a, m.x) <= float(a @ inside))
    return m


@kind
def nonconvex_qp(rng: np.random.Generator) -> Any:
    n = int(rng.integers(2, 12))
    A = rng.standard_normal((n, n))
    m = blank(n, rng.uniform(-1, 1, n), -1.0, 1.0)
    m.obj = pyo.Objective(expr=quadratic(A + A.T, m.x) + linear(rng.standard_normal(n), m.x))
    a = rng.standard_normal(n)
    m.rows.add(linear(a, m.x) == float(a @ rng.uniform(-0.5, 0.5, n)))
    return m


@kind
def linear_program(rng: np.random.Generator) -> Any:
    n = int(rng.integers(3, 15))
    rows = int(rng.integers(2, n))
    m = blank(n, 0.0, 0.0, None if rng.random() < 0.5 else 10.0)
    A, inside = rng.uniform(0, 1, (rows, n)), rng.uniform(0, 2, n)
    m.obj = pyo.Objective(expr=linear(rng.uniform(0.1, 1, n), m.x))
    for a in A:
        m.rows.add(linear(a, m.x) >= float(a @ inside))
    return m


@kind
def entropy(rng: np.random.Generator) -> Any:
    n = int(rng.integers(3, 20))
    p = rng.dirichlet(np.ones(n))
    m = blank(n, 1.0 / n, 1e-9, 1.0)
    m.obj = pyo.Objective(expr=sum(m.x[j] * pyo.log(m.x[j] / float(p[j])) for j in range(n)))
    m.rows.add(sum(m.x[j] for j in range(n)) == 1)
    v = rng.standard_normal(n)
    m.rows.add(linear(v, m.x) >= float(v @ p) + 0.1 * float(v.max() - v @ p))
    return m


@kind
def rosenbrock(rng: np.random.Generator) -> Any:
    n = int(rng.integers(2, 12))
    m = blank(n, rng.uniform(-2, 2, n))
    m.obj = pyo.Objective(
        expr=sum(100 * (m.x[j + 1] - m.x[j] ** 2) ** 2 + (1 - m.x[j]) ** 2 for j in range(n - 1))
    )
    m.rows.add(sum(m.x[j] ** 2 for j in range(n)) <= float(rng.uniform(0.3, 1.5) * n))
    return m


@kind
def nonlinear_equalities(rng: np.random.Generator) -> Any:
    n = int(rng.integers(3, 12))
    inside = rng.standard_normal(n)
    m = blank(n, inside + 0.5 * rng.standard_normal(n))
    m.obj = pyo.Objective(expr=0.5 * quadratic(definite(rng, n, 10), m.x) + linear(
        rng.standard_normal(n), m.x))  # fmt: skip
    for _ in range(int(rng.integers(1, n // 2 + 1))):
        centre = rng.standard_normal(n)
        m.rows.add(
            sum((m.x[j] - float(centre[j])) ** 2 for j in range(n))
            == float((inside - centre) @ (inside - centre))
        )
    return m


@kind
def balls(rng: np.random.Generator) -> Any:
    n = int(rng.integers(2, 10))
    m = blank(n, 5 * rng.standard_normal(n))
    m.obj = pyo.Objective(expr=linear(rng.standard_normal(n), m.x) + pyo.exp(m.x[0] / 3))
    for _ in range(3):
        centre = 0.3 * rng.standard_normal(n)
        m.rows.add(sum((m.x[j] - float(centre[j])) ** 2 for j in range(n)) <= 2.0 * n)
    return m


@kind
def geometric(rng: np.random.Generator) -> Any:
    n = int(rng.integers(2, 6))
    m = blank(n, rng.uniform(0.1, 5, n), 1e-3, 1e3)

    def monomial() -> Any:
        term: Any = float(rng.uniform(0.1, 2))
        for j in range(n):
            term = term * m.x[j] ** float(np.round(rng.uniform(-1.5, 1.5), 2))
        return term

    m.obj = pyo.Objective(expr=sum(monomial() for _ in range(n + 2)))
    for _ in range(2):
        body = monomial()
        m.rows.add(body <= 2 * float(pyo.value(body)))
    return m


def _in_units(rng: np.random.Generator, m: Any, n: int, decades: float) -> list[Any]:
    """Expressions of size one for variables whose units are decades apart."""
    D = 10.0 ** rng.uniform(-decades, decades, n)
    z = []
    for j in range(n):
        x = m.x[j]
        x.set_value(D[j] * x.value)
        if x.lb is not None:
            x.setlb(D[j] * x.lb)
        if x.ub is not None:
            x.setub(D[j] * x.ub)
        z.append(x / float(D[j]))
    return z


@kind
def different_units(rng: np.random.Generator) -> Any:
    n = int(rng.integers(2, 10))
    inside = rng.uniform(0.5, 2, n)
    m = blank(n, rng.uniform(0, 3, n), 0.0, 5.0)
    z = _in_units(rng, m, n, 5.0)
    m.obj = pyo.Objective(
        expr=10.0 ** float(rng.uniform(-4, 4))
        * (sum((z[j] - float(rng.uniform(-1, 4))) ** 2 for j in range(n)) + pyo.exp(z[0] - 1))
    )
    a = rng.standard_normal(n)
    scale = 10.0 ** float(rng.uniform(-3, 3))
    m.rows.add(scale * linear(a, z) == scale * float(a @ inside))
    m.rows.add(sum(z[j] ** 2 for j in range(n)) <= 1.5 * float(inside @ inside))
    return m


@kind
def units_without_bounds(rng: np.random.Generator) -> Any:
    n = int(rng.integers(2, 8))
    m = blank(n, rng.standard_normal(n) if rng.random() < 0.5 else 0.0)
    z = _in_units(rng, m, n, 6.0)
    target = rng.standard_normal(n) + 2
    m.obj = pyo.Objective(
        expr=sum((z[j] - float(target[j])) ** 2 for j in range(n))
        + sum((z[j] * z[j - 1] - 1) ** 2 for j in range(1, n))
    )
    m.rows.add(sum(z[j] for j in range(n)) == float(target.sum()))
    return m


@kind
def steep_rows(rng: np.random.Generator) -> Any:
    n = int(rng.integers(2, 8))
    inside = rng.uniform(0.5, 1.5, n)
    m = blank(n, 0.5, 0.0, 3.0)
    m.obj = pyo.Objective(expr=sum((m.x[j] - 2) ** 2 for j in range(n)))
    for _ in range(3):
        a = rng.uniform(0, 1, n)
        scale = 10.0 ** float(rng.uniform(-6, 6))
        m.rows.add(scale * linear(a, m.x) ** 3 <= scale * float(a @ inside) ** 3)
    return m


@kind
def dependent_rows(rng: np.random.Generator) -> Any:
    n = int(rng.integers(3, 10))
    inside = rng.standard_normal(n)
    m = blank(n, 0.0)
    m.obj = pyo.Objective(expr=0.5 * quadratic(definite(rng, n), m.x) + linear(
        rng.standard_normal(n), m.x))  # fmt: skip
    A = rng.standard_normal((2, n))
    for a in (*A, A[0] + A[1], 2 * A[0]):
        m.rows.add(linear(a, m.x) == float(a @ inside))
    m.rows.add(linear(A[0], m.x) <= float(A[0] @ inside))
    return m


@kind
def cusp(rng: np.random.Generator) -> Any:
    """No constraint qualification holds at the solution, x = 1: there are no multipliers."""
    n = int(rng.integers(2, 6))
    m = blank(n, rng.uniform(-2, 0, n))
    m.known = -1.0
    m.obj = pyo.Objective(expr=-m.x[0] + sum((m.x[j] - 1) ** 2 for j in range(1, n)))
    m.rows.add((m.x[0] - 1) ** 3 + (m.x[1] - 1) ** 2 * float(rng.uniform(0.5, 2)) <= 0)
    return m


@kind
def squared_row(rng: np.random.Generator) -> Any:
    """A row whose gradient vanishes where it holds."""
    n = int(rng.integers(2, 6))
    a = rng.standard_normal(n)
    m = blank(n, rng.standard_normal(n))
    m.obj = pyo.Objective(expr=sum((m.x[j] - float(a[j])) ** 2 for j in range(n)))
    m.rows.add((linear(rng.standard_normal(n), m.x) - 1) ** 2 <= 0)
    return m


@kind
def flat(rng: np.random.Generator) -> Any:
    n = int(rng.integers(1, 6))
    m = blank(n, rng.uniform(-2, 2, n))
    power = int(rng.choice([4, 6, 8]))
    m.obj = pyo.Objective(
        expr=sum((m.x[j] - float(rng.standard_normal())) ** power for j in range(n))
    )
    if n > 1:
        m.rows.add(m.x[0] + m.x[1] ** 2 >= -5)
    return m


@kind
def complementarity(rng: np.random.Generator) -> Any:
    n = int(rng.integers(1, 5))
    m = blank(2 * n, rng.uniform(0, 2, 2 * n), 0.0)
    target = rng.uniform(-1, 2, 2 * n)
    m.obj = pyo.Objective(expr=sum((m.x[j] - float(target[j])) ** 2 for j in range(2 * n)))
    if rng.random() < 0.5:
        m.rows.add(sum(m.x[j] * m.x[n + j] for j in range(n)) <= 0)
    else:
        for j in range(n):
            m.rows.add(m.x[j] * m.x[n + j] <= 0)
    return m


@kind
def waves(rng: np.random.Generator) -> Any:
    n = int(rng.integers(2, 8))
    m = blank(n, rng.uniform(-3, 3, n), -4.0, 4.0)
    m.obj = pyo.Objective(
        expr=sum(pyo.sin(float(rng.uniform(0.5, 2)) * m.x[j]) + 0.1 * m.x[j] ** 2 for j in range(n))
    )
    m.rows.add(sum(pyo.cos(m.x[j]) for j in range(n)) >= -0.3 * n)
    return m


@kind
def domains(rng: np.random.Generator) -> Any:
    n = int(rng.integers(2, 8))
    m = blank(n, rng.uniform(0.5, 1.5, n), 0.0)
    m.obj = pyo.Objective(
        expr=-sum(float(rng.uniform(0.5, 2)) * pyo.log(m.x[j]) for j in range(n))
        + pyo.sqrt(sum(m.x[j] ** 2 for j in range(n)))
    )
    m.rows.add(linear(rng.uniform(0.5, 1.5, n), m.x) <= n)
    m.rows.add(1 / m.x[0] + pyo.exp(m.x[1]) <= 12)
    return m


@kind
def curve_fit(rng: np.random.Generator) -> Any:
    t = np.linspace(0, 4, 30)
    a, b, c = rng.uniform(0.5, 3), rng.uniform(0.2, 2), rng.uniform(-1, 1)
    y = a * np.exp(-b * t) + c + 0.05 * rng.standard_normal(t.size)
    m = blank(3, rng.uniform(0, 1, 3))
    m.x[1].setlb(0.0)
    m.obj = pyo.Objective(
        expr=sum(
            (m.x[0] * pyo.exp(-m.x[1] * float(s)) + m.x[2] - float(v)) ** 2
            for s, v in zip(t, y, strict=True)
        )
    )
    m.rows.add(m.x[0] + m.x[2] == float(a + c))
    return m


@kind
def pooling(rng: np.random.Generator) -> Any:
    """Bilinear: qualities times flows."""
    sources, products = int(rng.integers(2, 4)), int(rng.integers(1, 3))
    m = pyo.ConcreteModel()
    m.flow = pyo.Var(range(sources), initialize=1.0, bounds=(0, 10))
    m.out = pyo.Var(range(products), initialize=1.0, bounds=(0, 8))
    m.quality = pyo.Var(initialize=1.0, bounds=(0, 5))
    q, cost = rng.uniform(0.5, 4, sources), rng.uniform(1, 3, sources)
    price = rng.uniform(3, 6, products)
    m.obj = pyo.Objective(expr=linear(cost, m.flow) - linear(price, m.out))
    m.balance = pyo.Constraint(
        expr=sum(m.flow[s] for s in range(sources)) == sum(m.out[p] for p in range(products))
    )
    m.mix = pyo.Constraint(
        expr=linear(q, m.flow) == m.quality * sum(m.out[p] for p in range(products))
    )
    m.limit = pyo.Constraint(range(products), rule=lambda m, p: (
        m.quality * m.out[p] <= float(rng.uniform(1.5, 3)) * m.out[p]))  # fmt: skip
    return m


@kind
def chain(rng: np.random.Generator) -> Any:
    """Sparse, hundreds of variables: an optimal control problem in discrete time."""
    steps = int(rng.integers(40, 250))
    m = pyo.ConcreteModel()
    m.s = pyo.Var(range(steps + 1), initialize=0.0)
    m.u = pyo.Var(range(steps), initialize=0.0, bounds=(-1, 1))
    h, drift = 4.0 / steps, float(rng.uniform(-1, 1))
    m.start = pyo.Constraint(expr=m.s[0] == float(rng.uniform(0.5, 2)))
    m.move = pyo.Constraint(range(steps), rule=lambda m, t: (
        m.s[t + 1] == m.s[t] + h * (drift * pyo.sin(m.s[t]) + m.u[t])))  # fmt: skip
    m.end = pyo.Constraint(expr=m.s[steps] <= 0.5)
    m.obj = pyo.Objective(expr=h * sum(m.s[t] ** 2 + 0.1 * m.u[t] ** 2 for t in range(steps)))
    return m


@kind
def two_stage(rng: np.random.Generator) -> Any:
    """Recourse blocks around a few shared variables."""
    scenarios, plants = int(rng.integers(5, 40)), 3
    m = pyo.ConcreteModel()
    m.capacity = pyo.Var(range(plants), bounds=(0, 100), initialize=0.0)
    cost = rng.uniform(2, 5, plants)

    def rule(b: Any, s: int) -> None:
        demand = float(rng.uniform(20, 80))
        b.y = pyo.Var(range(plants), bounds=(0, None), initialize=0.0)
        b.short = pyo.Var(bounds=(0, None), initialize=0.0)
        b.use = pyo.Constraint(range(plants), rule=lambda b, p: b.y[p] <= m.capacity[p])
        b.meet = pyo.Constraint(expr=sum(b.y[p] for p in range(plants)) + b.short >= demand)
        yields = rng.uniform(0.01, 0.03, plants)
        b.cost = pyo.Expression(
            expr=sum(b.y[p] + float(yields[p]) * b.y[p] ** 2 for p in range(plants)) + 20 * b.short
        )

    m.scenario = pyo.Block(range(scenarios), rule=rule)
    m.obj = pyo.Objective(
        expr=linear(cost, m.capacity)
        + sum(m.scenario[s].cost for s in range(scenarios)) / scenarios
    )
    return m
