r"""What every KKT back end offers, and how a solution is judged.

    [ H   J'       ] [ d ]   [ r_x ]
    [ J  -diag(δ)  ] [ y ] = [ r_y ],        H positive definite,  δ >= 0.

A back end factorises the system with δ_j + ε_j in place of δ_j, where ε_j is 1e-8 times the scale
of row j, the diagonal entry (J H^-1 J')_jj. With H and δ + ε positive the matrix is quasi-definite:
every symmetric elimination order works and the inertia is right without a test. Iterative
refinement then goes back to the system as stated; along an eigenvector of the scaled J H^-1 J' with
eigenvalue λ each pass multiplies the error by ε / (λ + ε), so two passes reach rounding unless rows
are dependent. When they are and r_y contradicts them, an error stays in the second block row, and
this is reported as ``rank_deficient``. It is a status, not an exception.

Removing variables and rows keeps the symbolic analysis: h_i >= ``HELD`` holds variable i (d_i = 0),
a huge δ_j takes row j out (y_j = 0).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import StochSQPError

Vector = NDArray[np.float64]
#: a multiple of the identity, a diagonal (n,), values on the sparse pattern, or a matrix (n, n)
Hessian = float | Vector

#: ε relative to a row's scale: far above rounding, far below what refinement removes in one pass.
REGULARISATION = 1e-8
#: A diagonal entry of H from here on means "variable held": its inverse counts as zero.
HELD = 1e18
#: The square root that stands for such an entry: J_ji / HELD_ROOT squared underflows to zero.
HELD_ROOT = 1e200
#: Relative error of the second block row above which rows count as dependent.
RANK_TOLERANCE = 1e-6
#: Refinement is finished below this relative error; two passes are always made.
REFINED = 1e-10
#: ... or when a pass gains less than this factor, or after this many passes.
WORTHWHILE_GAIN = 4.0
MAX_PASSES = 8
#: r_y below this multiple of the terms summed in J d cannot be told from rounding.
ROUNDING_SHARE = 1e-6


class KKTFailure(StochSQPError, ArithmeticError):
    """The system cannot be solved: non-finite values, or H not positive definite."""


class Solution:
    """A solution (d, y) and the relative error left in the second block row."""

    __slots__ = ("d", "rank_deficient", "residual", "y")

    def __init__(self, d: Vector, y: Vector, residual: float, rank_deficient: bool):
        self.d = d
        self.y = y
        self.residual = residual
        self.rank_deficient = rank_deficient


class KKTBackend(Protocol):
    """A factorisation that is analysed once and refactored for every new set of values."""

    name: str

    def factorise(
        self, hessian: Hessian, jacobian_values: Vector, delta: float | Vector = 0.0
    ) -> None:
        """Factorise for new values; they are copied. Raises ``KKTFailure``."""

    def solve(self, r_x: Vector, r_y: Vector) -> Solution:
        """Solve with the last factorisation, as often as needed; the arrays are the caller's."""

    def describe(self) -> str:
        """One line: which back end, on what matrix, and why."""


def check_right_hand_side(r_x: Vector, r_y: Vector) -> None:
    """Name the block that is not finite, if one is not."""
    for name, block in (("gradient (r_x)", r_x), ("constraint values (r_y)", r_y)):
        wrong = np.flatnonzero(~np.isfinite(block))
        if wrong.size:
            raise KKTFailure(
                f"the right-hand side of the KKT system is not finite: {name} holds "
                f"{block[wrong[0]]:g} at position {wrong[0]}"
            )


def judge(error: float, rhs: float, magnitude: Callable[[], float]) -> tuple[float, bool]:
    """(residual, rank_deficient) from |J d - δ y - r_y|, |r_y| and the size of what was summed.

    The error is relative to |r_y|. Where r_y is so small that rounding in J d shows (r_y = 0 for
    least-squares multipliers), it is relative to a share of the terms of J d instead; these are
    summed only then.
    """
    if error <= RANK_TOLERANCE * rhs:
        return (error / rhs if rhs > 0.0 else 0.0), False
    residual = error / max(rhs, ROUNDING_SHARE * magnitude(), np.finfo(float).tiny)
    return residual, not residual <= RANK_TOLERANCE
