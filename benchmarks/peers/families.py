r"""Three models over a table of N rows, as an expert writes them and as a user of Pyomo does.

    smooth     5 variables, 3 equalities: exponentials, logarithms, sines of single columns
    cvar       21 variables with bounds: smoothed conditional value at risk of a portfolio, a
               budget, a least mean, a limit on another smoothed loss
    logistic   50 variables: classification with ten expected linear rows on the unit sphere

    min f(x)   s.t.   row_lower <= c(x) <= row_upper,   lower <= x <= upper

``values`` and ``hessian`` are passes over all rows without waste: data are prepared once, matrix
products where they can be, no temporary that is not needed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Array = NDArray[np.float64]


class Values(NamedTuple):
    f: float
    g: Array
    c: Array
    J: Array


class Family(ABC):
    """A model over N rows."""

    x0: Array
    lower: Array
    upper: Array
    row_lower: Array
    row_upper: Array

    @abstractmethod
    def prepare(self) -> None:
        """What an expert computes once; inside the measured time."""

    @abstractmethod
    def values(self, x: Array) -> Values: ...

    @abstractmethod
    def hessian(self, x: Array, y: Array) -> Array:
        """Of f + y'c."""

    @abstractmethod
    def model(self) -> tuple[Any, list[Any]]:
        """(the Pyomo model, its variables in the order of x)."""

    @abstractmethod
    def casadi(self, ca: Any, x: Any) -> tuple[Any, Any]:
        """(f, c) as vectorised CasADi expressions."""


class Smooth(Family):
    def __init__(self, rows: int):
        self.table = np.random.default_rng(2).normal(0.2, 0.5, (rows, 4))
        self.x0 = np.full(5, 0.5)
        self.lower, self.upper = np.full(5, -np.inf), np.full(5, np.inf)
        self.row_lower = self.row_upper = np.array([1.0, 0.5, 1.0])

    def prepare(self) -> None:
        self.columns = np.ascontiguousarray(self.table.T)
        self.means = self.table.mean(axis=0)

    def values(self, x: Array) -> Values:
        w, mean, rows = self.columns, self.means, len(self.table)
        e, z = np.exp(w[0] * x[0]), w[2] * x[2]
        sine, cosine, q = np.sin(z), np.cos(z), 1.0 + z * z
        off = x[1] - w[1]
        f = e.mean() + off @ off / rows + np.log(q).mean() + mean[3] * x[3] * x[4]
        f += 0.1 * (x[3] ** 2 + x[4] ** 2)
        g = np.array(
            [
                w[0] @ e / rows,
                2.0 * (x[1] - mean[1]),
                w[2] @ (2.0 * z / q) / rows,
                mean[3] * x[4] + 0.2 * x[3],
                mean[3] * x[3] + 0.2 * x[4],
            ]
        )
        level = sine.mean()
        c = np.array(
            [
                mean[0] * x[0] + mean[1] * x[1] ** 2,
                level * x[3] + mean[3] * x[4],
                x[0] * x[4] + x[1] ** 2 - x[3],
            ]
        )
        J = np.array(
            [
                [mean[0], 2.0 * mean[1] * x[1], 0.0, 0.0, 0.0],
                [0.0, 0.0, cosine @ w[2] / rows * x[3], level, mean[3]],
                [x[4], 2.0 * x[1], 0.0, -1.0, x[0]],
            ]
        )
        return Values(f, g, c, J)

    def hessian(self, x: Array, y: Array) -> Array:
        w, mean, rows = self.columns, self.means, len(self.table)
        z = w[2] * x[2]
        q, square = 1.0 + z * z, w[2] ** 2
        H = np.zeros((5, 5))
        H[0, 0] = w[0] ** 2 @ np.exp(w[0] * x[0]) / rows
        H[1, 1] = 2.0 + 2.0 * y[0] * mean[1] + 2.0 * y[2]
        H[2, 2] = square @ (2.0 * (1.0 - z * z) / q**2 - y[1] * x[3] * np.sin(z)) / rows
        H[2, 3] = H[3, 2] = y[1] * (np.cos(z) @ w[2]) / rows
        H[3, 3] = H[4, 4] = 0.2
        H[3, 4] = H[4, 3] = mean[3]
        H[0, 4] = H[4, 0] = y[2]
        return H

    def model(self) -> tuple[Any, list[Any]]:
        import pyomo.environ as pyo

        from pyomo_stochsqp import E, RandomParam

        m = pyo.ConcreteModel()
        x = m.x = pyo.Var(range(5), initialize=0.5)
        w = m.w = RandomParam(range(4), data=self.table)
        inside = pyo.exp(w[0] * x[0]) + (x[1] - w[1]) ** 2 + pyo.log(1 + (w[2] * x[2]) ** 2)
        m.f = pyo.Objective(expr=E(inside + w[3] * x[3] * x[4]) + 0.1 * (x[3] ** 2 + x[4] ** 2))
        m.one = pyo.Constraint(expr=E(w[0] * x[0] + w[1] * x[1] ** 2) == 1)
        m.two = pyo.Constraint(expr=E(pyo.sin(w[2] * x[2]) * x[3] + w[3] * x[4]) == 0.5)
        m.three = pyo.Constraint(expr=x[0] * x[4] + x[1] ** 2 - x[3] == 1)
        return m, list(x.values())

    def casadi(self, ca: Any, x: Any) -> tuple[Any, Any]:
        rows, mean = len(self.table), self.table.mean(axis=0)
        w = [ca.DM(self.table[:, j]) for j in range(4)]
        each = ca.exp(w[0] * x[0]) + (x[1] - w[1]) ** 2 + ca.log(1 + (w[2] * x[2]) ** 2)
        f = ca.sum1(each) / rows + mean[3] * x[3] * x[4] + 0.1 * (x[3] ** 2 + x[4] ** 2)
        c = ca.vertcat(
            mean[0] * x[0] + mean[1] * x[1] ** 2,
            ca.sum1(ca.sin(w[2] * x[2])) / rows * x[3] + mean[3] * x[4],
            x[0] * x[4] + x[1] ** 2 - x[3],
        )
        return f, c


class CVaR(Family):
    ASSETS, LEVEL, WIDTH, OTHER = 20, 0.9, 0.1, 0.2

    def __init__(self, rows: int):
        rng = np.random.default_rng(3)
        n = self.ASSETS
        factors, mean = 0.5 * rng.standard_normal((n, 4)), rng.uniform(0.02, 0.25, n)
        own = rng.standard_t(5, (rows, n)) * rng.uniform(0.3, 1.2, n)
        self.returns = mean + 0.6 * rng.standard_t(5, (rows, 4)) @ factors.T + own
        some = np.zeros(n)
        some[np.argsort(mean)[-8:]] = 1.0 / 8.0
        loss = -self.returns @ some
        least = 0.85 * float(self.returns.mean(axis=0) @ some)
        most = 0.97 * self.OTHER * float(np.logaddexp(0.0, (loss - 1.0) / self.OTHER).mean())
        self.x0 = np.append(np.full(n, 1.0 / n), 0.0)
        self.lower = np.append(np.zeros(n), -np.inf)
        self.upper = np.append(np.full(n, 0.3), np.inf)
        self.row_lower = np.array([1.0, least, -np.inf])
        self.row_upper = np.array([1.0, np.inf, most])

    def prepare(self) -> None:
        self.means = self.returns.mean(axis=0)

    def _losses(self, x: Array) -> tuple[Array, Array]:
        loss = -(self.returns @ x[:-1])
        return (loss - x[-1]) / self.WIDTH, (loss - 1.0) / self.OTHER

    def values(self, x: Array) -> Values:
        rows, k = len(self.returns), 1.0 / (1.0 - self.LEVEL)
        u, v = self._losses(x)
        p, q = expit(u), expit(v)
        f = x[-1] + k * self.WIDTH * np.logaddexp(0.0, u).mean()
        g = np.append(-k * (p @ self.returns) / rows, 1.0 - k * p.mean())
        c = np.array(
            [
                x[:-1].sum(),
                self.means @ x[:-1],
                self.OTHER * np.logaddexp(0.0, v).mean(),
            ]
        )
        J = np.zeros((3, x.size))
        J[0, :-1], J[1, :-1], J[2, :-1] = 1.0, self.means, -(q @ self.returns) / rows
        return Values(f, g, c, J)

    def hessian(self, x: Array, y: Array) -> Array:
        rows, k = len(self.returns), 1.0 / (1.0 - self.LEVEL)
        p, q = (expit(z) for z in self._losses(x))
        first = k * p * (1.0 - p) / (self.WIDTH * rows)
        second = y[2] * q * (1.0 - q) / (self.OTHER * rows)
        H = np.empty((x.size, x.size))
        H[:-1, :-1] = (self.returns * (first + second)[:, None]).T @ self.returns
        H[-1, :-1] = H[:-1, -1] = first @ self.returns
        H[-1, -1] = first.sum()
        return H

    def model(self) -> tuple[Any, list[Any]]:
        import pyomo.environ as pyo

        from pyomo_stochsqp import E, RandomParam

        m = pyo.ConcreteModel()
        n = self.ASSETS
        x = m.x = pyo.Var(range(n), initialize=1.0 / n, bounds=(0, 0.3))
        m.t = pyo.Var(initialize=0.0)
        m.r = RandomParam(range(n), data=self.returns)
        gain = sum(m.r[j] * x[j] for j in range(n))
        worst = self.WIDTH * pyo.log(1 + pyo.exp((-gain - m.t) / self.WIDTH))
        m.f = pyo.Objective(expr=m.t + E(worst) / (1 - self.LEVEL))
        m.budget = pyo.Constraint(expr=sum(x.values()) == 1)
        m.mean = pyo.Constraint(expr=E(gain) >= self.row_lower[1])
        large = self.OTHER * pyo.log(1 + pyo.exp((-gain - 1) / self.OTHER))
        m.loss = pyo.Constraint(expr=E(large) <= self.row_upper[2])
        return m, [*x.values(), m.t]

    def casadi(self, ca: Any, x: Any) -> tuple[Any, Any]:
        rows, n = len(self.returns), self.ASSETS
        loss = -(ca.DM(self.returns) @ x[:n])

        def total(u: Any) -> Any:
            return ca.sum1(ca.fmax(u, 0) + ca.log1p(ca.exp(-ca.fabs(u)))) / rows

        scale = self.WIDTH / (1.0 - self.LEVEL)
        c = ca.vertcat(
            ca.sum1(x[:n]),
            ca.dot(self.returns.mean(axis=0), x[:n]),
            self.OTHER * total((loss - 1.0) / self.OTHER),
        )
        return x[n] + scale * total((loss - x[n]) / self.WIDTH), c


class Logistic(Family):
    FEATURES, ROWS = 50, 10

    def __init__(self, rows: int):
        rng = np.random.default_rng(7)
        n = self.FEATURES
        mix = np.linalg.qr(rng.standard_normal((n, n)))[0] * np.logspace(0.0, -1.3, n)
        self.features = rng.standard_normal((rows, n)) @ mix.T * np.sqrt(n) / 3.0
        score = self.features @ rng.standard_normal(n) / 2.0 + rng.logistic(size=rows)
        self.labels = np.where(score > 0.0, 1.0, -1.0)
        few = min(rows, 1000)
        A, b = rng.normal(1.0, 100.0, (self.ROWS, n)), rng.normal(1.0, 100.0, self.ROWS)
        self.A = A + rng.normal(0.0, 10.0, (few, self.ROWS, n))
        self.b = b + rng.normal(0.0, 10.0, (few, self.ROWS))
        start = rng.standard_normal(n)
        self.x0 = 0.1 * start / np.linalg.norm(start)
        self.lower, self.upper = np.full(n, -np.inf), np.full(n, np.inf)
        self.row_lower = self.row_upper = np.append(np.zeros(self.ROWS), 1.0)

    def prepare(self) -> None:
        self.signed = self.labels[:, None] * self.features
        self.A_mean, self.b_mean = self.A.mean(axis=0), self.b.mean(axis=0)

    def values(self, x: Array) -> Values:
        z = self.signed @ x
        g = -(expit(-z) @ self.signed) / len(z)
        c = np.append(self.A_mean @ x - self.b_mean, x @ x)
        return Values(np.logaddexp(0.0, -z).mean(), g, c, np.vstack([self.A_mean, 2.0 * x]))

    def hessian(self, x: Array, y: Array) -> Array:
        p = expit(-(self.signed @ x))
        weighted = self.signed * (p * (1.0 - p) / len(p))[:, None]
        return weighted.T @ self.signed + 2.0 * y[-1] * np.eye(x.size)

    def model(self) -> tuple[Any, list[Any]]:
        import pyomo.environ as pyo

        from pyomo_stochsqp import E, RandomParam, RandomSource

        m = pyo.ConcreteModel()
        n = self.FEATURES
        m.J, m.I = pyo.RangeSet(0, n - 1), pyo.RangeSet(0, self.ROWS - 1)
        data, rows = RandomSource("data"), RandomSource("rows")
        x = m.x = pyo.Var(m.J, initialize=dict(enumerate(self.x0.tolist())))
        m.a = RandomParam(m.J, data=self.features, source=data)
        m.label = RandomParam(data=self.labels, source=data)
        m.A = RandomParam(m.I, m.J, data=self.A.reshape(len(self.A), -1), source=rows)
        m.b = RandomParam(m.I, data=self.b, source=rows)
        margin = m.label * sum(m.a[j] * x[j] for j in m.J)
        m.f = pyo.Objective(expr=E(pyo.log(1 + pyo.exp(-margin))))
        m.linear = pyo.Constraint(
            m.I, rule=lambda m, i: E(sum(m.A[i, j] * x[j] for j in m.J) - m.b[i]) == 0
        )
        m.sphere = pyo.Constraint(expr=sum(v**2 for v in x.values()) == 1)
        return m, list(x.values())

    def casadi(self, ca: Any, x: Any) -> tuple[Any, Any]:
        z = ca.DM(self.labels[:, None] * self.features) @ x
        f = ca.sum1(ca.log1p(ca.exp(-z))) / len(self.labels)
        rows = ca.DM(self.A.mean(axis=0)) @ x - self.b.mean(axis=0)
        return f, ca.vertcat(rows, ca.dot(x, x))


FAMILIES: dict[str, type[Family]] = {"smooth": Smooth, "cvar": CVaR, "logistic": Logistic}
