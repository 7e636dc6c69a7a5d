r"""The way back to feasible points: a program of its own.

    min  rho sum (p + q) + zeta/2 |D (x - x_r)|^2   s.t.  lower <= c(x) - p + q <= upper,  p, q >= 0

with rho = 1000, zeta = sqrt(mu) and D_j = 1 / max(1, |x_r,j|): as feasible as possible, and near
x_r. It always has an inside, and is solved by the same interior point until the point is acceptable
to the filter of the program it came from (Waechter and Biegler, section 3.3).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...kkt import with_diagonal
from ...nlp import NLP
from ...oracle import Estimate, Vector

PENALTY = 1000.0
LEAST = 1e-8


class Restoration:
    """The program; its variables are (x, p, q)."""

    second_order = True

    def __init__(self, nlp: NLP, x: Vector, mu: float):
        problem = nlp.problem
        n, m = problem.n, problem.m
        self._nlp = nlp
        self._n, self._m = n, m
        self._x = x
        self._zeta = np.sqrt(mu)
        self._weights = 1.0 / np.maximum(1.0, np.abs(x)) ** 2
        estimate = nlp.evaluate(x)
        excess = problem.excess(estimate.c)
        a = (mu - PENALTY * excess) / (2.0 * PENALTY)
        root = np.sqrt(mu * mu + (PENALTY * excess) ** 2) / (2.0 * PENALTY)
        q = np.maximum(a + root, LEAST)
        p = np.maximum(excess + q, LEAST)
        indptr = problem.jac_indptr + 2 * np.arange(m + 1)
        self._own = np.arange(problem.jac_indices.size) + 2 * problem.jac_rows
        self._p = indptr[1:] - 2
        indices = np.empty(problem.jac_indices.size + 2 * m, dtype=problem.jac_indices.dtype)
        indices[self._own] = problem.jac_indices
        indices[self._p] = n + np.arange(m)
        indices[self._p + 1] = n + m + np.arange(m)
        self.problem = replace(
            problem,
            x0=np.concatenate((x, p, q)),
            x_lower=np.concatenate((problem.x_lower, np.zeros(2 * m))),
            x_upper=np.concatenate((problem.x_upper, np.full(2 * m, np.inf))),
            jac_indptr=indptr,
            jac_indices=indices,
            variable_names=(),
        )
        self._slots, columns, self._hess_indices = with_diagonal(*nlp.hessian_pattern(), n)
        self._hess_indptr = np.concatenate((columns, np.full(2 * m, columns[-1])))
        column_of_entry = np.repeat(np.arange(n), np.diff(columns))
        self._diagonal = np.flatnonzero(self._hess_indices == column_of_entry)

    def evaluate(self, v: Vector) -> Estimate:
        n, m = self._n, self._m
        x, p, q = v[:n], v[n : n + m], v[n + m :]
        own = self._nlp.evaluate(x)
        if own.issue is not None:
            return own
        away = x - self._x
        J = np.empty(self.problem.jac_indices.size)
        J[self._own] = own.J
        J[self._p], J[self._p + 1] = -1.0, 1.0
        g = np.concatenate((self._zeta * self._weights * away, np.full(2 * m, PENALTY)))
        f = PENALTY * float(p.sum() + q.sum()) + 0.5 * self._zeta * float(
            self._weights @ (away * away)
        )
        return Estimate(g, own.c - p + q, J, f)

    def hessian_pattern(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        return self._hess_indptr, self._hess_indices

    def hessian(self, v: Vector, y: Vector) -> Vector:
        x = v[: self._n]
        values = np.zeros(self._hess_indices.size)
        # the Lagrangian's Hessian without the objective's
        values[self._slots] = self._nlp.hessian(x, y) - self._nlp.hessian(x, np.zeros_like(y))
        values[self._diagonal] += self._zeta * self._weights
        return values
