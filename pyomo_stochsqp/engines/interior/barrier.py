r"""The barrier problem: rows with slacks, bounds as logarithms.

A program with rows  lower <= c(x) <= upper  and bounds on x becomes

    min  f(x) - mu ( sum log(v - L) + sum log(U - v) )      s.t.  h(v) = c(x) - target = 0,

v = (x, s), where every inequality row i has a slack s_i as its target, and L, U are the bounds of
all of v, relaxed by a hundred-millionth so that there is an inside. One-sided bounds get a small
damping term, mu * 1e-5 (v - L), which keeps directions without a second bound from running away.
Variables whose bounds coincide are held.

All of it is from Waechter and Biegler, Math. Programming 106 (2006), sections 2 and 3.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...oracle import Estimate, Jacobian, Problem, Vector

Mask = NDArray[np.bool_]

#: relative distance by which bounds are moved apart
RELAXATION = 1e-8
#: least distance from a bound at the start, relative to the bound and to the distance of two
PUSH = 1e-2
DAMPING = 1e-5


class Barrier:
    """Values of the barrier problem of one program; bounds are handed in: they may move."""

    def __init__(self, problem: Problem, relaxation: float = RELAXATION):
        self.problem = problem
        self.n = problem.n
        self.jacobian = Jacobian(problem)
        self.equality = problem.row_lower == problem.row_upper
        self.inequality = np.flatnonzero(~self.equality)
        slacks = self.inequality.size
        self.size = problem.n + slacks
        self.fixed = problem.x_lower >= problem.x_upper
        lower = np.concatenate((problem.x_lower, problem.row_lower[self.inequality]))
        upper = np.concatenate((problem.x_upper, problem.row_upper[self.inequality]))
        self.held: Mask = np.concatenate((self.fixed, np.zeros(slacks, dtype=bool)))
        self.has_lower: Mask = np.isfinite(lower) & ~self.held
        self.has_upper: Mask = np.isfinite(upper) & ~self.held
        self.below = np.flatnonzero(self.has_lower)
        self.above = np.flatnonzero(self.has_upper)
        self.only_lower = np.flatnonzero(self.has_lower & ~self.has_upper)
        self.only_upper = np.flatnonzero(self.has_upper & ~self.has_lower)
        with np.errstate(invalid="ignore"):
            self.lower = np.where(
                self.has_lower, lower - relaxation * np.maximum(1.0, np.abs(lower)), -np.inf
            )
            self.upper = np.where(
                self.has_upper, upper + relaxation * np.maximum(1.0, np.abs(upper)), np.inf
            )

    def inside(self, v: Vector) -> Vector:
        """v moved away from its bounds, to begin with."""
        low = np.where(self.has_lower, self.lower, 0.0)
        high = np.where(self.has_upper, self.upper, 0.0)
        width = np.where(self.has_lower & self.has_upper, high - low, np.inf)
        from_low = np.minimum(PUSH * np.maximum(1.0, np.abs(low)), PUSH * width)
        from_high = np.minimum(PUSH * np.maximum(1.0, np.abs(high)), PUSH * width)
        moved = np.where(self.has_lower, np.maximum(v, low + from_low), v)
        moved = np.where(self.has_upper, np.minimum(moved, high - from_high), moved)
        return np.where(self.held, v, moved)

    def nearly_inside(self, v: Vector, known: Vector, lower: Vector, upper: Vector) -> Vector:
        """v kept off its bounds, but no further off than ``known`` was."""
        low = np.where(self.has_lower, lower, 0.0)
        high = np.where(self.has_upper, upper, 0.0)
        least = low + RELAXATION * np.maximum(1.0, np.abs(low))
        most = high - RELAXATION * np.maximum(1.0, np.abs(high))
        v = np.where(self.has_lower, np.maximum(v, np.minimum(least, known)), v)
        return np.where(self.has_upper, np.minimum(v, np.maximum(most, known)), v)

    def with_slacks(self, x: Vector, estimate: Estimate) -> Vector:
        return np.concatenate((x, estimate.c[self.inequality]))

    def residual(self, estimate: Estimate, v: Vector) -> Vector:
        """h(v)."""
        target = self.problem.row_lower.copy()
        target[self.inequality] = v[self.n :]
        return estimate.c - target

    def value(self, estimate: Estimate, v: Vector, mu: float, low: Vector, high: Vector) -> float:
        """The barrier function."""
        assert estimate.f is not None
        below, above = v[self.below] - low[self.below], high[self.above] - v[self.above]
        if (below <= 0.0).any() or (above <= 0.0).any():
            return np.inf
        logs = float(np.log(below).sum() + np.log(above).sum())
        damped = float((v - low)[self.only_lower].sum() + (high - v)[self.only_upper].sum())
        return estimate.f - mu * logs + DAMPING * mu * damped

    def gradient(
        self, estimate: Estimate, v: Vector, mu: float, low: Vector, high: Vector
    ) -> Vector:
        """Its gradient with respect to v."""
        g = self.objective_gradient(estimate)
        g[self.below] -= mu / (v[self.below] - low[self.below])
        g[self.above] += mu / (high[self.above] - v[self.above])
        g[self.only_lower] += DAMPING * mu
        g[self.only_upper] -= DAMPING * mu
        return g

    def objective_gradient(self, estimate: Estimate) -> Vector:
        return np.concatenate((estimate.g, np.zeros(self.inequality.size)))

    def pull(self, estimate: Estimate, y: Vector) -> Vector:
        """The gradient of y'h(v)."""
        return np.concatenate((self.jacobian.transposed(estimate.J, y), -y[self.inequality]))
