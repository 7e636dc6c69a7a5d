r"""The quadratic model of a program at a point, in natural units, and its minimiser in a box.

With the lengths s, t and the size F of lengths.py, rows in units r_i = 1 / max_j |J_ij| s_j:

    min_p   (g s)'p / F + 1/2 p'H p + rho sum_i dist(r_i (c_i + J_i S p), r_i [lower_i, upper_i])
    s.t.    x_lower - x <= S p <= x_upper - x,      |s_j p_j| <= radius * min(s_j, 10 b_j)

H is the Lagrangian's Hessian S M S / F, made positive definite. rho starts at 1000 and is raised as
long as that leaves less violation and the radius does not stop it. d = S p, and y = F r times the
multipliers of the scaled rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..kkt import KKTPattern, make_backend
from ..oracle import Jacobian, Problem, Vector
from ..qp import ElasticQP, QPSolution, WarmStart
from .convexify import convexified
from .dense_point import DensePoint
from .lengths import Lengths, lengths

Matrix = NDArray[np.float64]

#: first penalty on violation, its last, the factor between, and the gain that makes it worthwhile
RHO, RHO_LIMIT, RAISE, WORTHWHILE = 1e3, 1e9, 100.0, 0.9
#: violation left by the subproblem that counts as none
LEFT = 1e-9
#: a step goes no further than this multiple of the known distance b_j
KNOWN_REACH = 10.0
#: a row whose gradient vanishes is measured by this share of its size
LEAST_ROW = 1e-6
#: a variable this near to the radius is stopped by it
NEAR = 0.99
TINY = 1e-300


@dataclass(frozen=True)
class NewtonStep:
    """The minimiser of the model, in the user's units."""

    x: Vector
    d: Vector
    y: Vector
    #: the definite H, in the user's units
    H: Matrix
    lengths: Lengths
    #: the box of radius 1
    box: Vector
    #: some variable is stopped by the radius
    at_radius: bool
    #: violation that the subproblem leaves, in units of the rows
    left: float
    #: the penalty on violation, for every row
    penalty: Vector
    #: rows whose multiplier is at that limit, and so says nothing: they are left violated
    limited: NDArray[np.bool_]
    failed: bool
    accurate: bool
    warm: WarmStart | None


class NewtonModel:
    """Makes steps for the points of one problem; rows may be relaxed on the way."""

    def __init__(self, problem: Problem):
        self._problem = problem
        self._equality = problem.row_lower == problem.row_upper
        self._pattern = KKTPattern.full(problem.n, problem.m, hessian_dense=True)
        self._indptr = self._pattern.indptr.astype(np.intp)
        self._indices = self._pattern.indices.astype(np.intp)
        self._backend = make_backend(self._pattern, "dense")
        self._row_size = problem.bound_sizes
        #: with its rows as relaxed
        self.problem = problem

    def relax(self, by: Vector) -> None:
        """Move the bounds of the rows apart by so much, on each side."""
        self.problem = self._problem.relaxed(by)

    def step(
        self,
        point: DensePoint,
        M: Matrix,
        y: Vector,
        largest_x: Vector,
        least_objective: float,
        radius: float,
        warm: WarmStart | None = None,
        c: Vector | None = None,
    ) -> NewtonStep:
        """The step from a point. ``y`` tells which rows are active, ``c`` replaces their values."""
        problem, x = self._problem, point.x
        scale = lengths(
            problem, point.g, point.c, point.J, M.diagonal(), largest_x, least_objective
        )
        s, b, F = scale
        J = point.J * s
        size = np.maximum(self._row_size, np.abs(point.c))
        r = 1.0 / np.maximum(np.maximum(np.abs(J).max(axis=1, initial=0.0), LEAST_ROW * size), TINY)
        J = J * r[:, None]
        M = M * np.outer(s, s) / F
        pull = point.g + point.J.T @ y
        at_bound = ((x <= problem.x_lower) & (pull > 0.0)) | ((x >= problem.x_upper) & (pull < 0.0))
        active = (y != 0.0) | self._equality
        H = convexified(M, np.concatenate((J[active], np.eye(x.size)[at_bound])))
        box = np.minimum(s, KNOWN_REACH * b)
        lower = np.maximum(problem.x_lower - x, -radius * box)
        upper = np.minimum(problem.x_upper - x, radius * box)
        found, rho = self._minimised(
            point.g * s / F, H, (point.c if c is None else c) * r, J, r, lower / s, upper / s,
            radius * box / s, warm,
        )  # fmt: skip
        d = found.d * s
        # bounds are met exactly, not but for a division and a product
        d = np.where(found.d <= lower / s, lower, np.where(found.d >= upper / s, upper, d))
        return NewtonStep(
            x=x,
            d=d,
            y=found.y * r * F,
            H=H * F / np.outer(s, s),
            lengths=scale,
            box=box,
            at_radius=bool((np.abs(d) >= NEAR * radius * box).any()),
            left=found.left,
            penalty=rho * r * F,
            limited=np.abs(found.y) >= 0.999 * rho,
            failed=found.status == "failed",
            accurate=found.status == "solved",
            warm=found.warm_start(),
        )

    def _minimised(
        self,
        g: Vector,
        H: Matrix,
        c: Vector,
        J: Matrix,
        r: Vector,
        lower: Vector,
        upper: Vector,
        reach: Vector,
        warm: WarmStart | None,
    ) -> tuple[QPSolution, float]:
        """(solution, the penalty it was found with)."""
        n, m = g.size, c.size
        scaled = Problem(
            np.zeros(n), lower, upper, self.problem.row_lower * r, self.problem.row_upper * r,
            self._indptr, self._indices, np.zeros(m, dtype=bool),
        )  # fmt: skip
        qp = ElasticQP(scaled, self._backend, Jacobian(scaled), self._pattern)
        rho = found_with = RHO
        values = J.ravel()
        found = qp.solve(g, H, c, values, lower, upper, rho, warm)
        while found.status != "failed" and found.left > LEFT and rho < RHO_LIMIT:
            if (np.abs(found.d) >= NEAR * reach).any():
                break  # more would be possible only with a larger radius
            rho *= RAISE
            other = qp.solve(g, H, c, values, lower, upper, rho, found.warm_start())
            if other.status == "failed":
                break
            better = other.left < WORTHWHILE * found.left
            if other.left < found.left:
                found, found_with = other, rho
            if not better:
                break
        return found, found_with
