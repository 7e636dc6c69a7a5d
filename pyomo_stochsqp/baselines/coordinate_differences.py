r"""Lipschitz constants by coordinate differences: one step h along every axis from one point.

    L = max(1, max_i |g(x + h e_i) - g(x)|_2 / h)
    Gamma = sum_j max_i |grad c_j(x + h e_i) - grad c_j(x)|_2 / h,         h = 1e-4

The paper takes L and Gamma as given and says nothing of how they were estimated. The first version
of StochasticSQP, the public code of earlier papers with an author in common, has this rule as an
option (its default is one random direction). All points are estimated on one sample, so that
differences of noise do not enter. The floor L >= 1 keeps eq. beta_requirement where Gamma = 0. It
costs n evaluations, and says nothing about curvature away from x.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..oracle import SETUP_STREAM, Oracle, Vector

STEP = 1e-4
LEAST_L = 1.0


def coordinate_constants(
    oracle: Oracle, x: Vector, batch: Sequence[int] = (), floor: float = LEAST_L
) -> tuple[float, float]:
    """(L, Gamma) near x, from estimates on one sample of the given sizes."""
    problem = oracle.problem
    sample = oracle.draw(SETUP_STREAM, 0, batch)
    here = oracle.estimate(x, sample)
    L, Gamma = 0.0, np.zeros(problem.m)
    for i in range(problem.n):
        there_x = x.copy()
        there_x[i] += STEP
        there = oracle.estimate(there_x, sample)
        if here.issue is not None or there.issue is not None:
            continue
        L = max(L, float(np.linalg.norm(there.g - here.g)))
        changes = np.bincount(problem.jac_rows, (there.J - here.J) ** 2, problem.m)
        Gamma = np.maximum(Gamma, np.sqrt(changes))
    return max(floor, L / STEP), float(Gamma.sum()) / STEP
