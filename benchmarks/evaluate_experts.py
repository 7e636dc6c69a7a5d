"""The same problems by hand: what a NumPy expert would write for one batch.

Each class is called with (x, rows) and returns (g, c, J) as the evaluator does, J in the order of
the compressed rows. Objective values are not computed, as in the algorithm's loop.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse._sparsetools import csc_matvec, csr_matvec, csr_row_index
from scipy.special import expit


class Logistic:
    """P1 on dense features."""

    def __init__(self, data: dict[str, Any]):
        self.features, self.labels = data["features"], data["labels"]
        self.table, self.rhs = data["table"], data["rhs"]

    def __call__(self, x: Any, rows: Any) -> tuple[Any, Any, Any]:
        a = self.features.take(rows, 0)
        y = self.labels.take(rows)
        mean = np.full(rows.size, 1.0 / rows.size)
        g = (y * expit(-y * a.dot(x)) * -mean).dot(a)
        J = mean.dot(self.table.take(rows, 0))
        c = J.reshape(10, 123).dot(x)
        c -= mean.dot(self.rhs.take(rows, 0))
        return g, c, J


class SparseLogistic(Logistic):
    """P1 on CSR features, calling SciPy's compiled loops without its matrix objects."""

    def __call__(self, x: Any, rows: Any) -> tuple[Any, Any, Any]:
        matrix, size = self.features, rows.size
        index = rows.astype(np.int32)
        starts = matrix.indptr.take(index)
        pointers = np.zeros(size + 1, dtype=np.int32)
        np.cumsum(matrix.indptr.take(index + 1) - starts, out=pointers[1:])
        columns = np.empty(pointers[-1], dtype=np.int32)
        values = np.empty(pointers[-1])
        csr_row_index(size, index, matrix.indptr, matrix.indices, matrix.data, columns, values)
        y = self.labels.take(rows)
        mean = np.full(size, 1.0 / size)
        z = np.zeros(size)
        csr_matvec(size, 123, pointers, columns, values, x, z)
        g = np.zeros(123)
        csc_matvec(123, size, pointers, columns, values, y * expit(-y * z) * -mean, g)
        J = mean.dot(self.table.take(rows, 0))
        c = J.reshape(10, 123).dot(x)
        c -= mean.dot(self.rhs.take(rows, 0))
        return g, c, J


class Small:
    """P2: scalars as floats, means before products, vectors only where needed."""

    def __init__(self, data: dict[str, Any]):
        self.w = data["w"]

    def __call__(self, x: Any, rows: Any) -> tuple[Any, Any, Any]:
        x0, x1, x2, x3, x4 = x.tolist()
        w = self.w.take(rows, 0)
        scale = 1.0 / rows.size
        mean = np.full(rows.size, scale)
        m0, m1, _, m3 = mean.dot(w).tolist()
        w0 = w[:, 0]
        w2 = w[:, 2]
        u = w2 * x2
        mean_sine = mean.dot(np.sin(u))
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
        mean = np.full(rows.size, scale)
        p = self.p.take(rows, 0)
        q = mean.dot(self.q.take(rows, 0))
        xa, xb, xc = x.take(self.a), x.take(self.b), x.take(self.c)
        xd, xe = x.take(self.dd), x.take(self.e)
        g = x - mean.dot(self.d.take(rows, 0))
        g *= 2.0
        exps = p * xa
        np.exp(exps, exps)
        u = xd - p
        root = u * u
        root += 1.0
        np.sqrt(root, root)
        c = mean.dot(exps) + mean.dot(root)
        c += q * xb * xc
        c += xe * xe
        J = np.empty((1000, 5))
        exps *= p
        u /= root
        J[:, 0] = mean.dot(exps)
        J[:, 1] = q * xc
        J[:, 2] = q * xb
        J[:, 3] = mean.dot(u)
        J[:, 4] = 2.0 * xe
        return g, c, J.ravel().take(self.order)
