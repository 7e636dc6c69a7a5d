r"""The error of an answer, from the family's own functions and nothing that a solver said.

    infeasibility  largest violation of a row, relative to max(1, |bound|, sum_j |J_ij x_j|)
    stationarity   min |g + J_A' y - z|_inf / |g|_inf   over multipliers y of rows, z of bounds,
                   with the signs that their bounds ask for, of whatever is within ACTIVE of them

The larger of the two counts.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import lsq_linear

from benchmarks.peers.families import Array, Family

#: relative distances from a bound that are tried as active; the best multipliers count
ACTIVE = (1e-8, 1e-6, 1e-5, 1e-4, 1e-3)


def kkt_error(family: Family, x: Array) -> float:
    """Relative KKT error at x."""
    v = family.values(x)
    bound = np.maximum(_size(family.row_lower), _size(family.row_upper))
    size = np.maximum(1.0, np.maximum(bound, np.abs(v.J) @ np.abs(x)))
    below, above = (family.row_lower - v.c) / size, (v.c - family.row_upper) / size
    outside = np.maximum(family.lower - x, x - family.upper) / np.maximum(1.0, np.abs(x))
    infeasibility = max(
        float(np.maximum(below, above).max(initial=0.0)), float(outside.max(initial=0.0)), 0.0
    )
    left = min(_stationarity(family, x, v.g, v.J, below, above, near) for near in ACTIVE)
    return max(infeasibility, left / float(np.abs(v.g).max()))


def _stationarity(
    family: Family, x: Array, g: Array, J: Array, below: Array, above: Array, near: float
) -> float:
    room = near * np.maximum(1.0, np.abs(x))
    at_lower, at_upper = x <= family.lower + room, x >= family.upper - room
    low, high = below >= -near, above >= -near
    active = low | high
    columns = [J[active].T, np.eye(x.size)[:, at_lower], np.eye(x.size)[:, at_upper]]
    least = [np.where(low[active], -np.inf, 0.0), np.full(at_lower.sum(), -np.inf)]
    most = [np.where(high[active], np.inf, 0.0), np.zeros(at_lower.sum())]
    least.append(np.zeros(at_upper.sum()))
    most.append(np.full(at_upper.sum(), np.inf))
    A = np.hstack(columns)
    if not A.shape[1]:
        return float(np.abs(g).max())
    scale = np.maximum(np.linalg.norm(A, axis=0), 1e-300)
    limits = (np.concatenate(least), np.concatenate(most))
    if np.isneginf(limits[0]).all() and np.isposinf(limits[1]).all():
        y = np.linalg.lstsq(A / scale, -g, rcond=None)[0]
    else:
        y = lsq_linear(A / scale, -g, limits, tol=1e-14, lsq_solver="exact").x
    return float(np.abs(g + A / scale @ y).max())


def _size(bound: Array) -> Array:
    return np.where(np.isfinite(bound), np.abs(bound), 0.0)
