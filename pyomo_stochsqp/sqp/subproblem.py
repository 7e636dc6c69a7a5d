r"""The search direction of an equality-constrained problem (eq. linear_system):

    [ H  J' ] [ d ]     [ g ]
    [ J  0  ] [ y ] = - [ c ]

and least-squares multipliers, argmin_y |g + J'y|, from the same back end with H = I and c = 0.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from scipy.linalg.blas import dasum

from ..kkt import KKTBackend, KKTPattern
from ..oracle import Estimate, Jacobian, Problem, Vector
from ..qp.quadratic_term import quadratic_form


class Direction:
    """A direction d with its multipliers and what the merit function needs to know of it."""

    __slots__ = ("curvature", "d", "feasibility_reduction", "keeps_tau", "slope", "violation", "y")

    def __init__(
        self,
        d: Vector,
        y: Vector,
        slope: float,
        curvature: float,
        violation: float,
        feasibility_reduction: float,
        keeps_tau: bool = False,
    ):
        self.d = d
        self.y = y
        self.slope = slope  # g'd
        self.curvature = curvature  # d'Hd
        self.violation = violation  # v(c)
        self.feasibility_reduction = feasibility_reduction  # v(c) - v(c + J d)
        #: the direction was computed for the current tau, which therefore stays
        self.keeps_tau = keeps_tau


class Subproblem(Protocol):
    """Computes directions and multipliers."""

    #: what the next direction starts from, where that matters
    warm: Any

    def direction(
        self, x: Vector, estimate: Estimate, H: Any, tau: float, noise: float
    ) -> Direction:
        """The search direction at one estimate; ``noise`` is the standard error of c, summed."""

    def multipliers(self, x: Vector, estimate: Estimate) -> tuple[Vector, Vector]:
        """(y, r): least-squares multipliers and the stationarity residual r they leave."""

    def quadratic_form(self, H: Any, d: Vector) -> float:
        """d'Hd, in whichever form H has."""


class EqualitySubproblem:
    """Rows c(x) = row_lower = row_upper and no bounds.

    The system is solved as it stands (``backend`` is made with ``regularise=False``): c + J d = 0
    holds to rounding, or the back end raises ``KKTFailure`` because rows are dependent.
    """

    warm: Any = None

    def __init__(
        self,
        problem: Problem,
        backend: KKTBackend,
        jacobian: Jacobian,
        pattern: KKTPattern | None = None,
    ):
        self._rhs = problem.row_lower
        self._backend = backend
        self._jacobian = jacobian
        self._pattern = pattern
        self._no_rows = np.zeros(problem.m)

    def direction(
        self, x: Vector, estimate: Estimate, H: Any, tau: float, noise: float = 0.0
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

    def multipliers(self, x: Vector, estimate: Estimate) -> tuple[Vector, Vector]:
        self._backend.factorise(1.0, estimate.J)
        solution = self._backend.solve(-estimate.g, self._no_rows)
        residual = estimate.g + self._jacobian.transposed(estimate.J, solution.y)
        return solution.y, residual

    def quadratic_form(self, H: Any, d: Vector) -> float:
        return quadratic_form(H, d, self._pattern)
