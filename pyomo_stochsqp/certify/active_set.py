r"""Which rows and bounds are active at a point, read off its multipliers.

A row is active if its multiplier weighs more than its distance to the bound, both in natural units:

    |y_i| size_i / F  >  |c_i - bound_i| / size_i,

the bound being the one that the sign of y_i names; a bound of a variable likewise, by the gradient
of the Lagrangian. Equalities always are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..oracle import Problem, Vector
from ..qp import WarmStart

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class ActiveSet:
    """What is active at x: rows with their targets, variables with the way to their bounds."""

    rows: Mask
    target: Vector
    #: which of its bounds an active row sits at: 1 the upper one, -1 the lower one
    side: Vector
    held: Mask
    shift: Vector
    #: the same for variables
    bound: Vector

    def with_bounds(self, problem: Problem, x: Vector, move: Vector) -> ActiveSet:
        """The same with variables that a move would take beyond their bounds; itself, if none."""
        below, above = x + move < problem.x_lower, x + move > problem.x_upper
        crossed = (below | above) & ~self.held
        if not crossed.any():
            return self
        bound = np.where(below, problem.x_lower, problem.x_upper)
        return replace(
            self,
            held=self.held | crossed,
            shift=np.where(crossed, bound - x, self.shift),
            bound=np.where(crossed, np.where(below, -1.0, 1.0), self.bound),
        )

    def guess(self) -> WarmStart:
        """What the quadratic program of the point may start from."""
        rows = np.where(self.rows, self.side, 0.0)
        bounds = np.where(self.held, self.bound, 0.0)
        return WarmStart(np.zeros(rows.size), 0.0, not self.held.any(), bounds, rows)


def active_set(
    problem: Problem,
    x: Vector,
    c: Vector,
    pull: Vector,
    y: Vector,
    size: Vector,
    length: Vector,
    objective: float,
) -> ActiveSet:
    """``pull`` is g + J'y; ``size`` are those of the rows, ``length`` those of the variables."""
    equality = problem.row_lower == problem.row_upper
    bound = np.where(y > 0.0, problem.row_upper, problem.row_lower)
    with np.errstate(invalid="ignore"):
        slack = np.where(np.isfinite(bound), np.abs(c - bound) / np.maximum(size, 1e-300), np.inf)
        weight = np.abs(y) * size / objective
    rows = equality | (weight > slack)
    target = np.where(equality, problem.row_lower, np.where(np.isfinite(bound), bound, 0.0))
    to_bound = np.where(pull > 0.0, problem.x_lower - x, problem.x_upper - x)
    with np.errstate(invalid="ignore"):
        near = np.abs(to_bound) / length
        push = np.abs(pull) * length / objective
    held = np.isfinite(to_bound) & ((push > near) | (problem.x_lower >= problem.x_upper))
    return ActiveSet(
        rows=rows,
        target=target,
        side=np.where(equality | (y > 0.0), 1.0, -1.0),
        held=held,
        shift=np.where(held, to_bound, 0.0),
        bound=np.where(pull > 0.0, -1.0, 1.0),
    )
