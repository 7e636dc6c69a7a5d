r"""The search direction of an equality-constrained problem (eq. linear_system):

[ H  J' ] [ d ]     [ g ]
[ J  0  ] [ y ] = - [ c ]
"""

from __future__ import annotations

from typing import Any, Protocol

from scipy.linalg.blas import dasum

from ..kkt import KKTBackend, KKTPattern
from ..oracle import Estimate, Problem, Vector
from ..qp.quadratic_term import quadratic_form


class Direction:
    """A direction d with its multipliers and what the merit function needs to know of it."""

    __slots__ = (
        "curvature", "d", "failed", "feasibility_reduction", "keeps_tau", "slope", "violation",
        "warm", "y",
    )  # fmt: skip

    def __init__(
        self,
        d: Vector,
        y: Vector,
        slope: float,
        curvature: float,
        violation: float,
        feasibility_reduction: float,
        keeps_tau: bool = False,
        warm: Any = None,
        failed: bool = False,
    ):
        self.d = d
        self.y = y
        self.slope = slope  # g'd
        self.curvature = curvature  # d'Hd
        self.violation = violation  # v(c)
        self.feasibility_reduction = feasibility_reduction  # v(c) - v(c + J d)
        #: the direction was computed for the current tau, which therefore stays
        self.keeps_tau = keeps_tau
        #: what the next direction may start from: it decides the last digits
        self.warm = warm
        #: there is no direction, and d = 0
        self.failed = failed


class Subproblem(Protocol):
    """Computes directions."""

    def direction(
        self, x: Vector, estimate: Estimate, H: Any, tau: float, noise: float, warm: Any
    ) -> Direction:
        """The search direction at one estimate.

        ``noise`` is the standard error of c, summed; ``warm`` comes from an earlier direction.
        """

    def quadratic_form(self, H: Any, d: Vector) -> float:
        """d'Hd, in whichever form H has."""


class EqualitySubproblem:
    """Rows c(x) = row_lower = row_upper and no bounds.

    The system is solved as it stands (``backend`` is made with ``regularise=False``): c + J d = 0
    holds to rounding, or the back end raises ``KKTFailure`` because rows are dependent.
    """

    def __init__(self, problem: Problem, backend: KKTBackend, pattern: KKTPattern | None = None):
        self._rhs = problem.row_lower
        self._backend = backend
        self._pattern = pattern

    def direction(
        self,
        x: Vector,
        estimate: Estimate,
        H: Any,
        tau: float,
        noise: float = 0.0,
        warm: Any = None,
    ) -> Direction:
        g, J = estimate.g, estimate.J
        c = estimate.c - self._rhs
        self._backend.factorise(H, J)
        solution = self._backend.solve(-g, -c)
        d = solution.d
        violation = dasum(c) if c.size else 0.0
        slope = float(g @ d)
        curvature = quadratic_form(H, d, self._pattern)
        return Direction(d, solution.y, slope, curvature, violation, violation)

    def quadratic_form(self, H: Any, d: Vector) -> float:
        return quadratic_form(H, d, self._pattern)
