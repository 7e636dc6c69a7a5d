r"""A program in scaled units: z = x / D, rows times r, objective times s.

    g_z = s D g,      c_z = r c,      J_z = R J D,      W_z = s D W(x, y) D  with  y = r y_z / s

``automatic`` gives rows and the objective gradients of unit size at the start. A small gradient may
only mean that the start is far from where the row matters (a sphere's centre), so no row is blown
up beyond unit size of its values and bounds. Variables are scaled only where their units differ
by a factor of a thousand or more: twenty sweeps that equilibrate the columns and rows of [g; J]
(Ruiz), rounded to powers of two so that nothing is lost to rounding.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...nlp import NLP
from ...oracle import Estimate, Problem, Vector
from ...scaling import Factors, factors_of, points_near

SWEEPS = 20
#: ratio of column factors from which variables are scaled
DIFFERENT_UNITS = 1e3


class ScaledProgram:
    """An NLP in scaled units."""

    def __init__(self, nlp: NLP, factors: Factors):
        problem = nlp.problem
        self._nlp = nlp
        self.factors = factors
        self.second_order = nlp.second_order
        D, r = factors.variables, factors.rows
        self._entries = r[problem.jac_rows] * D[problem.jac_indices]
        if nlp.second_order:
            indptr, rows = nlp.hessian_pattern()
            columns = np.repeat(np.arange(problem.n), np.diff(indptr))
            self._curvature = factors.objective * D[rows] * D[columns]
        self.problem: Problem = replace(
            problem,
            x0=problem.x0 / D,
            x_lower=problem.x_lower / D,
            x_upper=problem.x_upper / D,
            row_lower=problem.row_lower * r,
            row_upper=problem.row_upper * r,
        )

    def evaluate(self, z: Vector) -> Estimate:
        e = self._nlp.evaluate(z * self.factors.variables)
        if e.issue is not None:
            return e
        s = self.factors.objective
        return Estimate(
            s * self.factors.variables * e.g,
            self.factors.rows * e.c,
            self._entries * e.J,
            None if e.f is None else s * e.f,
        )

    def hessian_pattern(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        return self._nlp.hessian_pattern()

    def hessian(self, z: Vector, y: Vector) -> Vector:
        x = z * self.factors.variables
        return self._curvature * self._nlp.hessian(x, self.factors.user_multipliers(y))


def automatic(nlp: NLP, x: Vector) -> Factors:
    """Factors from the derivatives at x and at two points near it."""
    problem = nlp.problem
    gradient, entries = np.zeros(problem.n), np.zeros(problem.jac_indices.size)
    size = problem.bound_sizes
    for point in points_near(problem, x):
        e = nlp.evaluate(point)
        if e.issue is None:
            gradient = np.maximum(gradient, np.abs(e.g))
            entries = np.maximum(entries, np.abs(e.J))
            size = np.maximum(size, np.abs(e.c))
    D = _column_factors(problem, gradient, entries)
    scaled = entries * D[problem.jac_indices]
    norms = np.sqrt(np.bincount(problem.jac_rows, scaled * scaled, problem.m))
    slope = np.asarray(np.linalg.norm(gradient * D))
    return Factors(
        factors_of(np.maximum(norms, np.minimum(size, 1.0))), float(factors_of(slope)), D
    )


def _column_factors(problem: Problem, gradient: Vector, entries: Vector) -> Vector:
    """D by equilibration of [g; J]; ones where units do not differ much."""
    n, m = problem.n, problem.m
    rows = np.concatenate((np.zeros(n, dtype=np.intp), 1 + problem.jac_rows))
    columns = np.concatenate((np.arange(n), problem.jac_indices))
    values = np.concatenate((gradient, entries))
    D, R = np.ones(n), np.ones(m + 1)
    for _ in range(SWEEPS):
        scaled = values * R[rows] * D[columns]
        largest_row, largest_column = np.zeros(m + 1), np.zeros(n)
        np.maximum.at(largest_row, rows, scaled)
        np.maximum.at(largest_column, columns, scaled)
        R /= np.sqrt(np.where(largest_row > 0.0, largest_row, 1.0))
        D /= np.sqrt(np.where(largest_column > 0.0, largest_column, 1.0))
    used = np.zeros(n, dtype=bool)
    used[columns[values > 0.0]] = True
    if not used.any() or D[used].max() < DIFFERENT_UNITS * D[used].min():
        return np.ones(n)
    return np.exp2(np.round(np.log2(np.where(used, D, 1.0))))
