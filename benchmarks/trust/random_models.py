r"""Random expectation models with exact expectations, to look for wrong answers.

In natural coordinates z (of size 1) a model is

    min  1/2 sum_k E[(a_k'z - w_k)^2] + gamma E[exp(s v b'z)] - q'z
    s.t. E[u_i g_i'z] (<=, >=, =) r_i,      E[t |z - p|^2] (<= or =) rho,      bounds on some z

with independent w, u, v, t of various families. What the solver sees is written in other units:
x_j = D_j z_j, objective and rows times random factors, up to a million apart, and starts up to a
thousand times too far out. All expectations are known in closed form (or are averages of a table),
so the answer can be checked: the point is polished by SLSQP on the exact functions, and what that
gains, or the violation it finds, must be within what was certified.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyomo.environ as pyo
from scipy import stats
from scipy.optimize import minimize

from pyomo_stochsqp import E, RandomParam

FAMILIES = {
    "normal": lambda mean, sd: stats.norm(mean, sd),
    "uniform": lambda mean, sd: stats.uniform(mean - sd * 3**0.5, 2 * sd * 3**0.5),
    "gamma": lambda mean, sd: stats.gamma((mean / sd) ** 2, scale=sd**2 / mean),
    "lognormal": lambda mean, sd: stats.lognorm(
        np.sqrt(np.log1p((sd / mean) ** 2)), scale=mean / np.sqrt(1 + (sd / mean) ** 2)
    ),
    "t5": lambda mean, sd: stats.t(5, loc=mean, scale=sd * 0.6**0.5),
}
#: share of models by kind of data
KINDS = ("distribution",) * 7 + ("table", "table", "sampler")


@dataclass(frozen=True)
class Law:
    """One random number: how it is declared, its mean and its second moment."""

    kind: str
    distribution: Any
    data: Any
    mean: float
    second: float

    @classmethod
    def draw(cls, rng: np.random.Generator, kind: str, mean: float, sd: float, rows: int) -> Law:
        names = list(FAMILIES)
        distribution = FAMILIES[names[rng.integers(len(names))]](mean, sd)
        if kind == "table":
            data = distribution.rvs(rows, random_state=rng)
            return cls(kind, None, data, float(data.mean()), float((data**2).mean()))
        return cls(kind, distribution, None, mean, mean**2 + sd**2)

    def declare(self) -> RandomParam:
        if self.kind == "table":
            return RandomParam(data=self.data)
        if self.kind == "sampler":
            law = self.distribution
            return RandomParam(sampler=lambda rng, n: law.rvs((n, 1), random_state=rng))
        return RandomParam(distribution=self.distribution)


class RandomModel:
    """One model: ``build()`` for the solver, exact functions for the check."""

    def __init__(self, seed: int):
        rng = np.random.default_rng(seed)
        self.seed = seed
        self.kind = kind = KINDS[rng.integers(len(KINDS))]
        n = self.n = int(rng.integers(1, 7))
        noise = 10.0 ** rng.uniform(-2, 0)
        rows = int(10 ** rng.uniform(2, 4.7))
        terms = n + int(rng.integers(0, 3))
        self.A = rng.standard_normal((terms, n)) + np.eye(terms, n)
        self.w = [
            Law.draw(rng, kind, abs(rng.standard_normal()) + 0.5, noise, rows) for _ in range(terms)
        ]
        self.q = rng.standard_normal(n) * rng.integers(0, 2)
        self.gamma = float(rng.choice([0.0, 0.0, 0.5]))
        self.v = (rng.uniform(-0.5, 0.5), min(noise, 0.5))  # normal: E[exp(v z)] is known
        self.b = rng.standard_normal(n) / n
        inside = rng.standard_normal(n)
        self.linear = []
        for _ in range(int(rng.integers(0, min(n, 3)))):
            u = Law.draw(rng, kind, abs(rng.standard_normal()) + 0.5, noise, rows)
            g = rng.standard_normal(n)
            sense = int(rng.integers(-1, 2))
            slack = abs(sense) * rng.choice([0.0, 0.5])
            self.linear.append((u, g, sense, u.mean * float(g @ inside) - sense * slack))
        self.ball = None
        if rng.random() < 0.4:
            t = Law.draw(rng, kind, 1.0, min(noise, 0.5), rows)
            p = inside + rng.standard_normal(n)
            equality = bool(rng.random() < 0.3)
            radius = t.mean * float((inside - p) @ (inside - p)) * (1.0 if equality else 1.2)
            self.ball = (t, p, equality, radius)
        bounded = rng.random(n) < 0.4
        self.lower = np.where(bounded, inside - rng.exponential(0.5, n), -np.inf)
        self.upper = np.where(bounded, inside + rng.exponential(0.5, n), np.inf)
        self.D = 10.0 ** rng.uniform(-3, 3, n)
        self.F = 10.0 ** rng.uniform(-6, 6)
        self.R = 10.0 ** rng.uniform(-4, 4, len(self.linear) + 1)
        far = 10.0 ** rng.uniform(-1, 1.5)
        self.start = np.clip(inside + far * rng.standard_normal(n), self.lower, self.upper)

    def build(self) -> Any:
        """The model as a user would write it."""
        n, m = self.n, pyo.ConcreteModel()
        m.x = pyo.Var(range(n))
        for j in range(n):
            m.x[j].set_value(self.D[j] * self.start[j])
            if np.isfinite(self.lower[j]):
                m.x[j].setlb(self.D[j] * self.lower[j])
                m.x[j].setub(self.D[j] * self.upper[j])
        z = [m.x[j] / self.D[j] for j in range(n)]
        total: Any = -sum(float(self.q[j]) * z[j] for j in range(n))
        for k, law in enumerate(self.w):
            w = law.declare()
            m.add_component(f"w{k}", w)
            total += 0.5 * E((sum(float(self.A[k, j]) * z[j] for j in range(n)) - w) ** 2)
        if self.gamma:
            m.v = RandomParam(distribution=stats.norm(*self.v))
            total += self.gamma * E(pyo.exp(m.v * sum(float(self.b[j]) * z[j] for j in range(n))))
        m.cost = pyo.Objective(expr=self.F * total)
        m.rows = pyo.ConstraintList()
        for i, (law, g, sense, r) in enumerate(self.linear):
            u = law.declare()
            m.add_component(f"u{i}", u)
            body = E(u * self.R[i] * sum(float(g[j]) * z[j] for j in range(n)))
            limit = float(self.R[i] * r)
            m.rows.add(
                body == limit if sense == 0 else body >= limit if sense > 0 else body <= limit
            )
        if self.ball is not None:
            law, p, equality, radius = self.ball
            m.t = law.declare()
            body = E(self.R[-1] * m.t * sum((z[j] - float(p[j])) ** 2 for j in range(n)))
            limit = float(self.R[-1] * radius)
            m.rows.add(body == limit if equality else body <= limit)
        return m

    def objective(self, z: np.ndarray) -> float:
        mean = np.array([law.mean for law in self.w])
        variance = np.array([law.second - law.mean**2 for law in self.w])
        value = 0.5 * float((self.A @ z - mean) @ (self.A @ z - mean) + variance.sum())
        if self.gamma:
            y = float(self.b @ z)
            value += self.gamma * float(np.exp(self.v[0] * y + 0.5 * (self.v[1] * y) ** 2))
        return value - float(self.q @ z)

    def spread(self, z: np.ndarray) -> float:
        """The standard deviation of the objective over scenarios, but for the exponential term."""
        off = self.A @ z - np.array([law.mean for law in self.w])
        variance = np.array([law.second - law.mean**2 for law in self.w])
        return float(np.sqrt(np.sum(variance * off**2 + 0.5 * variance**2)))

    def constraints(self) -> list[dict[str, Any]]:
        """For SLSQP, in natural units."""
        rows = []
        for law, g, sense, r in self.linear:
            kind = "eq" if sense == 0 else "ineq"
            sign = float(sense or 1)
            rows.append(
                {"type": kind, "fun": lambda z, m=law.mean, g=g, r=r, s=sign: s * (m * (g @ z) - r)}
            )
        if self.ball is not None:
            law, p, equality, radius = self.ball
            rows.append(
                {
                    "type": "eq" if equality else "ineq",
                    "fun": lambda z: radius - law.mean * float((z - p) @ (z - p)),
                }
            )
        return rows

    def sizes(self, z: np.ndarray) -> list[float]:
        """What a violation is compared with, row by row: as in a certificate, roughly."""
        found = [
            max(
                abs(r), law.mean * float(np.abs(g) @ np.abs(z)), law.second**0.5 * abs(float(g @ z))
            )
            for law, g, _, r in self.linear
        ]
        if self.ball is not None:
            law, p, _, radius = self.ball
            found.append(max(abs(radius), 2 * law.mean * float(np.abs(z - p) @ np.abs(z))))
        return found

    def polished(self, z: np.ndarray) -> tuple[np.ndarray, bool]:
        """A local solution of the exact program near z."""
        bounds = list(zip(self.lower, self.upper, strict=True))
        for _ in range(3):
            found = minimize(
                self.objective, z, method="SLSQP", bounds=bounds, constraints=self.constraints(),
                options={"ftol": 1e-15, "maxiter": 500},
            )  # fmt: skip
            z = found.x
        return z, bool(found.success or found.status == 8)

    def violation(self, z: np.ndarray) -> float:
        """The largest relative violation at z."""
        worst = 0.0
        for row, size in zip(self.constraints(), self.sizes(z), strict=True):
            value = float(row["fun"](z))
            off = abs(value) if row["type"] == "eq" else max(-value, 0.0)
            worst = max(worst, off / max(size, 1e-12))
        return worst
