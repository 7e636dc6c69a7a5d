r"""Roots of increasing functions, several at once: Newton's method between brackets.

A Newton step is taken where it stays inside what is known to hold the root; otherwise the bracket
is halved, or, as long as there is none, opened in steps that double. Steps that shrink as Newton's
do tell how short the next one would be: e, e^2, e^4, ...

The function is asked last at the root that is returned, so that whoever keeps what it has computed
has it there.
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
    stride, before = unit.copy(), np.full(t.size, np.inf)
    for _ in range(MOST):
        value, slope = function(t)
        low, high = np.where(value < 0.0, t, low), np.where(value > 0.0, t, high)
        with np.errstate(all="ignore"):
            newton = -value / slope
            newton = np.where(np.isnan(newton), np.where(value > 0.0, -np.inf, np.inf), newton)
        open_ended = ~(np.isfinite(low) & np.isfinite(high))
        step = np.where(open_ended, np.clip(newton, -stride, stride), newton)
        new = t + step
        outside = ~open_ended & ~((new > low) & (new < high))
        with np.errstate(invalid="ignore"):
            new = np.where(outside, 0.5 * (low + high), new)
        new = np.where(value == 0.0, t, new)
        stride = np.where(open_ended, 2.0 * stride, stride)
        small = ACCURACY * (np.abs(t) + unit)
        moves = np.abs(new - t) > small
        if not moves.any():
            break
        t = new
        length = np.where(outside | (step != newton), np.inf, np.abs(newton))
        with np.errstate(all="ignore"):
            following = np.where(np.isfinite(before), length * (length / before) ** 2, np.inf)
        if not (moves & ~(following <= small)).any():
            function(t)
            break
        before = length
    return t
