r"""KKT systems whose Hessian is not definite, with their inertia.

    K = [ W + diag(a)   J'       ]
        [ J            -diag(b)  ],        a, b >= 0

``factorise`` counts the positive eigenvalues of K (Sylvester: those of D in LDL'); a step is one of
descent if there are n of them, and whoever asks raises a or b until there are. ``solve`` refines
against K itself.

    full     LAPACK's Bunch-Kaufman factorisation of the equilibrated matrix: small or dense systems
    sparse   qdldl, without pivoting: a zero b becomes 1e-9, which refinement takes back
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from scipy.linalg import lapack

from .pattern import KKTPattern
from .protocol import KKTFailure, Vector
from .refine import refine

#: systems up to this size are full, larger ones if more than this share of their entries is stored
SMALL, DENSE = 120, 0.2
#: beyond this a full matrix takes too much memory, whatever the pattern
LARGEST_FULL = 5000
#: what stands for a zero on the diagonal of the second block
GUARD = 1e-9
#: refinement ends at this relative residual; a solution with a larger one than ``USABLE`` is none
REFINED, USABLE = 1e-12, 1e-4
TINY = 1e-300


class IndefiniteSystem(ABC):
    """Factorisations of K for one pattern."""

    def __init__(self, pattern: KKTPattern):
        self._n, self._m = pattern.n, pattern.m
        self._h_rows, self._h_columns = pattern.hessian_entries()
        self._off = self._h_rows != self._h_columns
        self._diagonal = np.flatnonzero(~self._off)
        self._j_rows, self._j_columns = pattern.rows, pattern.indices

    def factorise(self, W: Vector, J: Vector, a: Vector, b: Vector) -> int | None:
        """The number of positive eigenvalues of K; None if it is singular or not finite.

        ``REMOVED`` in a holds a variable, in b it drops a row.
        """
        self._W = W.copy()
        self._W[self._diagonal] += a
        self._J, self._b = J, b
        if not np.isfinite(self._W.sum() + J.sum() + b.sum()):
            return None
        pivots = self._factorise()
        if pivots is None or not np.isfinite(pivots).all() or not pivots.all():
            return None
        return int((pivots > 0.0).sum())

    def solve(self, r_x: Vector, r_y: Vector) -> tuple[Vector, Vector] | None:
        """(d, y) with K (d, y) = (r_x, r_y); None if rounding has spoilt it."""
        found = IndefiniteSolution(self, np.concatenate((r_x, r_y)))
        refine(found)
        return (found.u[: self._n], found.u[self._n :]) if found.usable else None

    def times(self, u: Vector) -> Vector:
        """K u."""
        n, m = self._n, self._m
        d, y = u[:n], u[n:]
        above, below = self._W[self._off], self._off
        top = (
            np.bincount(self._h_rows, self._W * d[self._h_columns], n)
            + np.bincount(self._h_columns[below], above * d[self._h_rows[below]], n)
            + np.bincount(self._j_columns, self._J * y[self._j_rows], n)
        )
        bottom = np.bincount(self._j_rows, self._J * d[self._j_columns], m) - self._b * y
        return np.concatenate((top, bottom))

    @abstractmethod
    def _factorise(self) -> Vector | None:
        """The eigenvalues of D, those of its 2 x 2 blocks by their signs; None if there is none."""

    @abstractmethod
    def solved(self, r: Vector) -> Vector:
        """K^-1 r, but for rounding and the guard."""


class IndefiniteSolution:
    """(d, y) on the way to the solution."""

    def __init__(self, system: IndefiniteSystem, r: Vector):
        self._system = system
        self._r = self._left = r
        self._size = float(np.abs(r).max(initial=0.0)) + TINY
        self.u = system.solved(r)
        self.usable = False

    def error(self) -> tuple[float, float]:
        self._left = self._r - self._system.times(self.u)
        error = float(np.abs(self._left).max(initial=0.0)) / self._size
        self.usable = error < USABLE
        return error / REFINED, error / REFINED

    def correct(self) -> None:
        self.u = self.u + self._system.solved(self._left)


class FullSystem(IndefiniteSystem):
    """Bunch-Kaufman."""

    def _factorise(self) -> Vector | None:
        n, size = self._n, self._n + self._m
        K = np.zeros((size, size), order="F")
        K[self._h_columns, self._h_rows] = self._W
        K[n + self._j_rows, self._j_columns] = self._J
        below = np.arange(n, size)
        K[below, below] = -self._b
        # only the lower triangle is there: the largest entry of a line stands in its row or column
        largest = np.maximum(np.abs(K).max(axis=1), np.abs(K).max(axis=0))
        self._unit = 1.0 / np.sqrt(np.maximum(largest, TINY))
        K *= self._unit[:, None]
        K *= self._unit
        self._factors, self._pivots, info = lapack.dsytrf(K, lower=1, overwrite_a=1)
        if info != 0:
            return None
        # a 2 x 2 block is marked by two negative pivots; it has one eigenvalue of each sign
        eigenvalues = np.diag(self._factors).copy()
        blocks = np.flatnonzero(self._pivots < 0)
        eigenvalues[blocks[::2]], eigenvalues[blocks[1::2]] = 1.0, -1.0
        return eigenvalues

    def solved(self, r: Vector) -> Vector:
        x, _ = lapack.dsytrs(self._factors, self._pivots, self._unit * r, lower=1)
        return self._unit * x


class SparseSystem(IndefiniteSystem):
    """qdldl."""

    def __init__(self, pattern: KKTPattern):
        super().__init__(pattern)
        # its library is imported only where it is needed
        from .backends.ldl import QdldlFactoriser

        self._factoriser = QdldlFactoriser(pattern)

    def _factorise(self) -> Vector | None:
        guarded = np.where(self._b > 0.0, self._b, GUARD)
        self._factoriser.kkt.update(self._W, self._J, guarded)
        try:
            self._factoriser.factorise()
        except KKTFailure:
            return None
        return self._factoriser.pivots()

    def solved(self, r: Vector) -> Vector:
        return self._factoriser.solve(r)


def make_indefinite(pattern: KKTPattern) -> IndefiniteSystem:
    """Full or sparse, as suits the pattern."""
    size = pattern.n + pattern.m
    stored = 2 * (pattern.hessian_entries()[0].size + pattern.nnz)
    dense = stored > DENSE * size * size and size <= LARGEST_FULL
    return FullSystem(pattern) if size <= SMALL or dense else SparseSystem(pattern)
