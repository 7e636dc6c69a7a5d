r"""Roots of increasing functions, several at once: Newton's method between brackets.

A Newton step is taken where it stays inside what is known to hold the root; otherwise the bracket
is halved, or, as long as there is none, opened in steps that double.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..oracle import Vector

#: steps shorter than this share of the unit end the search
ACCURACY = 1e-12
MOST = 200


def increasing_roots(
    function: Callable[[Vector], tuple[Vector, Vector]], start: Vector, unit: Vector
) -> Vector:
    """The t with function(t) = 0, which returns values and slopes; ``unit`` are lengths over which
    it changes. NaN in, NaN out."""
    t = start.copy()
    low, high = np.full(t.size, -np.inf), np.full(t.size, np.inf)
    stride = unit.copy()
    for _ in range(MOST):
        value, slope = function(t)
        low, high = np.where(value < 0.0, t, low), np.where(value > 0.0, t, high)
        with np.errstate(all="ignore"):
            step = -value / slope
            step = np.where(np.isnan(step), np.where(value > 0.0, -np.inf, np.inf), step)
        open_ended = ~(np.isfinite(low) & np.isfinite(high))
        step = np.where(open_ended, np.clip(step, -stride, stride), step)
        new = t + step
        outside = ~open_ended & ~((new > low) & (new < high))
        with np.errstate(invalid="ignore"):
            new = np.where(outside, 0.5 * (low + high), new)
        new = np.where(value == 0.0, t, new)
        stride = np.where(open_ended, 2.0 * stride, stride)
        done = ~(np.abs(new - t) > ACCURACY * (np.abs(t) + unit))
        t = new
        if done.all():
            break
    return t
