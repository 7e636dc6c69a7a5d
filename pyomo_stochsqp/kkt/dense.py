r"""Small or dense systems: Cholesky of the Schur complement, straight on LAPACK.

With H = R'R (R a number, a diagonal, or the Cholesky factor of a full H), z = R d and W = J R^-1:

    [ I   W' ] [ z ]   [ R^-T r_x ]            z = R^-T r_x - W'y
    [ W  -δ  ] [ y ] = [ r_y      ],           (W W' + δ) y = W R^-T r_x - r_y.

S = W W' + δ + ε is factorised, with ε = 1e-8 diag(W W'). The first refinement pass needs no product
with W, because the error of y_0 is known: y = y_0 + S^-1 (ε y_0). Further ones, if any, take

    ρ = W z - δ y - r_y,      dy = S^-1 ρ,      y += dy,      z -= W'dy.

At a handful of variables the cost is the number of calls, not arithmetic: everything goes through
BLAS and LAPACK directly, into arrays allocated once, and what is almost never there (a zero row) is
looked for only after the factorisation has failed.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg.blas import dasum, dgemv, dsyrk, idamax
from scipy.linalg.lapack import dpotrf, dpotrs, dtrtrs

from ..errors import OptionError
from .hessian import check_finite, check_positive, unusable
from .pattern import KKTPattern
from .protocol import (
    HELD,
    HELD_ROOT,
    MAX_PASSES,
    REFINED,
    REGULARISATION,
    WORTHWHILE_GAIN,
    Hessian,
    KKTBackend,
    KKTFailure,
    Solution,
    Vector,
    check_right_hand_side,
    judge,
)

#: Beyond this the arrays would not fit an ordinary machine; the sparse back ends need far less.
MAX_BYTES = 8e9


class DenseBackend:
    """Schur complement of a dense J, for every kind of H."""

    name = "dense"

    def __init__(self, pattern: KKTPattern, reason: str):
        n, m = pattern.n, pattern.m
        check_memory(pattern)
        self._reason = reason
        self._n, self._m = n, m
        self._jacobian_is_full = pattern.jacobian_is_full
        if not self._jacobian_is_full:
            self._slots = pattern.rows.astype(np.int64) * n + pattern.indices
            self._columns = pattern.indices
        self._hessian_is_diagonal = pattern.hessian_is_diagonal
        if not self._hessian_is_diagonal:
            self._hessian_entries = pattern.hessian_entries()
        self._w = np.zeros((m, n))
        self._w_flat = self._w.reshape(-1)
        self._wt = self._w.T  # the same memory, as the Fortran matrix LAPACK wants
        self._schur = np.zeros((m, m), order="F")
        self._schur_diagonal = self._schur.reshape(-1, order="F")[:: m + 1]
        self._epsilon = np.zeros(m)
        #: R when it is a number or a diagonal; otherwise the triangle _upper holds it
        self._root: float | Vector = 1.0
        self._upper: Vector | None = None
        self._delta: float | Vector = 0.0
        self._has_delta = False

    def factorise(
        self, hessian: Hessian, jacobian_values: Vector, delta: float | Vector = 0.0
    ) -> None:
        if not isinstance(hessian, np.ndarray) or hessian.ndim == 0:
            self._take_number(float(hessian), jacobian_values)
        elif hessian.shape == (self._n,):
            self._take_diagonal(hessian, jacobian_values)
        else:
            self._take_full(hessian, jacobian_values)
        if self._m == 0:
            return
        if isinstance(delta, np.ndarray):
            self._delta, self._has_delta = delta.copy(), True
            usable = dasum(delta) < math.inf and np.minimum.reduce(delta) >= 0.0
        else:
            self._delta, self._has_delta = delta, delta != 0.0
            usable = 0.0 <= delta < math.inf
        self._form_schur()
        # ε holds the squared row norms: one sum finds a NaN anywhere in J, which LAPACK need not
        if not (usable and dasum(self._epsilon) < math.inf):
            check_finite(jacobian_values, delta)
            raise KKTFailure("squares of Jacobian entries overflow: scale the constraints")
        if dpotrf(self._schur, 0, 0, 1)[1] != 0:
            self._factorise_with_zero_rows()

    def solve(self, r_x: Vector, r_y: Vector) -> Solution:
        if not dasum(r_x) < math.inf:
            check_right_hand_side(r_x, r_y)
        z = self._times_inverse_root_transposed(r_x)
        if self._m == 0:
            return Solution(self._times_inverse_root(z), np.zeros(0), 0.0, False)
        if not dasum(r_y) < math.inf:
            check_right_hand_side(r_x, r_y)
        wt, schur = self._wt, self._schur
        y, _ = dpotrs(schur, dgemv(1.0, wt, z, -1.0, r_y, 0, 1, 0, 1, 1), 0, 1)
        y += dpotrs(schur, self._epsilon * y, 0, 1)[0]
        z = dgemv(-1.0, wt, y, 1.0, z, 0, 1, 0, 1, 0, 1)
        rhs = abs(float(r_y[idamax(r_y)]))
        error = math.inf
        for passes in range(2, MAX_PASSES + 1):
            rho = dgemv(1.0, wt, z, -1.0, r_y, 0, 1, 0, 1, 1)
            if self._has_delta:
                rho -= self._delta * y
            previous, error = error, abs(float(rho[idamax(rho)]))
            if error <= REFINED * rhs or error * WORTHWHILE_GAIN > previous or passes == MAX_PASSES:
                break
            dy, _ = dpotrs(schur, rho, 0, 1)
            y += dy
            z = dgemv(-1.0, wt, dy, 1.0, z, 0, 1, 0, 1, 0, 1)
        d = self._times_inverse_root(z)
        if not dasum(d) < math.inf:
            raise KKTFailure("the KKT solution overflows: scale the variables and constraints")
        residual, rank_deficient = judge(error, rhs, lambda: self._magnitude(z, y, r_x))
        return Solution(d, y, residual, rank_deficient)

    def describe(self) -> str:
        kind = "" if self._hessian_is_diagonal else f", Cholesky of the {self._n} x {self._n} H"
        return (
            f"dense (LAPACK): Cholesky of the {self._m} x {self._m} Schur complement{kind}; "
            f"{self._reason}"
        )

    def _take_number(self, h: float, jacobian_values: Vector) -> None:
        if not 0.0 < h < math.inf:
            check_positive(np.array([h]))
        self._leave_full()
        self._root = root = math.sqrt(h)
        if self._jacobian_is_full:
            if root == 1.0:
                self._w_flat[:] = jacobian_values
            else:
                np.divide(jacobian_values, root, out=self._w_flat)
        else:
            self._w_flat[self._slots] = jacobian_values / root

    def _take_diagonal(self, h: Vector, jacobian_values: Vector) -> None:
        largest = h[idamax(h)]
        if not (np.minimum.reduce(h) > 0.0 and largest < math.inf):
            check_positive(h)
        self._leave_full()
        self._root = root = np.sqrt(h)
        if largest >= HELD:
            root[h >= HELD] = HELD_ROOT
        if self._jacobian_is_full:
            np.divide(jacobian_values.reshape(self._m, self._n), root, out=self._w)
        else:
            self._w_flat[self._slots] = jacobian_values / root[self._columns]

    def _leave_full(self) -> None:
        """A full H fills W where J stores nothing; what follows writes stored entries only."""
        if self._upper is not None:
            self._upper = None
            self._w_flat[:] = 0.0

    def _take_full(self, hessian: Vector, jacobian_values: Vector) -> None:
        """R = U with H = U'U; held variables leave H and W, as if their h were infinite."""
        n = self._n
        if self._hessian_is_diagonal:
            raise unusable(hessian, n, n)
        row, column = self._hessian_entries
        upper = np.zeros((n, n), order="F")
        if hessian.shape == (n, n):
            upper[:] = hessian
        elif hessian.shape == row.shape:
            upper[row, column] = hessian
        else:
            raise unusable(hessian, n, row.size)
        diagonal = upper.diagonal().copy()
        check_positive(diagonal)
        held = np.flatnonzero(diagonal >= HELD)
        upper[held] = upper[:, held] = 0.0
        upper[held, held] = diagonal[held]
        _, info = dpotrf(upper, 0, 0, 1)
        if info != 0 or not 0.0 < upper[-1, -1] < math.inf:
            raise KKTFailure(
                f"the Hessian is not positive definite (Cholesky stopped at variable {info - 1}); "
                "add a multiple of the identity or use hessian='identity'"
            )
        self._upper = upper
        if self._m == 0:
            return
        if self._jacobian_is_full:
            self._w_flat[:] = jacobian_values
        else:
            self._w_flat[:] = 0.0
            self._w_flat[self._slots] = jacobian_values
        dtrtrs(upper, self._wt, 0, 1, 0, n, 1)
        self._w[:, held] = 0.0

    def _form_schur(self) -> None:
        """The upper triangle of W W' + δ, regularised."""
        dsyrk(1.0, self._wt, 0.0, self._schur, 1, 0, 1)
        diagonal = self._schur_diagonal
        diagonal += np.multiply(diagonal, REGULARISATION, out=self._epsilon)
        if self._has_delta:
            diagonal += self._delta

    def _factorise_with_zero_rows(self) -> None:
        """A row without entries, or with held variables only, has no scale of its own: use 1."""
        self._form_schur()
        diagonal = self._schur_diagonal
        empty = diagonal < np.finfo(float).tiny
        diagonal[empty] = self._epsilon[empty] = REGULARISATION
        info = dpotrf(self._schur, 0, 0, 1)[1]
        if info != 0:
            raise KKTFailure(
                f"the Schur complement J H^-1 J' breaks down at row {info - 1}: scale the "
                "constraints and variables"
            )

    def _times_inverse_root_transposed(self, r: Vector) -> Vector:
        if self._upper is None:
            return r / self._root
        return dtrtrs(self._upper, r, 0, 1)[0]

    def _times_inverse_root(self, z: Vector) -> Vector:
        if self._upper is None:
            return z / self._root
        return dtrtrs(self._upper, z)[0]

    def _magnitude(self, z: Vector, y: Vector, r_x: Vector) -> float:
        """The largest sum of absolute terms behind an entry of J d - δ y."""
        terms = np.abs(z) + np.abs(self._times_inverse_root_transposed(r_x))
        return float(np.max(np.abs(self._w) @ terms + np.abs(self._delta * y)))


def check_memory(pattern: KKTPattern) -> None:
    n, m = pattern.n, pattern.m
    entries = m * n + m * m + (0 if pattern.hessian_is_diagonal else n * n)
    if 8 * entries > MAX_BYTES:
        raise OptionError(
            f"the dense back end would need {8e-9 * entries:.0f} GB for n={n}, m={m}; "
            "choose 'ldl', or leave the choice to 'auto'"
        )


def build(pattern: KKTPattern, reason: str) -> KKTBackend:
    return DenseBackend(pattern, reason)
