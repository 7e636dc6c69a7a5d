r"""Chance constraints: rows that hold one probability, a + b P(e <= 0), a and b constant.

``Probability(e <= 0) >= 0.95``, ``1 - Probability(e <= 0) <= 0.05`` and the like are all read by
the quantile of the level p at which they hold with equality (probability.py).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

from pyomo.core.expr import numeric_expr as ne
from pyomo.core.expr.numvalue import native_numeric_types, value

from ..scan import random_inside
from .probability import ProbabilityData


class _Affine(NamedTuple):
    #: numbers, or expressions of Params, whose values may change
    constant: Any
    factor: Any = 0.0
    event: ProbabilityData | None = None

    def times(self, number: Any) -> _Affine:
        return _Affine(number * self.constant, number * self.factor, self.event)


def by_quantile(body: Any, lower: float, upper: float) -> Any:
    """The body of a row as it is near its bound; any other row as it is."""
    bounds = {bound for bound in (lower, upper) if math.isfinite(bound)}
    if len(bounds) != 1:
        return body
    found = _affine(body)
    if found is None or found.event is None:
        return body
    level = (bounds.pop() - value(found.constant)) / value(found.factor)
    return found.constant + found.factor * found.event.around(level)


def _affine(e: Any) -> _Affine | None:
    """e, if it is of that form."""
    if e.__class__ in native_numeric_types:
        return _Affine(float(e))
    if isinstance(e, ProbabilityData):
        return _Affine(0.0, 1.0, e)
    if not e.is_potentially_variable():
        return None if random_inside(e) else _Affine(e)
    if isinstance(e, ne.SumExpression):
        return _sum(_affine(a) for a in e.args)
    if isinstance(e, ne.NegationExpression):
        inside = _affine(e.args[0])
        return inside and inside.times(-1.0)
    if isinstance(e, (ne.ProductExpression, ne.DivisionExpression)):
        return _product(e, *(_affine(a) for a in e.args))
    return None


def _sum(parts: Iterable[_Affine | None]) -> _Affine | None:
    constant: Any = 0.0
    varying = _Affine(0.0)
    for part in parts:
        if part is None or (part.event is not None and varying.event is not None):
            return None
        constant = constant + part.constant
        varying = varying if part.event is None else part
    return varying._replace(constant=constant)


def _product(e: Any, a: _Affine | None, b: _Affine | None) -> _Affine | None:
    if a is None or b is None:
        return None
    divided = isinstance(e, ne.DivisionExpression)
    if b.event is None and value(b.constant) != 0.0:
        return a.times(1.0 / b.constant if divided else b.constant)
    if a.event is None and value(a.constant) != 0.0 and not divided:
        return b.times(a.constant)
    return None
