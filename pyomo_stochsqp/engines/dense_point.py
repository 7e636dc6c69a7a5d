r"""Values of a program at one point, with J as a full matrix."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..nlp import NLP
from ..oracle import Estimate, Jacobian, Problem, Vector

Matrix = NDArray[np.float64]

#: relative step of central differences
DIFFERENCE = 1e-5


class DensePoint:
    """f, g, c, J at x; ``defined`` says whether all of them are finite."""

    __slots__ = ("J", "c", "defined", "f", "g", "x")

    def __init__(self, x: Vector, estimate: Estimate, entries: Entries):
        self.x = x
        self.f = np.nan if estimate.f is None else estimate.f
        self.g = estimate.g
        self.c = estimate.c
        self.J = entries.matrix(estimate.J)
        self.defined = estimate.issue is None and bool(
            np.isfinite(self.f)
            and np.isfinite(self.g).all()
            and np.isfinite(self.c).all()
            and np.isfinite(self.J).all()
        )


class Entries:
    """Where the stored values of J stand in a full matrix."""

    def __init__(self, problem: Problem):
        self._shape = (problem.m, problem.n)
        self._full = problem.jac_indices.size == problem.m * problem.n
        self._rows = problem.jac_rows
        self._columns = problem.jac_indices

    def matrix(self, values: Vector) -> Matrix:
        if self._full:
            return values.reshape(self._shape)
        J = np.zeros(self._shape)
        J[self._rows, self._columns] = values
        return J


class FullHessian:
    """The Lagrangian's Hessian of a program as a full matrix; entries that do not exist are 0.

    Programs without second derivatives give differences of gradients.
    """

    def __init__(self, nlp: NLP):
        self._nlp = nlp
        if nlp.second_order:
            indptr, self._rows = nlp.hessian_pattern()
            self._columns = np.repeat(np.arange(nlp.problem.n), np.diff(indptr))

    def at(self, x: Vector, y: Vector) -> Matrix:
        n = self._nlp.problem.n
        if not self._nlp.second_order:
            return self._differences(x, y)
        values = np.nan_to_num(self._nlp.hessian(x, y), nan=0.0, posinf=0.0, neginf=0.0)
        M = np.zeros((n, n))
        M[self._rows, self._columns] = values
        M[self._columns, self._rows] = values
        return M

    def _differences(self, x: Vector, y: Vector) -> Matrix:
        jacobian = Jacobian(self._nlp.problem)

        def gradient(point: Vector) -> Vector:
            e = self._nlp.evaluate(point)
            return e.g + jacobian.transposed(e.J, y)

        M = np.zeros((x.size, x.size))
        for j in range(x.size):
            step = np.zeros(x.size)
            step[j] = DIFFERENCE * (abs(x[j]) or 1.0)
            M[j] = (gradient(x + step) - gradient(x - step)) / (2.0 * step[j])
        M = 0.5 * (M + M.T)
        return np.nan_to_num(M, nan=0.0, posinf=0.0, neginf=0.0)
