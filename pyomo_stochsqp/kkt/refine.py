r"""Iterative refinement, the same for every back end, and the verdict on what it leaves.

    u_0 = F r,      u_{k+1} = u_k + F (r - K u_k),        F an approximate inverse of K.

The residual is that of the system as stated, never of a regularised one. Rounding in the terms it
is computed from bounds what can be reached. With H = R'R, z = R d, w_j the rows of W = J R^-1 and
C = 16 eps, the residual is small when

    |r_y - J d + δ y|_j       <=  C (|w_j| |z| + δ_j |y_j|),
    |R^-T (r_x - H d - J'y)|  <=  C (|R^-T r_x| + |z| + |(|w_j| y_j)_j|).

Where rows are nearly dependent z is long and J d a small difference of large terms. The right-hand
side is the stricter measure then, |J d - δ y - r_y| <= C |r_y| with rows scaled by |w_j|; so a
residual that is small by the first measure but not by this one gets one correction more.

Along an eigenvector of J H^-1 J' with eigenvalue λ (rows scaled to norm one) a pass multiplies the
error by rounding / λ, and by ε / (λ + ε) if ε stands in the factorisation. One pass is the rule; it
takes more from a condition number of J of about 1e5 on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

#: C
ROUNDING = 16.0 * float(np.finfo(float).eps)
#: passes are made as long as each gains at least this factor, up to so many
WORTHWHILE_GAIN = 2.0
MAX_PASSES = 40
#: relative error of the second block row above which rows count as dependent
RANK_TOLERANCE = 1e-6
#: r_y below this multiple of the terms summed in J d cannot be told from rounding
ROUNDING_SHARE = 1e-6
TINY = float(np.finfo(float).tiny)


class Iterate(Protocol):
    """A solution on its way."""

    def error(self) -> tuple[float, float]:
        """Compute the residual anew: it as a multiple of what is allowed, by both measures.

        The strict one first, relative to the right-hand side; then relative to all terms.
        """

    def correct(self) -> None:
        """Add the correction for the residual that was computed last."""


def refine(iterate: Iterate) -> None:
    """Correct until the residual is at rounding, or stays where it is."""
    strict, error = iterate.error()
    for _ in range(MAX_PASSES):
        if strict <= 1.0:
            return
        last = error <= 1.0
        iterate.correct()
        previous = error
        strict, error = iterate.error()
        if last or not error * WORTHWHILE_GAIN <= previous:
            return


def judge(error: float, rhs: float, magnitude: Callable[[], float]) -> tuple[float, bool]:
    """(residual, rank_deficient) from |J d - δ y - r_y|, |r_y| and the size of what was summed.

    The error is relative to |r_y|. Where r_y is so small that rounding in J d shows (r_y = 0 for
    least-squares multipliers), it is relative to a share of the terms of J d instead; these are
    summed only then.
    """
    if error <= RANK_TOLERANCE * rhs:
        return (error / rhs if rhs > 0.0 else 0.0), False
    residual = error / max(rhs, ROUNDING_SHARE * magnitude(), TINY)
    return residual, not residual <= RANK_TOLERANCE
