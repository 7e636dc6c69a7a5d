r"""Units of the second stage: its cost changes by about 1 per unit of y, and so do its rows.

Derivatives are looked at in a few scenarios, at the point from which interior points start. The
price of elastic rows is in these units, in which multipliers are usually moderate.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .interior_point import Scales
from .iterate import boxes
from .stage_functions import Numbers, StageFunctions

Array = NDArray[np.float64]

#: the price of what rows lack, and the range of scales
PENALTY, SMALLEST, LARGEST = 1e4, 1e-8, 1e8
#: the share of the cost's slope at which prices begin
NOTICED = 0.1


def prices_of(stage: StageFunctions, x: Array, numbers: Numbers) -> Array:
    """Prices at which rows under E begin to matter beside the cost: a share of what their slopes
    in y, compared with those of the cost, say."""
    typical = _typical(stage, x, numbers)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = typical[0] / typical[1 : 1 + stage.priced]
    return np.where(np.isfinite(ratio) & (ratio > 0.0), NOTICED * ratio, NOTICED)


def scales_of(stage: StageFunctions, x: Array, numbers: Numbers, penalty: float = 1.0) -> Scales:
    """``penalty``: how many times higher the price is than usual."""
    typical = _typical(stage, x, numbers)
    cost = typical[: 1 + stage.priced]
    cost = cost[0] if cost[0] > 0.0 else cost.max()
    rows = typical[1 + stage.priced :]
    return Scales(_inverse(np.array([cost]))[0], _inverse(rows), PENALTY * penalty)


def _typical(stage: StageFunctions, x: Array, numbers: Numbers) -> Array:
    """The largest slope in y of every function, in most scenarios."""
    of_y, _ = boxes(numbers, np.ones(stage.rows))
    y = of_y.inside(np.tile(stage.y_start, (numbers.count, 1)))
    slopes = np.abs(stage.functions.derivatives(x, y, numbers.w).slopes[:, :, stage.nx :])
    largest = slopes.max(axis=2, initial=0.0)
    with np.errstate(all="ignore"):
        found = np.median(np.where(np.isfinite(largest), largest, 1.0), axis=0)
    return np.asarray(found, dtype=float)


def _inverse(sizes: Array) -> Array:
    known = np.isfinite(sizes) & (sizes > 0.0)
    return np.clip(1.0 / np.where(known, sizes, 1.0), SMALLEST, LARGEST)
