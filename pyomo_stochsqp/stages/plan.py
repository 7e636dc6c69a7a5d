r"""How large the fixed samples are, one after the other.

endless sources   R replicates of n points, R n = 4096, 4 * 4096, ...; where points are independent
                  draws, whose error is known to fall like 1 / sqrt(n), the next n is the one
                  that the measured noise asks for
finite sources    N/64 and N/8 scenarios of one random order, then all N; small data at once
no sources        one stage: the program itself

A look passes if its noise and what the point errs by are together below the tolerance. The noise
nu, some three standard errors in units of the tolerance, falls like 1 / sqrt(n) with independent
draws, so the next n is the one that brings it to 0.8: the mean of all samples' solutions, which is
certified with the point, errs by less than the rest. Of evenly spread draws only so much is known
that their noise falls faster.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..oracle import SourceInfo

#: scenarios of the first stage, and the factor from stage to stage
FIRST, GROWTH = 4096, 4
#: the first stage of a user's sampler, which may be a simulator
FIRST_COSTLY = 256
#: the first sample has at least this many scenarios for every variable and row
PER_FUNCTION = 4
#: the noise that the next look should have, and how much its sample may differ from the last one
WANTED_NOISE = 0.8
SMALLEST_GROWTH, LARGEST_GROWTH = 0.25, 64.0
#: scenarios of finite sources up to which they are used at once; the stages before all of them
SMALL = 8192
SHARES, SMALLEST_SHARE = (64, 8), 1000
#: scenarios that a certificate must have seen before a run may end on it
LEAST_SCENARIOS = 1 << 14


def finite_sizes(sources: Sequence[SourceInfo]) -> list[list[int]] | None:
    """Scenarios of every source in the stages of finite data; None if a source has no end."""
    if any(source.size is None for source in sources):
        return None
    sizes = [source.size for source in sources if source.size is not None]
    total = sum(sizes)
    if total <= SMALL:
        return [sizes]
    partial = [
        [max(size // share, 1) for size in sizes]
        for share in SHARES
        if total // share >= SMALLEST_SHARE
    ]
    return [*partial, sizes]


def first_points(functions: int, costly: bool, replicates: int) -> int:
    """Points of a replicate in the first stage, for so many variables and rows."""
    n = (FIRST_COSTLY if costly else FIRST) // replicates
    while n * replicates < PER_FUNCTION * functions:
        n *= 2
    return n


def next_points(points: int, noise: float, spread_evenly: bool, least: int) -> int:
    """Points of the next stage; ``noise`` is that of the last certificate (see above).

    A look on fewer than ``least`` points could not end the run.
    """
    if not 0.0 < noise < 1e300:
        return GROWTH * points
    if spread_evenly:
        return points * (GROWTH if noise > WANTED_NOISE or points < least else 1)
    factor = min(max((noise / WANTED_NOISE) ** 2, SMALLEST_GROWTH), LARGEST_GROWTH)
    return max(int(points * factor), least)
