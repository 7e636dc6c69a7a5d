r"""What every KKT back end offers.

    [ H   J'       ] [ d ]   [ r_x ]
    [ J  -diag(δ)  ] [ y ] = [ r_y ],        H positive definite,  δ >= 0.

A back end factorises this system as it stands and refines its solutions until nothing but rounding
is left (refine.py). Only where the factorisation or the refinement shows that rows are dependent is
the system factorised once more, with δ_j + ε_j in place of δ_j, where ε_j is 1e-8 times the scale
of row j, the diagonal entry (J H^-1 J')_jj. Dependent rows that agree are then solved as if each
were there once. If r_y contradicts them, the answer is the nearest point, an error stays in the
second block row, and ``rank_deficient`` says so: it is a status, not an exception. A back end made
with ``regularise=False`` raises ``KKTFailure`` instead.

Removing variables and rows keeps the symbolic analysis: h_i >= ``HELD`` holds variable i (d_i = 0),
a huge δ_j takes row j out (y_j = 0).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import StochSQPError

Vector = NDArray[np.float64]
#: a multiple of the identity, a diagonal (n,), values on the sparse pattern, or a matrix (n, n)
Hessian = float | Vector

#: ε of dependent rows relative to their scale: far above rounding, and its reciprocal, which their
#: multipliers may reach, still leaves half of the digits of d
REGULARISATION = 1e-8
#: A diagonal entry of H from here on means "variable held": its inverse counts as zero.
HELD = 1e18
#: what holds a variable, added to its diagonal entry, and takes a row out, as its δ
REMOVED = 1e20
#: The square root that stands for such an entry: J_ji / HELD_ROOT squared underflows to zero.
HELD_ROOT = 1e200


class KKTFailure(StochSQPError, ArithmeticError):
    """The system cannot be solved: non-finite values, H not positive definite, dependent rows."""


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


class TwoLevels(ABC):
    """The system as it stands first, regularised only where that fails."""

    def __init__(self, regularise: bool):
        self._may_regularise = regularise
        #: the present factorisation has ε in it
        self._regularised = False

    def solve(self, r_x: Vector, r_y: Vector) -> Solution:
        solution = self._solve(r_x, r_y)
        if solution.rank_deficient and not self._regularised:
            self._regularise()
            solution = self._solve(r_x, r_y)
        return solution

    def _regularise(self) -> None:
        if not self._may_regularise:
            raise KKTFailure(
                "the gradients of the constraints are linearly dependent here, or nearly so, and "
                "the linear system has no unique solution"
            )
        self._regularised = True
        self._factorise_regularised()

    @abstractmethod
    def _solve(self, r_x: Vector, r_y: Vector) -> Solution:
        """A refined solution with the present factorisation."""

    @abstractmethod
    def _factorise_regularised(self) -> None:
        """Factorise the present values again, with δ + ε."""


def check_right_hand_side(r_x: Vector, r_y: Vector) -> None:
    """Name the block that is not finite, if one is not."""
    for name, block in (("gradient (r_x)", r_x), ("constraint values (r_y)", r_y)):
        wrong = np.flatnonzero(~np.isfinite(block))
        if wrong.size:
            raise KKTFailure(
                f"the right-hand side of the KKT system is not finite: {name} holds "
                f"{block[wrong[0]]:g} at position {wrong[0]}"
            )
