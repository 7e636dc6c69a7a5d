r"""The next decision: the best of a few on all samples of a stage.

The average of the replicates' solutions is good early, while each of them is far from the optimum;
a single one is good late, when most of them are it. The last decision may still be the best. Mixed
integer solutions are not averaged.

Where the second stage can be infeasible, a decision is first moved to where it is feasible in many
scenarios more: the nearest point (in the l1 norm, in units of each variable's spread) of all cuts,
again until nothing new is found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..declare.recourse import AffineTwoStage
from ..value_function import Cut
from .programs import LinearProgram, Status, first_stage, solve_program

Array = NDArray[np.float64]

#: replicates that all candidates are tried on, and candidates that go on from there
FIRST, LAST = 4, 2


def candidates(program: AffineTwoStage, solutions: Array, before: Array | None) -> list[Array]:
    """Different decisions that may be good."""
    found = [] if before is None else [before]
    if program.x_integer.any():
        counts = Counter(map(bytes, np.round(solutions, 9)))
        found += [np.frombuffer(key) for key, _ in counts.most_common(3)]
    else:
        average = solutions.mean(axis=0)
        spread = np.maximum(solutions.std(axis=0), 1e-9 * (1.0 + np.abs(average)))
        distances = (np.abs(solutions - average) / spread).sum(axis=1)
        found += [average, solutions[int(np.argmin(distances))]]
    return [x for i, x in enumerate(found) if not any(_equal(x, y) for y in found[:i])]


def _equal(x: Array, y: Array) -> bool:
    return bool(np.allclose(x, y, rtol=1e-10, atol=1e-12))


def best_of(
    found: Sequence[Array], replicates: int, value: Callable[[Array, Sequence[int]], Array]
) -> Array:
    """The best on all samples; ``value(x, which)`` is the objective on each of some replicates."""
    if len(found) == 1:
        return found[0]
    first = range(min(FIRST, replicates))
    early = [value(x, first) for x in found]
    order = sorted(range(len(found)), key=lambda i: float(early[i].mean()))[:LAST]
    rest = range(len(first), replicates)
    totals = [early[i].sum() + value(found[i], rest).sum() for i in order]
    return found[order[int(np.argmin(totals))]]


def nearest(program: AffineTwoStage, x: Array, cuts: Sequence[Cut], spread: Array) -> Array | None:
    """The point of the first stage's rows and all cuts that is nearest to x."""
    matrix, low, up = first_stage(program, cuts)
    n = x.size
    eye = sparse.identity(n, format="csr")
    # x_new - x = plus - minus
    both = sparse.bmat(
        [[matrix, None, None], [eye, -eye, eye]] if matrix.shape[0] else [[eye, -eye, eye]],
        format="csr",
    )
    found = solve_program(
        LinearProgram(
            np.concatenate((np.zeros(n), 1.0 / spread, 1.0 / spread)),
            both,
            np.concatenate((low, x)),
            np.concatenate((up, x)),
            np.concatenate((program.x_lower, np.zeros(2 * n))),
            np.concatenate((program.x_upper, np.full(2 * n, np.inf))),
            np.concatenate((program.x_integer, np.zeros(2 * n, dtype=bool))),
        )
    )
    return found.x[:n] if found.status is Status.OPTIMAL else None
