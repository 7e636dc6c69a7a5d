r"""Certificates: how feasible and how nearly optimal a point is, with confidence bounds.

At x, on R independent replicates that x has never seen (or on all of the data, exactly):

    violation     of every row, with the bound  max dist(c_i +- t se_i, [lower_i, upper_i])
    displacement  of every variable: the distance to a solution nearby (displacement.py)
    gap           f(x) minus the objective of that solution

Each is compared with what its own numbers are made of, never with the start of a run or with other
variables, so that no choice of units changes the verdict:

    a row          max(|bounds of the row|, sum_j |J_ij x_j|, spread of C_i over scenarios)
    the objective  max(|f|, spread of F over scenarios)
    a variable     max(|x_j|, |x_j + d_j|, a tenth of sqrt(size of the objective / |M_jj|))

Sizes that shrink along a run keep a billionth of their largest value (variables a little more, so
that it exceeds their rounding): what is exactly zero at a solution has no size of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..oracle import Problem, Vector

#: share of the largest size seen that a size keeps
MEMORY, VARIABLE_MEMORY = 1e-9, 1e-8
#: a variable's length by curvature counts this share
CURVED_LENGTH = 0.1


class Sizes(NamedTuple):
    """The largest sizes that a run has seen."""

    x: Vector
    rows: Vector
    objective: float

    @classmethod
    def none(cls, problem: Problem) -> Sizes:
        return cls(np.zeros(problem.n), np.zeros(problem.m), 0.0)


@dataclass(frozen=True)
class Certificate:
    """Errors of one point. Bounds equal the errors where they are exact."""

    x: Vector
    #: multipliers, and grad f + J'y, the reduced costs of a minimisation
    y: Vector
    reduced_costs: Vector
    objective: float
    objective_error: float
    #: violation of every row: estimate, confidence bounds, and what it is compared with
    violation: Vector
    violation_lower: Vector
    violation_bound: Vector
    row_size: Vector
    #: bound on the distance of every variable to a local solution, and what it is compared with
    displacement: Vector
    displacement_error: Vector
    variable_size: Vector
    #: where that solution is, relative to x
    move: Vector
    #: bound on f(x) minus the objective of that solution, what of it is noise, its size
    gap: float
    gap_noise: float
    objective_size: float
    #: the objective's gradient is not zero
    has_gradient: bool
    #: directions without curvature; with one of negative curvature (``descent``) x is no minimum
    flat: int
    saddle: bool
    descent: Vector
    confidence: float
    scenarios: int
    #: independent samples that they were divided into
    replicates: int
    exact: bool
    #: only first-order conditions could be judged
    first_order: bool = False
    #: replicates disagree more than normal numbers; events too rare to be judged; numbers whose
    #: spread grows with the sample, so that they may have no expectation at all
    heavy_tails: bool = False
    rare_events: bool = False
    spreading: bool = False

    @property
    def infeasibility(self) -> float:
        """The largest violation."""
        return float(self.violation.max(initial=0.0))

    @property
    def infeasibility_bound(self) -> float:
        """The largest upper confidence bound of a violation."""
        return float(self.violation_bound.max(initial=0.0))

    @property
    def relative_infeasibility_bound(self) -> float:
        """The largest bound of a violation, relative to the size of its row."""
        return float(_ratio(self.violation_bound, self.row_size).max(initial=0.0))

    @property
    def relative_infeasibility_lower(self) -> float:
        """The largest lower confidence bound, relative to the size of its row."""
        return float(_ratio(self.violation_lower, self.row_size).max(initial=0.0))

    @property
    def relative_gap(self) -> float:
        """The bound of the gap, relative to the size of the objective, if there is one."""
        if not self.has_gradient:
            return 0.0
        return float(_ratio(np.array(self.gap), np.array(self.objective_size)))

    @property
    def relative_displacement(self) -> float:
        """The largest bound of a displacement, relative to the size of its variable."""
        return float(_ratio(self.displacement, self.variable_size).max(initial=0.0))

    @property
    def worst_row(self) -> int:
        """The row with the largest relative bound, or -1."""
        ratio = _ratio(self.violation_bound, self.row_size)
        return int(ratio.argmax()) if ratio.size else -1

    @property
    def worst_variable(self) -> int:
        """The variable with the largest relative displacement."""
        return int(_ratio(self.displacement, self.variable_size).argmax())


def row_sizes(problem: Problem, terms: Vector, spread: Vector) -> Vector:
    """What a violation is compared with; ``terms`` are sum_j |J_ij x_j|."""
    lower, upper = problem.row_lower, problem.row_upper
    bound = np.maximum(
        np.where(np.isfinite(lower), np.abs(lower), 0.0),
        np.where(np.isfinite(upper), np.abs(upper), 0.0),
    )
    return np.maximum(np.maximum(bound, terms), spread)


def variable_sizes(
    x: Vector, move: Vector, objective: float, curvature: Vector, largest_x: Vector
) -> Vector:
    """What a displacement is compared with; ``largest_x`` are the largest |x_j| seen."""
    h = np.abs(curvature)
    length = np.sqrt(objective / np.where(h > 0.0, h, 1.0)) * (h > 0.0)
    own = np.maximum(np.maximum(np.abs(x), np.abs(x + move)), CURVED_LENGTH * length)
    return np.maximum(own, VARIABLE_MEMORY * largest_x)


def _ratio(bound: Vector, size: Vector) -> Vector:
    """bound / size; zero has no size to be compared with."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(bound > 0.0, bound / size, 0.0)
