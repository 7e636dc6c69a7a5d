r"""Scaling: the method sees r_i c_i and s f, the user never does.

    g_s = s g,      c_s = R c,      J_s = R J,      y = R y_s / s

``'auto'`` gives every row, and the objective, a gradient of norm one. The norm is the largest one
seen at the starting point and at two points near it, so that a gradient that happens to vanish at
the start (a sphere's at its centre) is not blown up. Variables keep their units: scaling them is
the same as choosing the curvature H, and is left to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .oracle import (
    SETUP_STREAM,
    Estimate,
    Oracle,
    Problem,
    Sample,
    SecondOrderOracle,
    SourceInfo,
    Vector,
)

SMALLEST, LARGEST = 1e-8, 1e8


@dataclass(frozen=True)
class Units:
    """The size of the rows' and the objective's gradients: what makes errors comparable."""

    rows: Vector
    objective: float


@dataclass(frozen=True)
class Scaling:
    """Factors of the rows and of the objective."""

    rows: Vector
    objective: float

    def user_multipliers(self, y: Vector) -> Vector:
        """Multipliers of the scaled problem in the user's units: R y_s / s."""
        return y * self.rows / self.objective

    def own_multipliers(self, y: Vector) -> Vector:
        """The user's multipliers in those of the scaled problem."""
        return y * self.objective / self.rows

    def units(self) -> Units | None:
        """What the log needs to speak of the user's problem; None if nothing is scaled."""
        if self.objective == 1.0 and np.all(self.rows == 1.0):
            return None
        return Units(1.0 / self.rows, 1.0 / self.objective)


@dataclass(frozen=True)
class Factors(Scaling):
    """Those of the variables, too: x_j = variables_j z_j."""

    variables: Vector

    @classmethod
    def none(cls, problem: Problem) -> Factors:
        """Factors of one."""
        return cls(np.ones(problem.m), 1.0, np.ones(problem.n))


def user_violation(violation: float, c: Vector, problem: Problem, units: Units | None) -> float:
    """v(c) of scaled rows in the user's units; ``violation`` is v(c) in theirs."""
    return violation if units is None else float(problem.violation(c) @ units.rows)


class ScaledOracle:
    """An oracle in scaled units."""

    def __init__(self, oracle: Oracle, scaling: Scaling):
        self._oracle = oracle
        self.scaling = scaling
        self.sources: Sequence[SourceInfo] = oracle.sources
        self.problem = scaled_problem(oracle.problem, scaling)
        self._s = scaling.objective
        self._r = scaling.rows
        self._entries = self._r[oracle.problem.jac_rows]

    def draw(self, stream: int, k: int, batch: Sequence[int]) -> Sample:
        return self._oracle.draw(stream, k, batch)

    def estimate(self, x: Vector, sample: Sample, objective: bool = False) -> Estimate:
        return self._scaled(self._oracle.estimate(x, sample, objective))

    def _scaled(self, e: Estimate) -> Estimate:
        e.g *= self._s
        e.c *= self._r
        e.J *= self._entries
        if e.f is not None:
            e.f *= self._s
        return e


class ScaledSecondOrderOracle(ScaledOracle):
    """The same with second derivatives."""

    def __init__(self, oracle: SecondOrderOracle, scaling: Scaling):
        super().__init__(oracle, scaling)
        self._second_order = oracle

    def hessian_pattern(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        return self._second_order.hessian_pattern()

    def hessian(self, x: Vector, y: Vector, sample: Sample) -> Vector:
        y = self.scaling.user_multipliers(y)
        return self._s * self._second_order.hessian(x, y, sample)


def scaled(oracle: Oracle, scaling: Scaling) -> Oracle:
    """An oracle in scaled units, with second derivatives if it has them."""
    if isinstance(oracle, SecondOrderOracle):
        return ScaledSecondOrderOracle(oracle, scaling)
    return ScaledOracle(oracle, scaling)


def scaled_problem(problem: Problem, scaling: Scaling) -> Problem:
    """Row bounds in scaled units."""
    return replace(
        problem,
        row_lower=problem.row_lower * scaling.rows,
        row_upper=problem.row_upper * scaling.rows,
    )


def automatic(oracle: Oracle, batch: Sequence[int]) -> Scaling:
    """Unit gradients for every row and the objective (see the head of this file)."""
    problem = oracle.problem
    rows = np.zeros(problem.m)
    objective = np.zeros(())
    sample = oracle.draw(SETUP_STREAM, 1, batch)
    for x in points_near(problem, problem.project(problem.x0)):
        e = oracle.estimate(x, sample)
        if e.issue is None:
            norms = np.sqrt(np.bincount(problem.jac_rows, e.J * e.J, problem.m))
            rows = np.maximum(rows, norms)
            objective = np.maximum(objective, np.linalg.norm(e.g))
    return Scaling(factors_of(rows), float(factors_of(objective)))


def points_near(problem: Problem, x: Vector) -> list[Vector]:
    """x and two points a tenth of its size away, within the bounds."""
    rng = np.random.default_rng(1)
    size = np.abs(x)
    step = 0.1 * np.where(size > 0.0, size, size.max(initial=0.0) or 1.0)
    points = [x, *(x + step * rng.standard_normal(problem.n) for _ in range(2))]
    return [problem.project(point) for point in points]


def factors_of(norms: Vector) -> Vector:
    """Factors that give gradients of these norms unit length, within limits; 1 for none."""
    return np.where(
        norms > 0.0, np.clip(1.0 / np.where(norms > 0.0, norms, 1.0), SMALLEST, LARGEST), 1.0
    )


def unscaled(problem: Problem) -> Scaling:
    """Factors of one."""
    return Scaling(np.ones(problem.m), 1.0)
