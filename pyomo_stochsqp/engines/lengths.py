r"""The natural length of every variable, the size of the objective: what makes steps comparable.

Nobody says in which units a model is written, so steps are measured by what is known:

    b_j   a distance that x_j has been known to go: the largest |x_j| seen; without one, half the
          distance of its bounds, its Newton step, the distance to a violated row, or 1
    F     the change of the objective that a step over such distances could make
    s_j   the distance over which curvature alone would change the objective by F, sqrt(F / |H_jj|);
          b_j where there is no curvature; never further than a million times from b_j

All of them follow a change of the units of x, f or c.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..oracle import Problem, Vector

Matrix = NDArray[np.float64]

#: s_j / b_j stays within this factor
FARTHEST = 1e6
#: a Newton step counts up to this multiple of b_j
NEWTON_REACH = 1e3
#: a violation below this share of its terms is rounding
ROUNDING = 1e-9


class Lengths(NamedTuple):
    """s, b and F of the head of this file."""

    natural: Vector
    known: Vector
    objective: float


def lengths(
    problem: Problem,
    g: Vector,
    c: Vector,
    J: Matrix,
    curvature: Vector,
    largest_x: Vector,
    least_objective: float,
) -> Lengths:
    """``curvature`` is the diagonal of H, ``largest_x`` the largest |x_j| seen."""
    slope, h = np.abs(g), np.abs(curvature)
    with np.errstate(all="ignore"):
        newton = np.where((h > 0.0) & (slope > 0.0), slope / h, 0.0)
    width = problem.x_upper - problem.x_lower
    known = np.where(largest_x > 0.0, largest_x, np.where(np.isfinite(width), 0.5 * width, newton))
    if problem.m and not known.all():
        known = np.where(known > 0.0, known, _to_violated_rows(problem, c, J, known))
    known = np.where(known > 0.0, known, 1.0)
    reach = np.where(
        newton > 0.0, np.maximum(np.minimum(newton, NEWTON_REACH * known), known), known
    )
    objective = max(float((slope * reach).max(initial=0.0)), least_objective)
    if not 0.0 < objective < np.inf:
        objective = 1.0
    with np.errstate(all="ignore"):
        natural = np.where(h > 0.0, np.sqrt(objective / h), known)
    natural = np.minimum(np.maximum(natural, known / FARTHEST), known * FARTHEST)
    return Lengths(natural, known, objective)


def _to_violated_rows(problem: Problem, c: Vector, J: Matrix, known: Vector) -> Vector:
    """How far each variable alone would have to go to satisfy the nearest violated row; 0: none."""
    miss = np.abs(problem.excess(c))
    miss[miss <= ROUNDING * (np.abs(c) + np.abs(J) @ known)] = 0.0
    with np.errstate(all="ignore"):
        distance = np.where((J != 0.0) & (miss > 0.0)[:, None], miss[:, None] / np.abs(J), np.inf)
    nearest = distance.min(axis=0)
    return np.where(np.isfinite(nearest), nearest, 0.0)
