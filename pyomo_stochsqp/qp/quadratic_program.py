r"""One elastic quadratic program, and what it means to solve it.

    min_d  g'd + 1/2 d'Hd + rho sum_j dist(J_j d, [a_j, b_j])      s.t.  l <= d <= u

with a = row_lower - c and b = row_upper - c, entries of a, b, l, u possibly infinite, and H
positive definite. Every d of the box is feasible, whatever the rows say, so there is exactly one
solution, and d is that solution if and only if multipliers y of rows and z of bounds exist with

    g + H d + J'y + z = 0,
    z_i <= 0 at d_i = l_i,   z_i >= 0 at d_i = u_i,   z_i = 0 between,
    y_j = rho above b_j,   in [0, rho] at b_j,   0 between,   in [-rho, 0] at a_j,   -rho below a_j.

Any y within these ranges bounds the value from below by the dual function

    theta(y) = min_{l <= d <= u} { (g + J'y)'d + 1/2 d'Hd }  -  sum_j max(b_j y_j, a_j y_j).
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dnrm2

from ..oracle import Jacobian, Vector
from .quadratic_term import QuadraticTerm

Mask = NDArray[np.bool_]

#: ``solved``: the conditions above hold to rounding; ``inaccurate``: they hold only roughly;
#: ``failed``: non-finite data or H not positive definite; d is then the box's point nearest to 0
Status = Literal["solved", "inaccurate", "failed"]


def norm(vector: Vector) -> float:
    """The 2-norm, in a fifth of the time that NumPy's takes for a short vector."""
    return dnrm2(vector) if vector.size else 0.0


#: steps are shorter than this; a bound further away would only spoil the scale of a program
REACH = 1e8


class QP:
    """The data of one program; arrays are the caller's and stay unchanged."""

    __slots__ = ("J", "_matrix", "a", "b", "g", "hessian", "jacobian", "lower", "rho", "upper")

    def __init__(
        self,
        g: Vector,
        hessian: QuadraticTerm,
        J: Vector,
        a: Vector,
        b: Vector,
        lower: Vector,
        upper: Vector,
        rho: float,
        jacobian: Jacobian,
    ):
        self.g = g
        self.hessian = hessian
        self.J = J
        self.a = a
        self.b = b
        self.lower = lower
        self.upper = upper
        self.rho = rho
        self.jacobian = jacobian
        self._matrix = J.reshape(jacobian.shape) if jacobian.dense else None

    def times(self, d: Vector) -> Vector:
        """J d."""
        if self._matrix is not None:
            return self._matrix.dot(d)
        return self.jacobian.times(self.J, d)

    def pull(self, y: Vector) -> Vector:
        """g + J'y."""
        if self._matrix is not None:
            return self.g + y.dot(self._matrix)
        return self.g + self.jacobian.transposed(self.J, y)

    def absolute(self) -> QP:
        """The same with the absolute values of g and J: what sums in it round to is their share."""
        return QP(np.abs(self.g), self.hessian, np.abs(self.J), self.a, self.b, self.lower,
                  self.upper, self.rho, self.jacobian)  # fmt: skip

    def without_distant_rows(self) -> QP:
        """The same program without row bounds that no d of length ``REACH`` meets."""
        lengths = REACH * self.jacobian.times(np.abs(self.J), np.ones(self.g.size))
        a, b = (
            np.where(self.a < -lengths, -np.inf, self.a),
            np.where(self.b > lengths, np.inf, self.b),
        )
        return QP(self.g, self.hessian, self.J, a, b, self.lower, self.upper, self.rho,
                  self.jacobian)  # fmt: skip

    def in_box(self, d: Vector) -> Vector:
        return np.minimum(np.maximum(d, self.lower), self.upper)

    def in_rows(self, w: Vector) -> Vector:
        """The values nearest to w that the rows allow."""
        return np.minimum(np.maximum(w, self.a), self.b)

    def distances(self, w: Vector) -> Vector:
        """dist(w_j, [a_j, b_j]) with sign: positive above b_j, negative below a_j."""
        return w - self.in_rows(w)

    def objective(self, d: Vector) -> float:
        quadratic = float(self.g @ d) + 0.5 * float(d @ self.hessian.times(d))
        return quadratic + self.rho * float(np.abs(self.distances(self.times(d))).sum())

    def unconstrained_scale(self) -> float:
        """The size that the rows' values have without the rows: what errors are relative to."""
        free = self.in_box(-self.g / self.hessian.diagonal)
        nothing = np.minimum(np.maximum(0.0, self.a), self.b)
        return norm(self.J) * norm(free) + norm(nothing)

    def residual(self, d: Vector, y: Vector) -> float:
        """How far (d, y) is from the conditions above, relative to the terms in them.

        A multiplier is taken at its word: the row must sit at the bound that its sign names.
        """
        pull = self.pull(y)
        gradient = pull + self.hessian.times(d)
        h = self.hessian.diagonal
        off = np.abs(h * (d - self.in_box(d - gradient / h))).max(initial=0.0)
        size = np.abs(self.g).max(initial=0.0) + np.abs(pull - self.g).max(initial=0.0)
        w = self.times(d)
        target = np.where(y > 0.0, self.b, np.where(y < 0.0, self.a, w + 0.0))
        miss = w - np.minimum(np.maximum(target, self.a), self.b)
        pushing = (np.abs(y) >= self.rho) & (y * miss > 0.0)
        rows = np.abs(np.where(pushing, 0.0, miss)).max(initial=0.0)
        tiny = np.finfo(float).tiny
        return float(off / (size + tiny) + rows / (self.unconstrained_scale() + tiny))


class WarmStart(NamedTuple):
    """What a program takes over from the solution of the one before."""

    y: Vector
    rho: float
    unhindered: bool = False
    bounds: Vector | None = None
    rows: Vector | None = None


class QPSolution:
    """A solution with its multipliers, and how it was found."""

    __slots__ = (
        "bounds",
        "d",
        "iterations",
        "left",
        "method",
        "qp",
        "rows",
        "status",
        "unhindered",
        "y",
    )

    def __init__(
        self,
        qp: QP,
        d: Vector,
        y: Vector,
        left: float,
        method: str,
        iterations: int,
        status: Status = "solved",
        bounds: Vector | None = None,
        rows: Vector | None = None,
        unhindered: bool = False,
    ):
        self.qp = qp
        self.d = d
        self.y = y
        #: sum_j dist(J_j d, [a_j, b_j]), the infeasibility that the program leaves
        self.left = left
        self.method = method
        self.iterations = iterations
        self.status: Status = status
        #: which bounds and rows are active (see active_set.py), where the method knows
        self.bounds = bounds
        self.rows = rows
        #: no bound is active and no multiplier at its limit, as far as the method knows
        self.unhindered = unhindered

    def warm_start(self) -> WarmStart | None:
        """What the next program starts from; a failed one is no start."""
        if self.status == "failed":
            return None
        return WarmStart(self.y, self.qp.rho, self.unhindered, self.bounds, self.rows)

    @property
    def z(self) -> Vector:
        """Multipliers of the bounds, z = -(g + H d + J'y), zero off the bounds."""
        qp, d = self.qp, self.d
        z = -(qp.pull(self.y) + qp.hessian.times(d))
        return np.where((d <= qp.lower) | (d >= qp.upper), z, 0.0)
