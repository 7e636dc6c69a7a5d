"""The same problems by hand: what a NumPy expert would write for one batch.

Each class is called with (x, rows) and returns (g, c, J) as the evaluator does, J in the order of the
compressed rows. Objective values are not computed, as in the algorithm's loop.
"""

from __future__ import annotations

from math import cos, exp, sin  # noqa: F401
from typing import Any

import numpy as np
from scipy.special import expit


class Logistic:
    """P1 on dense features."""

    def __init__(self, data: dict[str, Any]):
        self.features, self.labels = data["features"], data["labels"]
        self.table, self.rhs = data["table"], data["rhs"]

    def __call__(self, x: Any, rows: Any) -> tuple[Any, Any, Any]:
        a = self.features.take(rows, 0)
        y = self.labels.take(rows)
        scale = 1.0 / rows.size
        g = (y * expit(-y * a.dot(x))).dot(a)
        g *= -scale
        J = self.table.take(rows, 0).sum(0)
        J *= scale
        c = J.reshape(10, 123).dot(x)
        c -= self.rhs.take(rows, 0).sum(0) * scale
        return g, c, J


class SparseLogistic(Logistic):
    """P1 on CSR features, with SciPy's row indexing and products."""

    def __call__(self, x: Any, rows: Any) -> tuple[Any, Any, Any]:
        a = self.features[rows]
        y = self.labels.take(rows)
        scale = 1.0 / rows.size
        g = (y * expit(-y * (a @ x))) @ a
        g *= -scale
        J = self.table.take(rows, 0).sum(0)
        J *= scale
        c = J.reshape(10, 123).dot(x)
        c -= self.rhs.take(rows, 0).sum(0) * scale
        return g, c, J


class Small:
    """P2: scalars as floats, means before products, vectors only where needed."""

    def __init__(self, data: dict[str, Any]):
        self.w = data["w"]

    def __call__(self, x: Any, rows: Any) -> tuple[Any, Any, Any]:
        x0, x1, x2, x3, x4 = x.tolist()
        w = self.w.take(rows, 0)
        scale = 1.0 / rows.size
        m0, m1, _, m3 = (w.sum(0) * scale).tolist()
        w0 = w[:, 0]
        w2 = w[:, 2]
        u = w2 * x2
        sine = np.sin(u)
        mean_sine = sine.sum() * scale
        g = np.array(
            (
                w0.dot(np.exp(w0 * x0)) * scale,
                2.0 * (x1 - m1),
                2.0 * w2.dot(u / (1.0 + u * u)) * scale,
                m3 * x4 + 0.2 * x3,
                m3 * x3 + 0.2 * x4,
            )
        )
        c = np.array((m0 * x0 + m1 * x1 * x1, mean_sine * x3 + m3 * x4, x0 * x4 + x1 * x1 - x3))
        J = np.array(
            (
                m0,
                2.0 * m1 * x1,
                x3 * w2.dot(np.cos(u)) * scale,
                mean_sine,
                m3,
                x4,
                2.0 * x1,
                -1.0,
                x0,
            )
        )
        return g, c, J


class SparseRows:
    """P3: all rows at once as (batch, rows) arrays."""

    def __init__(self, data: dict[str, Any]):
        self.p, self.q, self.d = data["p"], data["q"], data["d"]
        self.a, self.b, self.c, self.dd, self.e = np.ascontiguousarray(data["index"].T)
        self.order = (np.argsort(data["index"], axis=1) + 5 * np.arange(1000)[:, None]).ravel()

    def __call__(self, x: Any, rows: Any) -> tuple[Any, Any, Any]:
        scale = 1.0 / rows.size
        p = self.p.take(rows, 0)
        q = self.q.take(rows, 0).sum(0) * scale
        xa, xb, xc = x.take(self.a), x.take(self.b), x.take(self.c)
        xd, xe = x.take(self.dd), x.take(self.e)
        exps = np.exp(p * xa)
        u = xd - p
        g = x - self.d.take(rows, 0).sum(0) * scale
        g *= 2.0
        c = (exps.sum(0) + np.sin(u).sum(0)) * scale + q * xb * xc + xe * xe
        J = np.empty((1000, 5))
        exps *= p
        J[:, 0] = exps.sum(0) * scale
        J[:, 1] = q * xc
        J[:, 2] = q * xb
        J[:, 3] = np.cos(u).sum(0) * scale
        J[:, 4] = 2.0 * xe
        return g, c, J.ravel().take(self.order)
