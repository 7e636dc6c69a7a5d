r"""Kinks rounded off over a width w; u = z^2 + w^2.

    positive_part   max(z, 0)  ~  (z + (u^2 - w^2 u/2 - w^4/8) / u^(3/2)) / 2    by at most 3w/16
    rounded_step    [z > 0]    ~  its slope, (1 + z (u^2 + w^2 u/2 + 3w^4/8) / u^(5/2)) / 2
    bump                          the slope of that, 15 w^6 / 16 u^(7/2)
    smooth_max      max(a, b)  ~  b + positive_part(a - b)
    smooth_min      min(a, b)  ~  b - positive_part(b - a)
    smooth_abs      |z|        ~  2 positive_part(z) - z

The bump is the density of Student's t with six degrees of freedom. It has a variance, w^2/4, so
that a mean over a density f errs by f w^2/8 only, the square of the width; and it has tails, so
that a small sample cannot fall between the bumps, where derivatives would vanish. No exponential is
involved, and nothing overflows.
"""

from __future__ import annotations

from math import inf
from typing import Any

from pyomo.core.expr import sqrt
from pyomo.core.expr.numeric_expr import MaxExpression
from pyomo.core.expr.numvalue import native_numeric_types

from ...errors import ModelError


def positive_part(z: Any, width: Any = None) -> Any:
    """max(z, 0), rounded off over a width.

    Without a width it may stand under E, where the spread of z decides (rounding.py).

    >>> from pyomo_stochsqp import positive_part
    >>> round(positive_part(3.0, 1e-3), 9), positive_part(0.0, 16.0)
    (3.0, 3.0)
    """
    if width is None:
        return MaxExpression((z, 0.0))
    if width.__class__ in native_numeric_types and not 0.0 < width < inf:
        raise ModelError(f"positive_part({z}, {width}): width={width} must be positive.")
    return rounded_part(z, width**2)


def smooth_abs(z: Any, width: Any = None) -> Any:
    """abs(z), rounded off over a width, or, under E, as the spread of z demands.

    >>> from pyomo_stochsqp import smooth_abs
    >>> round(smooth_abs(-3.0, 1e-3), 9), smooth_abs(0.0, 16.0)
    (3.0, 6.0)
    """
    return abs(z) if width is None else 2 * positive_part(z, width) - z


def smooth_max(a: Any, b: Any, *more: Any, width: Any = None) -> Any:
    """The largest of two or more, each corner rounded off over a width, or, under E, as the spread
    of their differences demands.

    >>> from pyomo_stochsqp import smooth_max
    >>> round(smooth_max(1.0, 5.0, 3.0, width=1e-3), 6)
    5.0
    """
    largest = a
    for c in (b, *more):
        largest = c + positive_part(largest - c, width)
    return largest


def smooth_min(a: Any, b: Any, *more: Any, width: Any = None) -> Any:
    """The smallest of two or more, likewise.

    >>> from pyomo_stochsqp import smooth_min
    >>> round(smooth_min(1.0, 5.0, 3.0, width=1e-3), 6)
    1.0
    """
    smallest = a
    for c in (b, *more):
        smallest = c - positive_part(c - smallest, width)
    return smallest


def rounded_part(z: Any, v: Any) -> Any:
    """:func:`positive_part`, by the square of the width, of which no root is ever taken: where
    nothing spreads, the width is zero."""
    u = z**2 + v
    return (z + (u**2 - v * u / 2 - v**2 / 8) / (u * sqrt(u))) / 2


def rounded_step(z: Any, v: Any) -> Any:
    """1 where z is positive, 0 where it is negative, likewise."""
    u = z**2 + v
    return (1 + z * (u**2 + v * u / 2 + 0.375 * v**2) / (u**2 * sqrt(u))) / 2


def bump(z: Any, v: Any) -> Any:
    """The slope of :func:`rounded_step`."""
    u = z**2 + v
    return 0.9375 * v**3 / (u**3 * sqrt(u))
