r"""Curvature from second derivatives: the Hessian of the Lagrangian, made positive definite.

    M = grad^2 f(x) + sum_i y_i grad^2 c_i(x)

at the end of the last step, with that step's multipliers: known before the next iteration is
sampled. M is a running mean over batches.

A subproblem needs H > 0, and M need not be. What is changed should not change the step more than
necessary. In this order, in units of max(1, |x_i|), until a Cholesky factor exists:

    M                                     nothing
    M + rho Q Q'                          Q: basis of the row space of J_A and I_B
    |M|, eigenvalues floored              n <= 1000 (stored as a full matrix)
    M + t I, t = 1e-4, 1e-3, ... |M|      sparse M

A are the rows with a multiplier, B the variables at a bound. Where the subproblem keeps them
active, J_A d, d_B and so Q'd are given numbers, and the added term is constant: full Newton steps
survive wherever the second-order conditions hold. It would fill a sparse M, and is left out there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import eigh, qr
from scipy.sparse import csc_array
from scipy.sparse.linalg import splu

from ..kkt import KKTPattern, with_diagonal
from ..oracle import SecondOrderOracle, Vector
from ..qp.quadratic_term import quadratic_form, quadratic_term
from .curvature import ZETA, Curvature, CurvatureState, Lesson, first_guess, well_conditioned

#: weight of the newest Hessian in the mean over batches
AVERAGING = 0.1
#: smallest eigenvalue left by a repair, relative to the largest
FLOOR = 1e-4
#: smallest pivot of a matrix that needs no repair, relative to the largest
WORST_PIVOT = 1e-12
#: without any curvature the next steps are longer by this factor's reciprocal
FADE = 0.1
#: pivot of a normal that depends on the others
DEPENDENT = 1e-10
#: rho and t, relative to |M|
PENALTIES = (1.0, 10.0, 100.0)
SHIFTS = (0.0, *(10.0**k for k in range(-4, 4)))


class LagrangianHessian(Curvature):
    """H from second derivatives; full matrices, or values on a sparse pattern."""

    def __init__(self, oracle: SecondOrderOracle, full: bool):
        problem = oracle.problem
        self._problem = problem
        self._full = full
        self._slots, indptr, indices = with_diagonal(*oracle.hessian_pattern(), problem.n)
        #: H's part of the KKT pattern
        self.form: dict[str, Any] = (
            {"hessian_dense": True}
            if full
            else {"hessian_indptr": indptr, "hessian_indices": indices}
        )
        self._pattern = KKTPattern(
            problem.n, problem.m, problem.jac_indptr, problem.jac_indices, **self.form
        )
        self._indptr, self._indices = indptr, indices
        self._columns = np.repeat(np.arange(problem.n), np.diff(indptr))

    def initial(self, size: float) -> CurvatureState:
        return CurvatureState(first_guess(size))

    def updated(self, state: CurvatureState, lesson: Lesson) -> CurvatureState:
        seen = lesson.hessian()
        size = float(np.abs(seen).max(initial=0.0))
        if not size < np.inf:  # outside the domain of a second derivative
            return state
        if size == 0.0:  # linear so far: ever longer steps
            length = quadratic_form(state.H, lesson.s, self._pattern)
            h = FADE * length / max(float(lesson.s @ lesson.s), ZETA)
            return CurvatureState(max(h, ZETA))
        values = np.zeros(self._indices.size)
        values[self._slots] = seen
        pairs = state.pairs + 1
        if state.memory is not None:
            w = max(1.0 / pairs, AVERAGING)
            values = (1.0 - w) * state.memory + w * values
        return CurvatureState(self._repaired(values, lesson), pairs, values)

    def _repaired(self, values: Vector, lesson: Lesson) -> Vector:
        return self._repaired_full(values, lesson) if self._full else self._repaired_sparse(values)

    def _shifted(self, H: Vector, extra: float) -> Any:
        n = self._problem.n
        return quadratic_term(H, n, self._pattern).plus(np.full(n, extra))

    def _repaired_full(self, values: Vector, lesson: Lesson) -> Vector:
        n = self._problem.n
        M = np.zeros((n, n))
        M[self._indices, self._columns] = values
        M[self._columns, self._indices] = values
        units = np.maximum(np.abs(lesson.end), 1.0)
        squares = np.outer(units, units)
        if not np.abs(M).max() < np.finfo(float).max / squares.max():
            units, squares = np.ones(n), np.ones((n, n))
        scaled = squares * M
        if well_conditioned(scaled):
            return M
        return repaired(scaled, self._held(lesson, units)) / squares

    def _held(self, lesson: Lesson, units: Vector) -> Vector:
        """An orthonormal basis of the directions that active rows and bounds determine."""
        problem, x = self._problem, lesson.end
        J = np.zeros((problem.m, problem.n))
        J[problem.jac_rows, problem.jac_indices] = lesson.there.J
        at_bound = (x <= problem.x_lower) | (x >= problem.x_upper)
        normals = np.concatenate((J[lesson.y != 0.0] * units, np.eye(problem.n)[at_bound]))
        lengths = np.linalg.norm(normals, axis=1)
        normals = normals[lengths > 0.0] / lengths[lengths > 0.0, None]
        if not normals.size:
            return normals.T
        Q, R, _ = qr(normals.T, mode="economic", pivoting=True)
        sizes = np.abs(R.diagonal())
        return Q[:, : int(np.sum(sizes > DEPENDENT * sizes[0]))]

    def _repaired_sparse(self, values: Vector) -> Vector:
        size = float(np.abs(values).max())
        for shift in SHIFTS:
            shifted: Vector = self._shifted(values, shift * size)
            if self._positive_definite(shifted):
                return shifted
        return self._shifted(np.zeros_like(values), size)

    def _positive_definite(self, values: Vector) -> bool:
        """Whether all pivots of an LDL' are positive; off-diagonal pivoting is switched off."""
        n = self._problem.n
        upper = csc_array((values, self._indices, self._indptr), shape=(n, n))
        diagonal = upper.diagonal()
        if not float(diagonal.min()) > WORST_PIVOT * float(diagonal.max()):
            return False
        whole: Any = upper + upper.T
        whole.setdiag(diagonal)
        try:
            factors = splu(
                whole.tocsc(),
                permc_spec="MMD_AT_PLUS_A",
                diag_pivot_thresh=0.0,
                options={"SymmetricMode": True},
            )
        except RuntimeError:  # singular
            return False
        pivots = factors.U.diagonal()
        return float(pivots.min()) > WORST_PIVOT * float(pivots.max())


def repaired(M: Vector, Q: Vector) -> Vector:
    """M made positive definite, if possible by a multiple of QQ'."""
    size, projector = np.abs(M).max(), Q @ Q.T
    for penalty in PENALTIES if Q.size else ():
        H = M + penalty * size * projector
        if well_conditioned(H):
            return H
    eigenvalues, vectors = eigh(M)
    magnitudes = np.abs(eigenvalues)
    magnitudes = np.maximum(magnitudes, FLOOR * magnitudes.max())
    return (vectors * magnitudes) @ vectors.T
