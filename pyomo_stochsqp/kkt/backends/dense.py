r"""Small or dense systems: a triangular factor of the Schur complement, straight on LAPACK.

With H = R'R (R a number, a diagonal, or the Cholesky factor of a full H) and W = J R^-1 (see
eliminated.py), U'U = W W' + diag(δ) is

    1. the Cholesky factor, the cheapest;
    2. where a pivot of that is small, the triangle of a QR factorisation of [ W' ; diag(sqrt δ) ],
       which does not square the condition number of J;
    3. where even that has a small pivot rows are dependent: the same with δ + ε.

At a handful of variables the cost is the number of calls, not arithmetic: everything goes through
BLAS and LAPACK directly, into arrays allocated once, and what is almost never there (a zero row) is
looked for only after a factorisation has failed.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg.blas import dasum, dgemv, dsyrk, dtrsm, dtrsv, idamax
from scipy.linalg.lapack import dpotrf, dpotrs

from ...errors import OptionError
from ..hessian_values import check_finite, check_positive, unusable
from ..pattern import KKTPattern
from ..protocol import (
    HELD,
    HELD_ROOT,
    REGULARISATION,
    Hessian,
    KKTBackend,
    KKTFailure,
    Solution,
    TwoLevels,
    Vector,
    check_right_hand_side,
)
from .eliminated import EliminatedSolution

#: Beyond this the arrays would not fit an ordinary machine; the sparse back ends need far less.
MAX_BYTES = 8e9
#: a Cholesky pivot smaller than its row by these factors has lost two digits, or ten
SMALL_LOSS, LARGEST_LOSS = 10.0, 1e5
#: sine of the angle between a row and those before it that counts as zero: from the first value on
#: no digit of y is right, from the second none of d
DEPENDENT, HOPELESS = 1e-8, 1e-13


class DenseBackend(TwoLevels):
    """Schur complement of a dense J, for every kind of H."""

    name = "dense"

    def __init__(self, pattern: KKTPattern, reason: str, regularise: bool = True):
        super().__init__(regularise)
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
        #: its diagonal, before and after it is overwritten by its factor
        self._pivots = self._schur.reshape(-1, order="F")[:: m + 1]
        #: U, its upper triangle; either _schur or an array of its own
        self._factor = self._schur
        self.row_norms = np.ones(m)
        self.well_conditioned = False
        #: R when it is a number or a diagonal; otherwise the triangle _upper holds it
        self._root: float | Vector = 1.0
        self._upper: Vector | None = None
        self.delta: float | Vector | None = None

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
            self.delta = delta.copy()
            usable = dasum(delta) < math.inf and np.minimum.reduce(delta) >= 0.0
        else:
            self.delta = delta if delta != 0.0 else None
            usable = 0.0 <= delta < math.inf
        self._regularised = False
        dsyrk(1.0, self._wt, 0.0, self._schur, 1, 0, 1)
        pivots = self._pivots
        size = np.sqrt(pivots, out=self.row_norms)
        # one sum finds a NaN anywhere in J, which LAPACK need not
        if not (usable and dasum(size) < math.inf):
            check_finite(jacobian_values, delta)
            raise KKTFailure("squares of Jacobian entries overflow: scale the constraints")
        if self.delta is not None:
            pivots += self.delta
            size = np.sqrt(pivots)
        self._factor = self._schur
        if dpotrf(self._schur, 0, 0, 1)[1] == 0:
            loss = size / pivots
            largest = loss[idamax(loss)]
            self.well_conditioned = largest <= SMALL_LOSS
            if largest <= LARGEST_LOSS:
                return
        self.well_conditioned = False
        self._factorise_by_qr()

    def _factorise_by_qr(self) -> None:
        """Level 2; level 3 where it does not suffice."""
        self.row_norms[self.row_norms == 0.0] = 1.0
        if self._n >= self._m or self.delta is not None:
            self._factor = triangle = self._triangle(self.delta)
            size = np.square(self.row_norms) + (0.0 if self.delta is None else self.delta)
            least = DEPENDENT if self._may_regularise else HOPELESS
            if (np.square(triangle.diagonal()) > least**2 * size).all():
                return
        self._regularise()

    def _factorise_regularised(self) -> None:
        self.row_norms[self.row_norms == 0.0] = 1.0
        epsilon = REGULARISATION * np.square(self.row_norms)
        self._factor = self._triangle(epsilon if self.delta is None else self.delta + epsilon)

    def _triangle(self, delta: float | Vector | None) -> Vector:
        """U with U'U = W W' + δ, by orthogonal transformations."""
        rows = self._w.T
        if delta is not None:
            root = np.broadcast_to(np.sqrt(delta), self._m)
            rows = np.concatenate((rows, np.diag(root)))
        return np.asfortranarray(np.linalg.qr(rows, mode="r"))

    def _solve(self, r_x: Vector, r_y: Vector) -> Solution:
        if not dasum(r_x) < math.inf:
            check_right_hand_side(r_x, r_y)
        start = self._times_inverse_root_transposed(r_x)
        if self._m == 0:
            return Solution(self._times_inverse_root(start), np.zeros(0), 0.0, False)
        if not dasum(r_y) < math.inf:
            check_right_hand_side(r_x, r_y)
        found = EliminatedSolution(self, start, r_y)
        residual, rank_deficient = found.judged()
        d = self._times_inverse_root(found.z)
        if not (rank_deficient or dasum(d) < math.inf):
            raise KKTFailure("the KKT solution overflows: scale the variables and constraints")
        return Solution(d, found.y, residual, rank_deficient)

    def excess(self, z: Vector, r_y: Vector) -> Vector:
        return dgemv(1.0, self._wt, z, -1.0, r_y, 0, 1, 0, 1, 1)

    def pulled(self, z: Vector, y: Vector) -> Vector:
        return dgemv(-1.0, self._wt, y, 1.0, z)

    def inverse(self, r: Vector) -> Vector:
        return dpotrs(self._factor, r, 0, 1)[0]

    def terms(self, z: Vector) -> Vector:
        return np.abs(self._w) @ z

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
        dtrsm(1.0, upper, self._wt, 0, 0, 1, 0, 1)
        self._w[:, held] = 0.0

    def _times_inverse_root_transposed(self, r: Vector) -> Vector:
        if self._upper is None:
            return r / self._root
        return dtrsv(self._upper, r, trans=1)

    def _times_inverse_root(self, z: Vector) -> Vector:
        if self._upper is None:
            return z / self._root
        return dtrsv(self._upper, z)


def check_memory(pattern: KKTPattern) -> None:
    n, m = pattern.n, pattern.m
    entries = m * n + m * m + (0 if pattern.hessian_is_diagonal else n * n)
    if 8 * entries > MAX_BYTES:
        raise OptionError(
            f"the dense back end would need {8e-9 * entries:.0f} GB for n={n}, m={m}; "
            "choose 'ldl', or leave the choice to 'auto'"
        )


def build(pattern: KKTPattern, reason: str, regularise: bool) -> KKTBackend:
    return DenseBackend(pattern, reason, regularise)
