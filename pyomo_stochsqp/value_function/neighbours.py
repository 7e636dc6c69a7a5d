r"""Where interior points of new scenarios start: at the solutions of the nearest known ones.

Distances are those of random numbers, each in units of its own spread.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from .interior_point import Reaction
from .stage_functions import Numbers

Array = NDArray[np.float64]

#: scenarios that are remembered, and random numbers up to which there are near ones
LEAST, MOST, DIMENSIONS = 64, 1 << 14, 12


class Neighbours:
    """Solutions of some scenarios, to be asked for near ones."""

    def __init__(self, numbers: Numbers, found: Reaction):
        points = _points(numbers)
        some = np.flatnonzero(found.solved & np.isfinite(points).all(axis=1))[:MOST]
        self.count = some.size
        self._found = found.some(some)
        spread = points[some].std(axis=0) if some.size else np.ones(points.shape[1])
        self._unit = np.where(spread > 0.0, spread, 1.0)
        self._tree = cKDTree(points[some] / self._unit) if some.size else None

    @classmethod
    def worth_it(cls, numbers: Numbers) -> bool:
        """Whether near scenarios can be expected among these."""
        return numbers.count >= LEAST and 0 < len(numbers.w) <= DIMENSIONS

    def near(self, numbers: Numbers) -> Reaction | None:
        """Solutions of scenarios near these."""
        points = _points(numbers) / self._unit
        if self._tree is None or not np.isfinite(points).all():
            return None
        return self._found.some(self._tree.query(points)[1])


def _points(numbers: Numbers) -> Array:
    return np.column_stack(numbers.w)
