r"""Solving with a sparse factorisation of the whole KKT matrix.

    K_ε = [ H   J'            ]                     u_0 = 0
          [ J  -diag(δ + ε)   ],                    u_k+1 = u_k + K_ε^-1 (r - K u_k),   u = (d, y).

The factorisation itself belongs to a library; this file owns what is common to all of them: the
matrix, the regularisation ε_j = 1e-8 Σ_i J_ji² / H_ii, the refinement, the verdict. The residual
is taken with J and H themselves, never with the regularised matrix.
"""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np
from scipy.sparse import csr_array

from .assembly import KKTMatrix
from .hessian import HessianValues, check_finite
from .pattern import KKTPattern
from .protocol import (
    MAX_PASSES,
    REFINED,
    REGULARISATION,
    WORTHWHILE_GAIN,
    Hessian,
    KKTFailure,
    Solution,
    Vector,
    check_right_hand_side,
    judge,
)

#: |r_x - H d - J'y| above this share of |r_x| + |J'y| means the library's factors are not of K.
BROKEN = 1e-4


class Factoriser(Protocol):
    """A library's symmetric factorisation: analysed at the first call, refactored afterwards."""

    #: K with the part and order the library wants
    kkt: KKTMatrix

    def factorise(self) -> None:
        """Factorise ``kkt.matrix``. Raises ``KKTFailure``."""

    def solve(self, rhs: Vector) -> Vector: ...

    def describe(self) -> str: ...


class AugmentedBackend:
    """A back end that factorises K."""

    def __init__(self, pattern: KKTPattern, name: str, factoriser: Factoriser, reason: str):
        self.name = name
        self._n, self._m = pattern.n, pattern.m
        self._factoriser = factoriser
        self._reason = reason
        self._hessian = HessianValues(pattern)
        structure = (pattern.indices, pattern.indptr)
        shape = (pattern.m, pattern.n)
        self._jacobian = csr_array((np.zeros(pattern.nnz), *structure), shape=shape)
        self._transposed = self._jacobian.T
        self._squares = csr_array((np.zeros(pattern.nnz), *structure), shape=shape)
        self._delta: float | Vector = 0.0

    def factorise(
        self, hessian: Hessian, jacobian_values: Vector, delta: float | Vector = 0.0
    ) -> None:
        self._hessian.set(hessian)
        values = self._jacobian.data
        values[:] = jacobian_values
        np.square(values, out=self._squares.data)
        scale = self._squares @ self._hessian.inverse_diagonal()
        # a row without free variables has no scale of its own: 1 keeps its multiplier moderate
        scale[scale == 0.0] = 1.0
        self._delta = delta.copy() if isinstance(delta, np.ndarray) else float(delta)
        kkt = self._factoriser.kkt
        kkt.update(self._hessian.values, values, self._delta + REGULARISATION * scale)
        if not np.isfinite(kkt.matrix.data).all() or np.any(self._delta < 0.0):
            check_finite(values, self._delta)
            raise KKTFailure("the Hessian holds non-finite values off its diagonal")
        self._factoriser.factorise()

    def solve(self, r_x: Vector, r_y: Vector) -> Solution:
        n = self._n
        rhs_x, rhs_y = largest(r_x), largest(r_y)
        if not math.isfinite(rhs_x + rhs_y):
            check_right_hand_side(r_x, r_y)
        u = self._factoriser.solve(np.concatenate((r_x, r_y)))
        d, y = u[:n], u[n:]
        previous = math.inf
        for passes in range(1, MAX_PASSES + 1):
            pull = self._transposed @ y
            error = np.concatenate(
                (r_x - self._hessian.times(d) - pull, r_y - self._jacobian @ d + self._delta * y)
            )
            error_x, error_y = largest(error[:n]), largest(error[n:])
            size = error_x + error_y
            # r_x may be zero, as in a Newton step on multipliers; J'y is what rounding is part of
            size_x = rhs_x + largest(pull)
            refined = error_x <= REFINED * size_x and error_y <= REFINED * rhs_y
            stuck = size * WORTHWHILE_GAIN > previous or passes == MAX_PASSES
            if passes > 1 and (refined or stuck):
                break
            previous = size
            u = self._factoriser.solve(error)
            d, y = d + u[:n], y + u[n:]
        if not error_x <= BROKEN * size_x:
            raise KKTFailure(
                f"{self._factoriser.describe()} broke down: is the Hessian positive definite?"
            )
        residual, rank_deficient = judge(error_y, rhs_y, lambda: self._magnitude(d, y, r_x))
        return Solution(d, y, residual, rank_deficient)

    def _magnitude(self, d: Vector, y: Vector, r_x: Vector) -> float:
        """The largest sum of absolute terms behind an entry of J d - δ y."""
        terms = np.abs(d) + np.abs(self._hessian.inverse_diagonal() * r_x)
        jacobian = abs(self._jacobian)
        return largest(jacobian @ terms + np.abs(self._delta * y))

    def describe(self) -> str:
        return f"{self.name}: {self._factoriser.describe()}; {self._reason}"


def largest(vector: Vector) -> float:
    return float(np.abs(vector).max()) if vector.size else 0.0
