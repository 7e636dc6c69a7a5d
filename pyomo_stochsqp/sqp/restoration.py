r"""A second opinion before a model is called locally infeasible.

    min_x  1/2 sum_i dist(c_i(x), [row_lower_i, row_upper_i])^2    s.t.  x_lower <= x <= x_upper

by bounded least squares from the user's starting point. A stationary point of the l1 violation
says little about other points: which of them a run meets depends on its path, and a step onto
several bounds at once can hide the way back. Only if least squares find nothing either does the
verdict stand.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import least_squares
from scipy.sparse import csr_array

from ..oracle import Estimate, Oracle, Sample, Vector

MAX_EVALUATIONS = 200
#: violation (l1) that counts as none
FEASIBLE = 1e-6
#: entries of a Jacobian that are handed over as a full matrix
LARGEST_FULL = 1_000_000
#: room for variables whose bounds coincide: the library wants an interior
ROOM = 1e-10


def feasible_point(oracle: Oracle, sample: Sample) -> tuple[Vector, int] | None:
    """(a point where no row is violated, evaluations it took), or None."""
    problem = oracle.problem
    shape = (problem.m, problem.n)
    seen: dict[bytes, Estimate] = {}
    looks = 0

    def estimate(x: Vector) -> Estimate:
        """Kept for the next question: the library asks for values and derivatives separately."""
        nonlocal looks
        point = problem.project(x)
        key = point.tobytes()
        if key not in seen:
            seen.clear()
            seen[key] = oracle.estimate(point, sample)
            looks += 1
        return seen[key]

    def distances(x: Vector) -> Vector:
        return problem.excess(estimate(x).c)

    def jacobian(x: Vector) -> Any:
        e = estimate(x)
        violated = np.repeat(problem.excess(e.c) != 0.0, np.diff(problem.jac_indptr))
        J = csr_array((e.J * violated, problem.jac_indices, problem.jac_indptr), shape=shape)
        return J.toarray() if problem.n * problem.m <= LARGEST_FULL else J

    held = ROOM * (problem.x_lower == problem.x_upper)
    lower, upper = problem.x_lower - held, problem.x_upper + held
    try:
        found = least_squares(
            distances, problem.project(problem.x0), jacobian, (lower, upper),
            x_scale="jac", max_nfev=MAX_EVALUATIONS,
        )  # fmt: skip
    except ValueError:  # values that are not finite
        return None
    left = float(problem.violation(estimate(found.x).c).sum())
    return (problem.project(found.x), looks) if left <= FEASIBLE else None
