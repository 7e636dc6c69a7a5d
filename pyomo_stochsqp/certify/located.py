r"""Where the nearest solution is, with few variables or with many.

Full matrices: the quadratic model of the pooled replicates says which rows and bounds are active
and gives the multipliers. If the replicates cannot tell whether a row or bound is active, both
cases are computed and the worse counts.

Sparse matrices: the multipliers and the active set are those that the engine has found.

Many variables have sparse matrices; full ones are asked, too, where those say no more than that x
is stationary. Few variables have full ones, except where values are exact and the engine's
multipliers say at once that x is a solution. Where the quadratic program of full matrices is too
degenerate to be solved accurately, sparse ones must do.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..engines.dense_point import DensePoint, Entries, FullHessian
from ..engines.newton_model import NewtonModel, NewtonStep
from ..nlp import NLP
from ..oracle import Jacobian, Problem, Vector
from .active_set import ActiveSet, Mask, active_set
from .displacement import DEPENDENT, Displacement, Linearised, displacement
from .replicates import Values, quantile, standard_error
from .request import Request
from .sparse_newton import SparseNewton
from .spreads import single

#: matrices are full up to so many variables; beyond, if so much of them is stored, or as a last
#: resort up to so many
FEW, DENSE, LARGEST_FULL = 60, 0.2, 300
#: radius in natural units, far beyond anything a certificate could pass
UNBOUNDED = 1e12
#: a vector is in the span of the active rows if this share of it, at most, is not
ALONG = 1e-6
#: displacements and gaps up to this share of their sizes make a point a solution
NEARBY = 1e-4
#: a variable is as good as zero up to so many standard errors
BLURRED = 10.0


@dataclass(frozen=True)
class Located:
    """Multipliers at x, and the displacement to a solution."""

    y: Vector
    displacement: Displacement
    #: g_i + J_i'y of every replicate
    gradients: NDArray[np.float64]
    #: diagonal of the Lagrangian's Hessian
    curvature: Vector
    #: standard deviation of d over single scenarios, where x is as good as zero; elsewhere 0
    spread: Vector
    first_order: bool = False


class Locator:
    """Locates solutions of one problem: full matrices or sparse ones first, as suits them."""

    def __init__(self, problem: Problem):
        self._sparse = SparseMatrices(problem)
        self._full = FullMatrices(problem) if problem.n <= LARGEST_FULL else None
        self._few = problem.n <= FEW

    def located(self, nlp: NLP, at: Request) -> Located:
        if self._full is None:
            return self._sparse.located(nlp, at)
        full_first = self._few or _is_dense(nlp)
        found = None
        if not full_first or at.values.count == 1:
            found = self._sparse.located(nlp, at)
            if not found.first_order and (not full_first or _at_solution(found, at)):
                return found
        return self._full.located(nlp, at) or found or self._sparse.located(nlp, at)


def _at_solution(found: Located, at: Request) -> bool:
    """Whether x is a solution but for a small displacement and gap."""
    place = found.displacement
    return place.gap <= NEARBY * at.size and bool((place.bound <= NEARBY * at.length).all())


def _as_good_as_zero(at: Request, found: Displacement) -> Mask:
    """Variables that sampling cannot tell from zero: they have no size of their own."""
    own = np.maximum(np.abs(at.x), np.abs(at.x + found.move))
    return own <= BLURRED * found.error


def _is_dense(nlp: NLP) -> bool:
    """Whether much of the Lagrangian's Hessian and of the Jacobian is stored."""
    if not nlp.second_order:
        return True
    n, m = nlp.problem.n, nlp.problem.m
    stored = 2 * (nlp.hessian_pattern()[1].size + nlp.problem.jac_indices.size)
    return stored > DENSE * (n + m) ** 2


class FullMatrices:
    """By the quadratic model of the replicates."""

    def __init__(self, problem: Problem):
        self._problem = problem
        self._entries = Entries(problem)
        self._jacobian = Jacobian(problem)
        self._equality = problem.row_lower == problem.row_upper

    def located(self, nlp: NLP, at: Request) -> Located | None:
        """None if the quadratic program could not be solved accurately."""
        point = DensePoint(at.x, at.mean, self._entries)
        M = FullHessian(nlp).at(at.x, at.y)
        model = NewtonModel(self._problem)
        if at.relaxed is not None:
            model.relax(at.relaxed)
        gradients = lagrangian_gradients(at.values, self._jacobian, at.y)
        guess = active_at(self._problem, at, gradients).guess()
        step = model.step(point, M, at.y, at.known, at.objective, UNBOUNDED, guess)
        if not step.accurate:
            return None
        y = self._multipliers(point, M, step)
        linearised = self._linearised(at, point, M, y, step, model)
        found = self._displacement(at, linearised, step)
        zero = _as_good_as_zero(at, found)
        spread = np.zeros(at.x.size)
        if zero.any() and at.pairs is not None:
            pairs = replace(
                linearised,
                gradients=lagrangian_gradients(at.pairs, self._jacobian, y),
                rows=at.pairs.c,
            )
            spread[zero] = single(self._first(at, pairs, step).steps)[zero]
        return Located(y, found, linearised.gradients, M.diagonal(), spread)

    def _multipliers(self, point: DensePoint, M: NDArray[np.float64], step: NewtonStep) -> Vector:
        """Those of Newton's step with M itself.

        What was added to make it definite acts along the active rows: not on the step, but on
        their multipliers.
        """
        y, s = step.y, step.lengths.natural
        after = point.x + step.d
        free = (after > self._problem.x_lower) & (after < self._problem.x_upper)
        active = (self._equality | (y != 0.0)) & ~step.limited
        added = (((step.H - M) @ step.d) * s)[free]
        if not (active.any() and added.any()):
            return y
        A = point.J[np.ix_(active, free)] * s[free]
        unit = 1.0 / np.maximum(np.abs(A).max(axis=1, initial=0.0), 1e-300)
        normals = (A * unit[:, None]).T
        more = np.linalg.lstsq(normals, added, rcond=DEPENDENT)[0]
        if np.abs(normals @ more - added).max() > ALONG * np.abs(added).max():
            return y  # M was made definite in another way
        own = y.copy()
        own[active] += more * unit
        flipped = ~self._equality & (own * y < 0.0)
        return y if flipped.any() else own

    def _linearised(
        self,
        at: Request,
        point: DensePoint,
        M: NDArray[np.float64],
        y: Vector,
        step: NewtonStep,
        model: NewtonModel,
    ) -> Linearised:
        c = point.c
        lower, upper = model.problem.row_lower, model.problem.row_upper
        nearest = np.where(np.abs(c - lower) < np.abs(c - upper), lower, upper)
        return Linearised(
            gradients=lagrangian_gradients(at.values, self._jacobian, y),
            rows=at.values.c,
            g=point.g,
            J=point.J,
            M=M,
            y=y,
            target=np.where(y > 0.0, upper, np.where(y < 0.0, lower, nearest)),
            length=step.lengths.natural,
            known=step.lengths.known,
            objective=step.lengths.objective,
            confidence=at.confidence,
        )

    def _displacement(self, at: Request, lin: Linearised, step: NewtonStep) -> Displacement:
        problem, d, values = self._problem, step.d, at.values
        found = self._first(at, lin, step)
        if values.count < 2:
            return found
        active, held = self._active(at, lin, step)
        t_x = quantile(at.confidence, values.count, problem.n)
        t_c = quantile(at.confidence, values.count, problem.m)
        pull = lin.g + lin.J.T @ lin.y + lin.M @ d
        unsure_bound = held & (np.abs(pull) <= t_x * standard_error(lin.gradients))
        linear = at.mean.c + lin.J @ d
        slack = np.minimum(linear - problem.row_lower, problem.row_upper - linear)
        unsure_row = ~active & (slack <= t_c * standard_error(values.c))
        if not (unsure_bound.any() or unsure_row.any()):
            return found
        return found.widened(displacement(lin, active | unsure_row, d, held & ~unsure_bound))

    def _first(self, at: Request, lin: Linearised, step: NewtonStep) -> Displacement:
        """With the rows and bounds active that the quadratic model says are."""
        active, held = self._active(at, lin, step)
        return displacement(lin, active, step.d, held)

    def _active(self, at: Request, lin: Linearised, step: NewtonStep) -> tuple[Mask, Mask]:
        """(rows, variables)."""
        end = at.x + step.d
        held = (end <= self._problem.x_lower) | (end >= self._problem.x_upper)
        return self._equality | (lin.y != 0.0), held


class SparseMatrices:
    """By the multipliers of the engine."""

    def __init__(self, problem: Problem):
        self._problem = problem
        self._jacobian = Jacobian(problem)
        self._newton: SparseNewton | None = None

    def located(self, nlp: NLP, at: Request) -> Located:
        if self._newton is None:
            none = np.zeros(self._problem.n + 1, dtype=np.intp), np.zeros(0, dtype=np.intp)
            pattern = nlp.hessian_pattern() if nlp.second_order else none
            self._newton = SparseNewton(self._problem, pattern)
        problem = self._problem
        if at.relaxed is not None:
            problem = problem.relaxed(at.relaxed)
        at = replace(at, y=problem.signed(at.y))
        M = nlp.hessian(at.x, at.y) if nlp.second_order else None
        curvature = np.zeros(problem.n) if M is None else self._newton.diagonal(M)
        gradients = lagrangian_gradients(at.values, self._jacobian, at.y)
        active = active_at(problem, at, gradients)
        newton = self._newton.displacement(at, M, gradients, active)
        found = newton.displacement
        zero = _as_good_as_zero(at, found)
        spread = np.zeros(at.x.size)
        if zero.any() and at.pairs is not None:
            pairs = lagrangian_gradients(at.pairs, self._jacobian, at.y)
            other = self._newton.displacement(replace(at, values=at.pairs), M, pairs, active)
            spread[zero] = single(other.displacement.steps)[zero]
        y = problem.signed(newton.y)
        flipped = (problem.row_lower < problem.row_upper) & (y * at.y < 0.0)
        kept = np.where(flipped, at.y, y)
        return Located(kept, found, gradients, curvature, spread, newton.first_order)


def active_at(problem: Problem, at: Request, gradients: NDArray[np.float64]) -> ActiveSet:
    """What the multipliers of a request say; ``gradients`` are g_i + J_i'y."""
    return active_set(
        problem, at.x, at.mean.c, gradients.mean(axis=0), at.y, at.row_size, at.length, at.size
    )


def lagrangian_gradients(values: Values, jacobian: Jacobian, y: Vector) -> NDArray[np.float64]:
    """g_i + J_i'y, one line per replicate."""
    return np.array(
        [g + jacobian.transposed(J, y) for g, J in zip(values.g, values.J, strict=True)]
    )
