r"""The displacement of displacement.py for many variables: one sparse factorisation.

    [ M    J_A' ] [ d  ]       [ g + J'y        ]
    [ J_A  0    ] [ dy ]  = -  [ c_A - target_A ]          on the variables that are not held

With n positive and |A| negative eigenvalues x is near a minimum, and d is where it is. Otherwise
(flat directions, dependent rows) only first-order conditions are judged: M is replaced by its
diagonal in natural units, whose Newton step is the scaled gradient, along the rows. A step that
leaves the bounds of a variable is made again with that variable at its bound.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..kkt import REMOVED, KKTPattern, make_indefinite, with_diagonal
from ..oracle import Jacobian, Problem, Vector
from .active_set import ActiveSet
from .displacement import Displacement, curved_gap
from .replicates import quantile, standard_error

Matrix = NDArray[np.float64]

#: how often variables are added to those at their bounds
ROUNDS = 8
#: what makes dependent rows solvable, relative to natural units
DEPENDENT_ROWS = 1e-8


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
        self,
        x: Vector,
        gradients: Matrix,
        rows: Matrix,
        M: Vector,
        J: Vector,
        y: Vector,
        active: ActiveSet,
        length: Vector,
        objective: float,
        confidence: float,
    ) -> tuple[Displacement, bool]:
        """(where a solution is, whether only first-order conditions were judged).

        ``gradients`` are g_i + J_i'y and ``rows`` c_i, one line per replicate.
        """
        values = np.zeros(self._indices.size)
        values[self._slots] = np.nan_to_num(M, nan=0.0, posinf=0.0, neginf=0.0)
        n, diagonal = self._problem.n, objective / length**2
        for _ in range(ROUNDS):
            steps, first_order = self._steps(gradients, rows, values, J, active, diagonal)
            more = active.with_bounds(self._problem, x, steps.mean(axis=0))
            if more is active:
                break
            active = more
        held = active.held
        if first_order:
            values = np.zeros(self._indices.size)
            values[self._diagonal] = objective / length**2
        one = quantile(confidence, len(gradients))
        t = quantile(confidence, len(gradients), n)
        move, error = steps.mean(axis=0), standard_error(steps)
        off = np.where(active.rows, rows - active.target, 0.0)
        linear = -(off @ y)
        linear_noise = one * float(standard_error(linear[:, None])[0])
        free = np.where(held, 0.0, steps)
        products = np.array([self._times(values, s) for s in free])
        curved, noise = curved_gap(free, products, one)
        at_bounds = float(np.abs(gradients.mean(axis=0) * active.shift).sum())
        idle = self._idle(rows.mean(axis=0), y, active)
        found = Displacement(
            move=move,
            error=error,
            bound=np.abs(move) + t * error,
            gap=curved + abs(float(linear.mean())) + linear_noise + at_bounds + idle,
            gap_noise=noise + linear_noise,
            along=curved + at_bounds + idle,
            along_noise=noise,
            flat=0,
            descent=None,
        )
        return found, first_order

    def _steps(
        self,
        gradients: Matrix,
        rows: Matrix,
        values: Vector,
        J: Vector,
        active: ActiveSet,
        diagonal: Vector,
    ) -> tuple[Matrix, bool]:
        n = self._problem.n
        a = np.where(active.held, REMOVED, 0.0)
        plain = np.zeros(values.size)
        plain[self._diagonal] = diagonal
        scale = np.abs(J).max(initial=0.0) ** 2 / max(float(diagonal.min()), 1e-300)
        for matrix, guard in ((values, 0.0), (plain, 0.0), (plain, DEPENDENT_ROWS * scale)):
            first_order = matrix is plain
            shifted = self._times(matrix, active.shift)
            positive = self._kkt.factorise(matrix, J, a, np.where(active.rows, guard, REMOVED))
            if positive is None or (positive != n and not first_order):
                continue
            steps = []
            for gradient, c in zip(gradients, rows, strict=True):
                r_x = np.where(active.held, 0.0, -(gradient + shifted))
                off = c - active.target + self._jacobian.times(J, active.shift)
                found = self._kkt.solve(r_x, np.where(active.rows, -off, 0.0))
                if found is None:
                    break
                steps.append(np.where(active.held, active.shift, found[0]))
            if len(steps) == len(gradients):
                return np.array(steps), first_order
        steps = [np.where(active.held, active.shift, -g / diagonal) for g in gradients]
        return np.array(steps).reshape(-1, n), True

    def _times(self, values: Vector, d: Vector) -> Vector:
        off = self._indices != self._columns
        product: Vector = np.zeros(d.size)
        product += np.bincount(self._indices, values * d[self._columns], d.size)
        return product + np.bincount(self._columns[off], (values * d[self._indices])[off], d.size)

    def _idle(self, c: Vector, y: Vector, active: ActiveSet) -> float:
        """Multipliers of rows that are not active: what complementarity leaves of the gap."""
        bound = np.where(y > 0.0, self._problem.row_upper, self._problem.row_lower)
        slack = np.where(np.isfinite(bound) & ~active.rows, np.abs(c - bound), 0.0)
        return float(np.abs(y) @ slack)
