r"""Systems whose variables have been eliminated: what the dense and the sparse Schur form share.

With H = R'R, z = R d, W = J R^-1 and S = W W' + diag(δ):

    [ I   W' ] [ z ]   [ s   ]                y = S^-1 (W s - r_y)
    [ W  -δ  ] [ y ] = [ r_y ],  s = R^-T r_x,    z = s - W'y

A pass of refinement corrects both unknowns and keeps the first block row as it is:

    ρ = W z - δ y - r_y,       dy = S^-1 ρ,       y += dy,       z -= W'dy.

z is corrected, not computed anew from y: where rows are nearly dependent y is large, and rounding
in W'y would come back into W z.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from scipy.linalg.blas import dnrm2, idamax

from ..protocol import Vector
from ..refine import ROUNDING, TINY, judge, refine


class Eliminated(Protocol):
    """A back end that factorises S."""

    #: None stands for zero
    delta: float | Vector | None
    #: |w_j|; without δ there is none that is zero
    row_norms: Vector
    #: rows are far from dependent, so that both measures of refine.py mean the same
    well_conditioned: bool

    def excess(self, z: Vector, r_y: Vector) -> Vector:
        """W z - r_y, in a new array."""

    def pulled(self, z: Vector, y: Vector) -> Vector:
        """z - W'y, in a new array."""

    def inverse(self, r: Vector) -> Vector:
        """S^-1 r with the S that was factorised; r may be used up."""

    def terms(self, z: Vector) -> Vector:
        """|W| |z|."""


class EliminatedSolution:
    """(z, y) on the way to the solution."""

    __slots__ = ("_r_y", "_rho", "_start", "_system", "y", "z")

    def __init__(self, system: Eliminated, start: Vector, r_y: Vector):
        self._system = system
        self._start = start
        self._r_y = r_y
        self._rho = r_y
        self.y = system.inverse(system.excess(start, r_y))
        self.z = system.pulled(start, self.y)

    def error(self) -> tuple[float, float]:
        system, z = self._system, self.z
        self._rho = rho = system.excess(z, self._r_y)
        if system.delta is None:
            scaled = rho / system.row_norms
            largest = abs(scaled[idamax(scaled)])
            error = largest / (ROUNDING * dnrm2(z) + TINY)
            return (error if system.well_conditioned else self._strict(largest)), error
        damped = system.delta * self.y
        rho -= damped
        allowed = system.row_norms * dnrm2(z)
        allowed += np.abs(damped)
        allowed += np.abs(self._r_y)
        allowed += TINY
        relative = rho / allowed
        error = abs(relative[idamax(relative)]) / ROUNDING
        return error, error

    def _strict(self, largest: float) -> float:
        scaled = self._r_y / self._system.row_norms
        return largest / (ROUNDING * abs(scaled[idamax(scaled)]) + TINY)

    def correct(self) -> None:
        dy = self._system.inverse(self._rho)
        self.y += dy
        self.z = self._system.pulled(self.z, dy)

    def judged(self) -> tuple[float, bool]:
        """(residual, rank_deficient) after refinement."""
        refine(self)
        rho, r_y = self._rho, self._r_y
        error, rhs = abs(float(rho[idamax(rho)])), abs(float(r_y[idamax(r_y)]))
        return judge(error, rhs, self._magnitude)

    def _magnitude(self) -> float:
        """The largest sum of absolute terms behind an entry of J d - δ y."""
        terms = self._system.terms(np.abs(self.z) + np.abs(self._start))
        if self._system.delta is not None:
            terms += np.abs(self._system.delta * self.y)
        return float(np.max(terms))
