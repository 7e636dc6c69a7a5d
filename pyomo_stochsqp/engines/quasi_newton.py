r"""Curvature without second derivatives: damped BFGS.

first     B = diag(F / b_j^2): a step over the known distances costs the size of the objective
update    Powell's damping, z <- t z + (1 - t) B s with the largest t <= 1 that gives
          s'z >= 0.2 s'Bs, then  B <- B - B s s'B / s'Bs + z z' / s'z,
          s the step, z the change of the Lagrangian's gradient along it
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..oracle import Problem, Vector
from .dense_point import DensePoint
from .lengths import lengths
from .protocol import Scales

Matrix = NDArray[np.float64]

DAMPING = 0.2


class QuasiNewton:
    """Makes and updates B."""

    def first(
        self, problem: Problem, here: DensePoint, scales: Scales, largest_x: Vector
    ) -> Matrix:
        none = np.zeros(problem.n)
        size = lengths(problem, here.g, here.c, here.J, none, largest_x, scales.least_objective)
        return np.diag(size.objective / size.known**2)

    def updated(self, B: Matrix, here: DensePoint, there: DensePoint, y: Vector) -> Matrix:
        s = there.x - here.x
        z = there.g - here.g + (there.J - here.J).T @ y
        Bs = B @ s
        sBs, sz = float(s @ Bs), float(s @ z)
        if not sBs > 0.0:
            return B
        if sz < DAMPING * sBs:
            t = (1.0 - DAMPING) * sBs / (sBs - sz)
            z = t * z + (1.0 - t) * Bs
            sz = float(s @ z)
        if not (sz > 0.0 and np.isfinite(z).all()):
            return B
        return B - np.outer(Bs, Bs) / sBs + np.outer(z, z) / sz
