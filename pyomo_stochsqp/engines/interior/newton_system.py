r"""The primal-dual system of an iteration, with the inertia that makes its solution a descent step.

    [ W + Sigma_x + dw I     J'                    ] [ dx ]       [ r_x                ]
    [ J                     -dc - 1/(Sigma_s + dw) ] [ dy ]  = -  [ h + r_s / (Sigma_s + dw) ]

(the second correction for inequality rows only: their slacks are eliminated,
ds = (dy - r_s) / (Sigma_s + dw)). It needs n positive and m negative eigenvalues. If it has not,
dw is raised until it has; if J has dependent rows, dc > 0 takes its place (Waechter and Biegler,
section 3.1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...kkt import REMOVED, KKTPattern, make_indefinite, with_diagonal
from ...nlp import NLP
from ...oracle import Vector
from .barrier import Barrier

#: first dw, its growth before and after a first success, its decay, and its limits
FIRST, GROW_FIRST, GROW, DECAY = 1e-4, 100.0, 8.0, 1.0 / 3.0
SMALLEST, LARGEST = 1e-20, 1e40
#: dc = this * mu^(1/4)
DEPENDENT = 1e-8
#: normalised equality rows with a smaller singular value are dependent (where that is affordable)
RANK = 1e-8
RANK_LIMIT = 200
MAX_TRIES = 60


@dataclass(frozen=True)
class NewtonDirection:
    """(dx, ds) and dy, and the dw that was needed."""

    dv: Vector
    dy: Vector
    shift: float


class NewtonSystem:
    """Factorisations for one program."""

    def __init__(self, nlp: NLP, barrier: Barrier):
        problem = nlp.problem
        self._nlp = nlp
        self._barrier = barrier
        self._problem = problem
        indptr, indices = nlp.hessian_pattern()
        self._slots, indptr, indices = with_diagonal(indptr, indices, problem.n)
        self._entries = indices.size
        pattern = KKTPattern(
            problem.n, problem.m, problem.jac_indptr, problem.jac_indices,
            hessian_indptr=indptr, hessian_indices=indices,
        )  # fmt: skip
        self._kkt = make_indefinite(pattern)

    def set_point(self, W: Vector, J: Vector) -> None:
        """Take the derivatives at a point; W on the pattern of the program's Hessian."""
        self._W = np.zeros(self._entries)
        self._W[self._slots] = W
        self._J = J
        self._deficient = self._dependent_rows(J)

    def direction(
        self, r: Vector, h: Vector, sigma: Vector, mu: float, last_shift: float, least: float = 0.0
    ) -> NewtonDirection | None:
        """The step for these residuals; None if no shift helps. ``least`` is the first to try."""
        shift, dc = least, 0.0
        for _ in range(MAX_TRIES):
            found = self._try(sigma, shift, dc)
            if found:
                step = self.solve(r, h)
                if step is not None:
                    return NewtonDirection(*step, shift)
            if found is None and dc == 0.0:
                dc = DEPENDENT * mu**0.25
                continue
            if shift == 0.0:
                shift = FIRST if last_shift == 0.0 else max(SMALLEST, DECAY * last_shift)
            else:
                shift *= GROW_FIRST if last_shift == 0.0 else GROW
            if shift > LARGEST:
                break
        return None

    def solve(self, r: Vector, h: Vector) -> tuple[Vector, Vector] | None:
        """Another right-hand side for the last factorisation."""
        barrier, n = self._barrier, self._problem.n
        rows = barrier.inequality
        r_x = -np.where(barrier.fixed, 0.0, r[:n])
        r_y = -h.copy()
        r_y[rows] -= r[n:] / self._slack_weight
        found = self._kkt.solve(r_x, r_y)
        if found is None:
            return None
        dx, dy = found
        ds = (dy[rows] - r[n:]) / self._slack_weight
        return np.concatenate((np.where(barrier.fixed, 0.0, dx), ds)), dy

    def least_squares_multipliers(self, gradient: Vector, J: Vector) -> Vector | None:
        """argmin |gradient + J'y - y_slacks|: multipliers to begin with."""
        barrier, n = self._barrier, self._problem.n
        self.set_point(np.zeros(self._slots.size), J)
        one = np.where(barrier.fixed, REMOVED, 1.0)
        b = np.where(barrier.equality, DEPENDENT if self._deficient else 0.0, 1.0)
        if self._kkt.factorise(self._W, J, one, b) is None:
            return None
        r_y = np.zeros(self._problem.m)
        r_y[barrier.inequality] = -gradient[n:]
        found = self._kkt.solve(-np.where(barrier.fixed, 0.0, gradient[:n]), r_y)
        return None if found is None else found[1]

    def _try(self, sigma: Vector, shift: float, dc: float) -> bool | None:
        """Whether the inertia is right; None if the matrix is singular."""
        barrier, n = self._barrier, self._problem.n
        weight = sigma[n:] + shift
        if weight.size and float(weight.min()) <= 0.0:
            return False
        self._slack_weight = weight
        a = np.where(barrier.fixed, REMOVED, sigma[:n] + shift)
        b = np.full(self._problem.m, dc)
        b[barrier.inequality] += 1.0 / weight
        if self._deficient and dc == 0.0:
            return None
        positive = self._kkt.factorise(self._W, self._J, a, b)
        return None if positive is None else positive == n

    def _dependent_rows(self, J: Vector) -> bool:
        """Whether the equality rows depend on each other, found out where that is cheap."""
        equality, problem = self._barrier.equality, self._problem
        if not equality.any() or problem.n + problem.m > RANK_LIMIT:
            return False
        A = np.zeros((problem.m, problem.n))
        A[problem.jac_rows, problem.jac_indices] = J
        A = A[equality]
        if A.shape[0] > A.shape[1] or not np.isfinite(A).all():
            return True
        A = A / np.maximum(np.linalg.norm(A, axis=1), 1e-300)[:, None]
        return float(np.linalg.svd(A, compute_uv=False).min()) < RANK
