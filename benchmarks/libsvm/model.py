r"""The constrained classification problem (eq. libsvm), as a Pyomo model with two random sources.

    min_x  1/N sum_i log(1 + exp(-y_i X_i'x))
    s.t.   1/K sum_k A_k x = 1/K sum_k a_k          (ten rows, K = 1000)
           |x|^2 = 1

Source ``data`` holds the rows (X_i, y_i), source ``rows`` the pairs (A_k, a_k): entries of a fixed
A_1 and a_1 from N(1, 1e4), each with noise of its own for every k (see readings.py).

Not every draw of (A_1, a_1) leaves a feasible point: the sphere meets the affine set if and only if
the set's point of least norm has norm at most one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyomo.environ as pyo

from benchmarks.libsvm.data import Array
from benchmarks.libsvm.readings import Reading
from pyomo_stochsqp import E, RandomParam, RandomSource

ROWS = 10
K = 1000
RADIUS_SQUARED = 1.0
FIRST_NORM = 0.1
DATA, LINEAR = "data", "rows"


@dataclass(frozen=True)
class Draw:
    """The random part of an instance: (A_k, a_k) for all k, and the first iterate."""

    A: Array
    a: Array
    x1: Array

    @property
    def feasible(self) -> bool:
        """Whether a point of the sphere satisfies the mean rows."""
        nearest = np.linalg.lstsq(self.A.mean(axis=0), self.a.mean(axis=0), rcond=None)[0]
        return bool(nearest @ nearest <= RADIUS_SQUARED)


def draw(n: int, seed: int, reading: Reading) -> Draw:
    """One draw, by its seed."""
    rng = np.random.default_rng(seed)
    A_1 = rng.normal(1.0, 100.0, (ROWS, n))
    a_1 = rng.normal(1.0, 100.0, ROWS)
    of_A, of_a = reading.deviations(n)
    A = A_1 + rng.normal(0.0, of_A, (K, ROWS, n))
    a = a_1 + rng.normal(0.0, of_a, (K, ROWS))
    x1 = rng.standard_normal(n)
    return Draw(A, a, FIRST_NORM * x1 / np.linalg.norm(x1))


def build(X: Array, y: Array, instance: Draw) -> Any:
    """The model, at the first iterate."""
    n = X.shape[1]
    m = pyo.ConcreteModel()
    m.J, m.I = pyo.RangeSet(0, n - 1), pyo.RangeSet(0, ROWS - 1)
    m.x = pyo.Var(m.J, initialize=dict(enumerate(instance.x1.tolist())))
    data, rows = RandomSource(DATA), RandomSource(LINEAR)
    m.X = RandomParam(m.J, data=X, source=data)
    m.y = RandomParam(data=y, source=data)
    m.A = RandomParam(m.I, m.J, data=instance.A.reshape(K, -1), source=rows)
    m.a = RandomParam(m.I, data=instance.a, source=rows)
    margin = m.y * sum(m.X[j] * m.x[j] for j in m.J)
    m.loss = pyo.Objective(expr=E(pyo.log(1 + pyo.exp(-margin))))

    @m.Constraint(m.I)
    def linear(m: Any, i: int) -> Any:
        return E(sum(m.A[i, j] * m.x[j] for j in m.J) - m.a[i]) == 0

    m.sphere = pyo.Constraint(expr=sum(m.x[j] ** 2 for j in m.J) == RADIUS_SQUARED)
    return m
