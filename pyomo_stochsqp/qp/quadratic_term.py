r"""The quadratic term 1/2 d'Hd of a subproblem, in each form H comes in:

    a number or n numbers      H = h I or diag(h)
    an (n, n) array            H itself
    other values               the upper triangle U of the KKT pattern:  H d = U d + U'd - diag(U) d

An interior point adds sigma >= 0 to the diagonal; an active set adds a huge entry for each variable
it holds. Both ask for H + diag(sigma) in the form that the KKT back end takes.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from scipy.sparse import csc_array

from ..kkt import Hessian, KKTPattern
from ..oracle import Vector


class QuadraticTerm(Protocol):
    """H as the subproblem's methods use it."""

    #: a number where all entries are equal
    diagonal: Any

    def times(self, d: Vector) -> Vector:
        """H d."""

    def plus(self, sigma: Vector) -> Hessian:
        """H + diag(sigma), for the back end."""


class Diagonal:
    """h I or diag(h)."""

    __slots__ = ("diagonal",)

    def __init__(self, h: float | Vector):
        self.diagonal = h

    def times(self, d: Vector) -> Vector:
        return self.diagonal * d

    def plus(self, sigma: Vector) -> Hessian:
        return self.diagonal + sigma


class Full:
    """An (n, n) array."""

    __slots__ = ("_matrix", "diagonal")

    def __init__(self, matrix: Vector):
        self._matrix = matrix
        self.diagonal = matrix.diagonal()

    def times(self, d: Vector) -> Vector:
        return self._matrix @ d

    def plus(self, sigma: Vector) -> Hessian:
        matrix = self._matrix.copy()
        matrix.reshape(-1)[:: matrix.shape[0] + 1] += sigma
        return matrix


class Sparse:
    """Values of the upper triangle on a fixed pattern."""

    def __init__(self, values: Vector, pattern: KKTPattern):
        self._values = values
        row, column = pattern.hessian_entries()
        self._slots = np.flatnonzero(row == column)
        self.diagonal = values[self._slots]
        starts = np.searchsorted(column, np.arange(pattern.n + 1))
        self._upper = csc_array((values, row, starts), shape=(pattern.n, pattern.n))

    def times(self, d: Vector) -> Vector:
        return self._upper @ d + self._upper.T @ d - self.diagonal * d

    def plus(self, sigma: Vector) -> Hessian:
        values = self._values.copy()
        values[self._slots] += sigma
        return values


def quadratic_term(H: Any, n: int, pattern: KKTPattern | None) -> QuadraticTerm:
    """The form that H has; ``pattern`` is needed for values on a sparse pattern only."""
    if isinstance(H, float) or H.shape == (n,):
        return Diagonal(H)
    if H.ndim == 2:
        return Full(H)
    if pattern is None:
        raise ValueError(f"a Hessian of shape {H.shape} needs the KKT pattern it belongs to")
    return Sparse(H, pattern)


def quadratic_form(H: Any, d: Vector, pattern: KKTPattern | None) -> float:
    """d'Hd."""
    if isinstance(H, float):
        return H * float(d @ d)
    return float(d @ quadratic_term(H, d.size, pattern).times(d))
