r"""Where second stages are infeasible, and what that proves of x (feasibility cuts).

    U(x, w) = min sum of what the rows of w lack,

computed by the same interior points with next to no cost beside it. U > 0 at x means that every x'
with a feasible second stage in w satisfies U + U_x'(x' - x) <= 0, if the second stage is convex; if
not, that is a hint.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .interior_point import LAST, Reaction, Scales, SecondStages
from .stage_functions import Numbers, StageFunctions

Array = NDArray[np.float64]

#: share of the cost that is left, the least U that counts, cuts of one search
COST, LEAST, MOST = 1e-8, 1e-7, 10


@dataclass(frozen=True, eq=False)
class Cut:
    """slope'x <= limit, a condition on the first stage."""

    slope: Array
    limit: float
    #: the second-stage row that weighs most in it
    row: int = -1

    def violation(self, x: Array) -> float:
        """How far x is from it."""
        return max(float(self.slope @ x) - self.limit, 0.0) / float(np.linalg.norm(self.slope))


def troubled(found: Reaction) -> NDArray[np.bool_]:
    """Scenarios without a feasible second stage, or none that was found."""
    return np.asarray((found.violated > 0.0).any(axis=1) | ~found.solved)


def cuts_at(stage: StageFunctions, scales: Scales, x: Array, numbers: Numbers) -> list[Cut]:
    """Those of the worst scenarios among some that are infeasible at x."""
    bare = Scales(COST * scales.cost, scales.rows, 1.0)
    stages, prices = SecondStages(stage, bare), np.zeros(stage.priced)
    found = stages.solve(x, prices, numbers, LAST)
    lack = np.where(found.solved, found.violated.sum(axis=1), 0.0)
    worst = np.argsort(-lack, kind="stable")[:MOST]
    worst = worst[lack[worst] > LEAST]
    if not worst.size:
        return []
    at, own = found.at.some(worst), numbers.some(worst)
    local = stages.local(x, prices, at, own.w)
    first = 1 + stage.priced
    slopes = local.whole.slopes[:, first:, : stage.nx] * bare.rows[:, None]
    slope = np.einsum("sk,skj->sj", at.multipliers, slopes)
    made = [Cut(g, float(g @ x) - float(u)) for g, u in zip(slope, lack[worst], strict=True)]
    return [cut for cut in made if np.linalg.norm(cut.slope) > LEAST]


def moved(x: Array, cuts: Sequence[Cut], sweeps: int = 200) -> Array:
    """A point near x that satisfies the cuts: projected onto the worst one, again and again."""
    for _ in range(sweeps):
        worst = max(cuts, key=lambda cut: cut.violation(x))
        if worst.violation(x) <= 1e-12 * (1.0 + float(np.abs(x).max(initial=0.0))):
            break
        g = worst.slope
        x = x - (float(g @ x) - worst.limit) / float(g @ g) * g
    return x
