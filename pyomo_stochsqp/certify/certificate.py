r"""Certificates: how feasible and how nearly optimal a point is, with confidence bounds.

At x, on R independent replicates that x has never seen (or on all of the data, exactly):

    violation     of every row, with the bound  max dist(c_i +- t se_i, [lower_i, upper_i])
    displacement  of every variable: the distance to a solution nearby (displacement.py)
    gap           f(x) minus the objective of that solution

Each is compared with what its own numbers are made of, never with the start of a run or with other
variables, so that no choice of units changes the verdict:

    a row          max(|bounds of the row|, sum_j |J_ij x_j|, spread of C_i over scenarios)
    the objective  max(|f - its constant|, spread of F over scenarios)
    a variable     max(|x_j|, |x_j + d_j|, a tenth of sqrt(size of the objective / |M_jj|)), and
                   where that says little, a tenth of the spread of d_j over scenarios if x_j cannot
                   be told from zero, a tenth of the value that would make up a row by itself (but
                   no more than the largest |x_j| seen, if any, for a row may hardly depend on x_j)

What is exactly zero at a solution has no size of its own; so whatever is as small as the rounding
of the numbers that it is made of counts as none. r_j being the largest |x_j| seen, and v_j the
largest value that would make up a row by itself, that is

    a row          sum_j |J_ij| max(1e-15 r_j, 1e-15 v_j, 1e-12 size of x_j)
    the objective  1e-15 sum_j (|g_j| r_j + |M_jj| r_j^2 / 2), but no more than 1e-15 max |f|
    a variable     3e-14 r_j
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..oracle import Problem, Vector

#: lengths by curvature and by rows count this share
SHARE = 0.1
#: relative rounding of sums, and of variables
ROUNDING, VARIABLE_ROUNDING = 1e-15, 3e-14
#: share of their sizes up to which variables leave a row that is all zero at zero
ZERO = 1e-12


class Sizes(NamedTuple):
    """The largest sizes that a run has seen."""

    #: |x_j|: how far variables are known to go
    reach: Vector
    #: |f|
    objective: float

    @classmethod
    def none(cls, problem: Problem) -> Sizes:
        return cls(np.zeros(problem.n), 0.0)

    def with_point(self, x: Vector, objective: float = 0.0) -> Sizes:
        """Another point was reached."""
        return Sizes(np.maximum(self.reach, np.abs(x)), max(self.objective, abs(objective)))


@dataclass(frozen=True)
class Look:
    """What a certificate is made with."""

    #: chooses the scenarios that spreads are measured on
    number: int
    sizes: Sizes
    confidence: float
    #: rows that contradict each other within their noise, and by how much
    relaxed: Vector | None = None
    #: the level at which kinks are rounded off, if that is to be accounted for; with the noise of
    #: what is then known of narrower kinks?
    narrowing: int | None = None
    noise_of_kinks: bool = False


@dataclass(frozen=True)
class Certificate:
    """Errors of one point. Bounds equal the errors where they are exact."""

    x: Vector
    #: multipliers, and grad f + J'y, the reduced costs of a minimisation
    y: Vector
    reduced_costs: Vector
    objective: float
    objective_error: float
    #: its spread over single scenarios
    objective_spread: float
    #: what rounding kinks off adds to it, which was taken off again; NaN if nobody asked
    objective_rounded: float
    #: violation of every row: estimate, confidence bounds, and what it is compared with
    violation: Vector
    violation_lower: Vector
    violation_bound: Vector
    row_size: Vector
    row_rounding: Vector
    #: bound on the distance of every variable to a local solution, and what it is compared with
    displacement: Vector
    displacement_error: Vector
    variable_size: Vector
    variable_rounding: Vector
    #: where that solution is, relative to x
    move: Vector
    #: bound on f(x) minus the objective of that solution, what of it is noise, its size
    gap: float
    gap_noise: float
    #: the part of both that comes from where x is along the rows, not from their violation
    gap_along: float
    gap_along_noise: float
    objective_size: float
    objective_rounding: float
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
    #: the level at which kinks were rounded off
    narrowing: int = 0

    @property
    def infeasibility(self) -> float:
        """The largest violation."""
        return float(self.violation.max(initial=0.0))

    @property
    def infeasibility_bound(self) -> float:
        """The largest upper confidence bound of a violation."""
        return float(self.violation_bound.max(initial=0.0))

    def row_ratio(self, error: Vector) -> Vector:
        """Errors of the rows in units of their sizes."""
        return _ratio(error, self.row_size, self.row_rounding)

    def variable_ratio(self, error: Vector) -> Vector:
        """Errors of the variables in units of their sizes."""
        return _ratio(error, self.variable_size, self.variable_rounding)

    def objective_ratio(self, error: float) -> float:
        """An error of the objective in units of its size, if there is an objective."""
        if not self.has_gradient:
            return 0.0
        size, rounding = np.array(self.objective_size), np.array(self.objective_rounding)
        return float(_ratio(np.array(error), size, rounding))

    @property
    def relative_infeasibility_bound(self) -> float:
        """The largest bound of a violation, relative to the size of its row."""
        return float(self.row_ratio(self.violation_bound).max(initial=0.0))

    @property
    def relative_infeasibility_lower(self) -> float:
        """The largest lower confidence bound, relative to the size of its row."""
        return float(self.row_ratio(self.violation_lower).max(initial=0.0))

    @property
    def relative_gap(self) -> float:
        """The bound of the gap, relative to the size of the objective."""
        return self.objective_ratio(self.gap)

    @property
    def relative_displacement(self) -> float:
        """The largest bound of a displacement, relative to the size of its variable."""
        return float(self.variable_ratio(self.displacement).max(initial=0.0))

    @property
    def worst_row(self) -> int:
        """The row with the largest relative bound, or -1."""
        ratio = self.row_ratio(self.violation_bound)
        return int(ratio.argmax()) if ratio.size else -1

    @property
    def worst_variable(self) -> int:
        """The variable with the largest relative displacement."""
        return int(self.variable_ratio(self.displacement).argmax())


def row_sizes(problem: Problem, terms: Vector, spread: Vector) -> Vector:
    """What a violation is compared with; ``terms`` are sum_j |J_ij x_j|."""
    return np.maximum(np.maximum(problem.bound_sizes, terms), spread)


def variable_sizes(
    x: Vector, move: Vector, objective: float, curvature: Vector, otherwise: Vector
) -> Vector:
    """What a displacement is compared with; ``otherwise``: where x and curvature say little."""
    h = np.abs(curvature)
    length = np.sqrt(objective / np.where(h > 0.0, h, 1.0)) * (h > 0.0)
    own = np.maximum(np.abs(x), np.abs(x + move))
    return np.maximum(own, np.maximum(SHARE * length, otherwise))


def objective_rounding(g: Vector, curvature: Vector, reach: Vector, largest: float) -> float:
    """A change of the objective that is as good as none; ``largest`` is the largest |f| seen."""
    terms = float(np.abs(g) @ reach + 0.5 * np.abs(curvature) @ reach**2)
    return ROUNDING * min(terms, largest)


def _ratio(error: Vector, size: Vector, rounding: Vector) -> Vector:
    """error / size; rounding is no error, and has no size to be compared with."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(error > rounding, error / size, 0.0)
