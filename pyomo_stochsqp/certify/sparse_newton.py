r"""The displacement of displacement.py for many variables: one sparse factorisation.

    [ M    J_A' ] [ d  ]       [ g + J'y        ]
    [ J_A  0    ] [ dy ]  = -  [ c_A - target_A ]          on the variables that are not held

With n positive and |A| negative eigenvalues x is near a minimum, and d is where it is. Where that
fails, M is replaced by

    M + 1e-6 D    D the diagonal in natural units: flat directions and dependent rows, which linear
                  programs are full of. The right inertia still means that no curvature is negative;
                  along a flat direction the step is as long as its slope allows
    D             its Newton step is the scaled gradient, along the rows: only first-order
                  conditions are judged

A step that leaves the bounds of a variable is made again with that variable at its bound.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kkt import REMOVED, KKTPattern, make_indefinite, with_diagonal
from ..oracle import Jacobian, Problem, Vector
from .active_set import ActiveSet
from .displacement import Displacement, curved_gap
from .replicates import quantile, standard_error
from .request import Request

Matrix = NDArray[np.float64]

#: how often variables are added to those at their bounds
ROUNDS = 8
#: what makes dependent rows solvable, relative to natural units
DEPENDENT_ROWS = 1e-8
#: curvature of flat directions, in natural units
FLAT = 1e-6


class _Model(NamedTuple):
    """A matrix in the place of M, and what the rows are relaxed by."""

    values: Vector
    guard: float
    #: it has curvature where M has none
    flat: bool = False
    #: nothing of M is left in it
    first_order: bool = False


class Newton(NamedTuple):
    """A Newton step on the KKT conditions."""

    displacement: Displacement
    #: the multipliers after it
    y: Vector
    #: whether only first-order conditions were judged
    first_order: bool


class SparseNewton:
    """Newton steps on the KKT conditions of one problem."""

    def __init__(
        self, problem: Problem, hessian_pattern: tuple[NDArray[np.intp], NDArray[np.intp]]
    ):
        self._problem = problem
        self._jacobian = Jacobian(problem)
        self._slots, indptr, self._indices = with_diagonal(*hessian_pattern, problem.n)
        self._columns = np.repeat(np.arange(problem.n), np.diff(indptr))
        self._diagonal = np.flatnonzero(self._indices == self._columns)
        pattern = KKTPattern(
            problem.n, problem.m, problem.jac_indptr, problem.jac_indices,
            hessian_indptr=indptr, hessian_indices=self._indices,
        )  # fmt: skip
        self._kkt = make_indefinite(pattern)

    def diagonal(self, M: Vector) -> Vector:
        """Of the Lagrangian's Hessian, from its stored values."""
        values = np.zeros(self._indices.size)
        values[self._slots] = M
        return values[self._diagonal]

    def displacement(
        self, at: Request, M: Vector | None, gradients: Matrix, active: ActiveSet
    ) -> Newton:
        """``gradients`` are g_i + J_i'y, one line per replicate; M is None where nobody knows."""
        n, y, rows = self._problem.n, at.y, at.values.c
        models = self._models(M, at)
        for _ in range(ROUNDS):
            steps, dy, model = self._steps(gradients, at, models, active)
            more = active.with_bounds(self._problem, at.x, steps.mean(axis=0))
            if more is active:
                break
            active = more
        held = active.held
        one = quantile(at.confidence, len(gradients))
        t = quantile(at.confidence, len(gradients), n)
        move, error = steps.mean(axis=0), standard_error(steps)
        off = np.where(active.rows, rows - active.target, 0.0)
        after = np.where(active.rows, y + dy, 0.0)
        linear = -(off @ after)
        linear_noise = one * float(standard_error(linear[:, None])[0])
        free = np.where(held, 0.0, steps)
        products = np.array([self._times(model.values, s) for s in free])
        curved, noise = curved_gap(free, products, one)
        slope = gradients.mean(axis=0) + self._jacobian.transposed(at.mean.J, dy)
        at_bounds = float(np.abs(slope * active.shift).sum())
        idle = self._idle(rows.mean(axis=0), y, active)
        idle += self._pulling_inwards(at, slope + self._times(model.values, move), after, active)
        found = Displacement(
            steps=steps,
            move=move,
            error=error,
            bound=np.abs(move) + t * error,
            gap=curved + abs(float(linear.mean())) + linear_noise + at_bounds + idle,
            gap_noise=noise + linear_noise,
            along=curved + at_bounds + idle,
            along_noise=noise,
            flat=int(model.flat),
            descent=None,
        )
        return Newton(found, after, model.first_order)

    def _models(self, M: Vector | None, at: Request) -> list[_Model]:
        """The Lagrangian's Hessian, and what takes its place where it does not do."""
        natural = at.size / at.length**2
        diagonal = np.zeros(self._indices.size)
        diagonal[self._diagonal] = natural
        largest = float(np.abs(at.mean.J).max(initial=0.0))
        guard = DEPENDENT_ROWS * largest**2 / max(float(natural.min()), 1e-300)
        scaled = [
            _Model(diagonal, 0.0, first_order=True),
            _Model(diagonal, guard, first_order=True),
        ]
        if M is None:
            return scaled
        values = np.zeros(self._indices.size)
        values[self._slots] = np.nan_to_num(M, nan=0.0, posinf=0.0, neginf=0.0)
        flat = _Model(values + FLAT * diagonal, guard, flat=True)
        return [_Model(values, 0.0), flat, *scaled]

    def _steps(
        self, gradients: Matrix, at: Request, models: list[_Model], active: ActiveSet
    ) -> tuple[Matrix, Vector, _Model]:
        """The step of every replicate, what it adds to the multipliers (their mean), and the first
        model that has one."""
        n, J, shift = self._problem.n, at.mean.J, active.shift
        a = np.where(active.held, REMOVED, 0.0)
        for model in models:
            b = np.where(active.rows, model.guard, REMOVED)
            positive = self._kkt.factorise(model.values, J, a, b)
            if positive is None or (positive != n and not model.first_order):
                continue
            shifted = self._times(model.values, shift)
            steps, more = [], np.zeros(self._problem.m)
            for gradient, c in zip(gradients, at.values.c, strict=True):
                r_x = np.where(active.held, 0.0, -(gradient + shifted))
                off = c - active.target + self._jacobian.times(J, shift)
                found = self._kkt.solve(r_x, np.where(active.rows, -off, 0.0))
                if found is None:
                    break
                steps.append(np.where(active.held, shift, found[0]))
                more += found[1]
            if len(steps) == len(gradients):
                return np.array(steps), more / len(steps), model
        last = models[-1]
        natural = last.values[self._diagonal]
        # nothing holds a variable without any curvature: as far as is known, it goes to infinity
        with np.errstate(divide="ignore", invalid="ignore"):
            towards = np.where(active.held, shift, -gradients / natural)
        return towards, np.zeros(self._problem.m), last

    def _times(self, values: Vector, d: Vector) -> Vector:
        off = self._indices != self._columns
        with np.errstate(invalid="ignore"):
            left, right = values * d[self._columns], (values * d[self._indices])[off]
        product: Vector = np.zeros(d.size)
        product += np.bincount(self._indices, left, d.size)
        return product + np.bincount(self._columns[off], right, d.size)

    def _idle(self, c: Vector, y: Vector, active: ActiveSet) -> float:
        """Multipliers of rows that are not active: what complementarity leaves of the gap."""
        bound = np.where(y > 0.0, self._problem.row_upper, self._problem.row_lower)
        slack = np.where(np.isfinite(bound) & ~active.rows, np.abs(c - bound), 0.0)
        return float(np.abs(y) @ slack)

    def _pulling_inwards(self, at: Request, pull: Vector, y: Vector, active: ActiveSet) -> float:
        """Rows and variables that were taken to be at their bounds, but whose multipliers after the
        step pull them away from there: what could be gained over their natural lengths."""
        inwards = active.held & (pull * active.bound > 0.0)
        inwards &= self._problem.x_lower < self._problem.x_upper
        equality = self._problem.row_lower == self._problem.row_upper
        slackening = active.rows & ~equality & (y * active.side < 0.0)
        return float((np.abs(pull) * at.length)[inwards].sum()) + float(
            (np.abs(y) * at.row_size)[slackening].sum()
        )
