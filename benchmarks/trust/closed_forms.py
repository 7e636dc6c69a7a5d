r"""Models whose expectations and solutions are known: what bounds and errors are compared with.

Each case has the exact objective f, rows c(x) with their targets, the solution x*, and for the
efficiency of estimates the asymptotic covariance of the sample average approximation,

    sqrt(N) (x_N - x*) -> N(0, V),      V the leading block of  K^-1 Cov(grad L, C) K^-1,

K the KKT matrix at the solution; Cov is estimated from a million draws.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyomo.environ as pyo
from scipy import stats

from pyomo_stochsqp import E, RandomParam

Vector = np.ndarray


@dataclass(frozen=True)
class Case:
    """One model; ``gradients(x, y, w)`` and ``rows(x, w)`` are those of single scenarios."""

    name: str
    build: Callable[[], Any]
    f: Callable[[Vector], float]
    c: Callable[[Vector], Vector]
    target: Vector
    x: Vector
    #: multipliers, the Lagrangian's Hessian and the Jacobian at the solution
    y: Vector
    hessian: Callable[[], np.ndarray] | None = None
    jacobian: Callable[[], np.ndarray] | None = None
    draw: Callable[[np.random.Generator, int], Any] | None = None
    gradients: Callable[[Any], np.ndarray] | None = None
    rows: Callable[[Any], np.ndarray] | None = None
    heavy: bool = False

    def covariance(self) -> np.ndarray:
        """V (see the head of this file)."""
        assert self.hessian and self.draw and self.gradients
        H = self.hessian()
        n = H.shape[0]
        J = self.jacobian() if self.jacobian else np.zeros((0, n))
        w = self.draw(np.random.default_rng(0), 1_000_000)
        parts = [self.gradients(w)] + ([self.rows(w)] if self.rows else [])
        noise = np.atleast_2d(np.cov(np.column_stack(parts).T))
        K = np.block([[H, J.T], [J, np.zeros((len(J), len(J)))]])
        inverse = np.linalg.inv(K)
        return (inverse @ noise @ inverse.T)[:n, :n]


def _single(name: str, build: Callable[[Any], None], start: float = 0.0, **bounds: Any) -> Any:
    m = pyo.ConcreteModel(name)
    m.x = pyo.Var(initialize=start, **bounds)
    build(m)
    return m


def tilting() -> Case:
    """min x^2 s.t. E[exp(x w)] = e."""
    x = math.sqrt(3) - 1
    y = -2 * x / (math.e * math.sqrt(3))
    w2 = (1 + x) ** 2 + 1  # E[w^2 exp(x w)] / e

    def build(m: Any) -> None:
        m.w = RandomParam(distribution=stats.norm(1, 1))
        m.o = pyo.Objective(expr=m.x**2)
        m.c = pyo.Constraint(expr=E(pyo.exp(m.x * m.w)) == math.e)

    return Case(
        "tilting", lambda: _single("tilting", build, 0.5), lambda v: v[0] ** 2,
        lambda v: np.array([math.exp(v[0] + v[0] ** 2 / 2)]), np.array([math.e]),
        np.array([x]), np.array([y]),
        lambda: np.array([[2 + y * math.e * w2]]), lambda: np.array([[math.e * math.sqrt(3)]]),
        lambda rng, n: rng.normal(1, 1, n),
        lambda w: (2 * x + y * w * np.exp(x * w))[:, None], lambda w: np.exp(x * w)[:, None],
    )  # fmt: skip


def sphere(n: int = 5) -> Case:
    """min C'x s.t. E|x - z|^2 = 1 + n s^2."""
    C, s2 = np.arange(1.0, n + 1), 0.1
    length = float(np.linalg.norm(C))
    x, y = -C / length, length / 2

    def build() -> Any:
        m = pyo.ConcreteModel("sphere")
        m.x = pyo.Var(range(n), initialize=1.0)
        m.z = RandomParam(range(n), distribution=stats.norm(0, math.sqrt(s2)))
        m.o = pyo.Objective(expr=sum(C[i] * m.x[i] for i in range(n)))
        m.c = pyo.Constraint(expr=E(sum((m.x[i] - m.z[i]) ** 2 for i in range(n))) == 1 + n * s2)
        return m

    return Case(
        f"sphere {n}", build, lambda v: float(C @ v), lambda v: np.array([v @ v + n * s2]),
        np.array([1 + n * s2]), x, np.array([y]),
        lambda: 2 * y * np.eye(n), lambda: 2 * x[None],
        lambda rng, count: rng.normal(0, math.sqrt(s2), (count, n)),
        lambda z: C + 2 * y * (x - z), lambda z: ((x - z) ** 2).sum(axis=1)[:, None],
    )  # fmt: skip


def newsvendor(name: str, law: Any, heavy: bool = False) -> Case:
    """min E[(x - w)^2] + x: the mean of w, less a half."""
    mean, variance = float(law.mean()), float(law.var())
    x = mean - 0.5

    def build(m: Any) -> None:
        m.w = RandomParam(distribution=law)
        m.o = pyo.Objective(expr=E((m.x - m.w) ** 2) + m.x)

    return Case(
        name, lambda: _single(name, build, 1.0), lambda v: (v[0] - mean) ** 2 + variance + v[0],
        lambda v: np.zeros(0), np.zeros(0), np.array([x]), np.zeros(0),
        lambda: np.array([[2.0]]), None, lambda rng, n: law.rvs(n, random_state=rng),
        lambda w: (2 * (x - w) + 1)[:, None], heavy=heavy,
    )  # fmt: skip


def long_only() -> Case:
    """A portfolio with a bound that is active: min E[(r'x)^2] s.t. sum x = 1, x >= 0."""
    mean = np.array([0.05, 0.1, 0.2])
    covariance = np.array([[0.01, 0.0, 0.02], [0.0, 0.04, 0.0], [0.02, 0.0, 0.6]])
    S = covariance + np.outer(mean, mean)
    # the third asset moves with the first, and stays at zero
    a = S[:2, :2]
    two = np.linalg.solve(a, np.ones(2))
    x = np.append(two / two.sum(), 0.0)
    y = -2.0 / float(two.sum())
    law = stats.multivariate_normal(mean, covariance)

    def build() -> Any:
        m = pyo.ConcreteModel("long only")
        m.x = pyo.Var(range(3), initialize=1 / 3, bounds=(0, None))
        m.r = RandomParam(range(3), distribution=law)
        m.o = pyo.Objective(expr=E(sum(m.r[i] * m.x[i] for i in range(3)) ** 2))
        m.c = pyo.Constraint(expr=sum(m.x[i] for i in range(3)) == 1)
        return m

    return Case(
        "long only", build, lambda v: float(v @ S @ v), lambda v: np.array([v.sum()]),
        np.ones(1), x, np.array([y]), lambda: 2 * a, lambda: np.ones((1, 2)),
        lambda rng, n: law.rvs(n, random_state=rng),
        lambda r: 2 * (r @ x)[:, None] * r[:, :2] + y, lambda r: np.zeros((len(r), 1)),
    )  # fmt: skip


def utility() -> Case:
    """max E[-exp(-2 (w x))] - x^2/2 for w ~ N(1, 1): exponential utility with a quadratic cost."""
    a = 2.0

    def slope(x: float) -> float:
        return -a * (1 - a * x) * math.exp(-a * x + (a * x) ** 2 / 2) + x

    from scipy.optimize import brentq

    x = brentq(slope, 0.0, 2.0)
    value = math.exp(-a * x + (a * x) ** 2 / 2)
    second = a * a * ((1 - a * x) ** 2 + 1) * value + 1

    def build(m: Any) -> None:
        m.w = RandomParam(distribution=stats.norm(1, 1))
        m.o = pyo.Objective(expr=E(pyo.exp(-a * m.w * m.x)) + 0.5 * m.x**2)

    return Case(
        "utility", lambda: _single("utility", build, 0.1),
        lambda v: math.exp(-a * v[0] + (a * v[0]) ** 2 / 2) + 0.5 * v[0] ** 2,
        lambda v: np.zeros(0), np.zeros(0), np.array([x]), np.zeros(0),
        lambda: np.array([[second]]), None, lambda rng, n: rng.normal(1, 1, n),
        lambda w: (-a * w * np.exp(-a * w * x) + x)[:, None],
    )  # fmt: skip


def cases() -> list[Case]:
    """All of them; the last two have heavy tails."""
    return [
        tilting(),
        sphere(),
        long_only(),
        utility(),
        newsvendor("normal", stats.norm(5, 2)),
        newsvendor("gamma", stats.gamma(2, scale=3)),
        newsvendor("lognormal", stats.lognorm(1.0), heavy=True),
        newsvendor("t3", stats.t(3, loc=4), heavy=True),
    ]
