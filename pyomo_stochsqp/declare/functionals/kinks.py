r"""max, min and abs under an expectation: E[max(a, b)] is smooth where a - b has a density.

Averages over many scenarios round the kinks off by themselves, but a method with second derivatives
needs them from every sample, and over a table nothing is rounded at all. So kinks that hold random
numbers are rounded off by the spread of a - b (rounding.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyomo.core.expr import numeric_expr as ne
from pyomo.core.expr.numvalue import native_numeric_types

from ...errors import ModelError
from ..expectation import ExpectationData
from ..randomness.scenario_function import ScenarioNumbers
from ..randomness.scenario_set import Scenarios
from ..scan import Contents
from ..template import Template
from .rounding import Rounding, rounding

KINKED = (ne.AbsExpression, ne.MaxExpression, ne.MinExpression)
#: the expectation of numbers, one for every expression that is rounded off together
Mean = Callable[[list[Any]], ExpectationData]


def has_kinks(seen: Contents | None) -> bool:
    """Whether an explicit scenario, where nothing is random any more, holds a kink."""
    return seen is not None and seen.obstacle is not None and isinstance(seen.obstacle[1], KINKED)


def smoothed(integrand: Any) -> Any:
    """The integrand with its kinks rounded off."""
    (made,) = _smoothed([integrand], lambda numbers: ExpectationData(numbers[0], None))
    return made


def smoothed_scenarios(explicit: Any, resolved: Scenarios) -> list[Any]:
    """The expressions of explicit scenarios with their kinks rounded off, by one width each."""

    def mean(numbers: list[Any]) -> ExpectationData:
        return ExpectationData(None, ScenarioNumbers(explicit, resolved, numbers))

    return _smoothed(resolved.expressions, mean)


def _smoothed(expressions: list[Any], mean: Mean) -> list[Any]:
    """``mean`` of one number per expression."""
    kinks = [_outermost(e) for e in expressions]
    if not any(kinks):
        return expressions
    if len({tuple(map(type, found)) for found in kinks}) > 1:
        raise ModelError(
            f"{expressions[0]}: max, min or abs do not stand at the same places in all scenarios, "
            "so there is no spread to round them off by. Use positive_part or smooth_max with a "
            "width."
        )
    rounded = [_rounded(list(same), mean) for same in zip(*kinks, strict=True)]
    made = []
    for s, (e, found) in enumerate(zip(expressions, kinks, strict=True)):
        smooth = {id(kink): rounded[i][s] for i, kink in enumerate(found)}
        made.append(Template(e, smooth).copy(smooth))
    return made


def _outermost(expr: Any) -> list[Any]:
    """Kinks that are not inside others."""
    found, stack, seen = [], [expr], set()
    while stack:
        node = stack.pop()
        if node.__class__ in native_numeric_types or not node.is_expression_type():
            continue
        if id(node) in seen or getattr(node, "is_expectation", False):
            continue
        seen.add(id(node))
        if isinstance(node, KINKED) and node.is_potentially_variable():
            found.append(node)
        else:
            stack.extend(node.args)
    return found


def _rounded(kinks: list[Any], mean: Mean) -> list[Any]:
    """The same kink in every scenario, rounded off."""
    first = kinks[0]
    args = [_smoothed(list(a), mean) for a in zip(*(k.args for k in kinks), strict=True)]
    if isinstance(first, ne.AbsExpression):
        smooth = _rounding(args[0], mean)
        return [2 * smooth.positive_part(z) - z for z in args[0]]
    values = args[0]
    for others in args[1:]:
        sign = 1 if isinstance(first, ne.MaxExpression) else -1
        apart = [sign * (v - o) for v, o in zip(values, others, strict=True)]
        smooth = _rounding(apart, mean)
        values = [o + sign * smooth.positive_part(z) for o, z in zip(others, apart, strict=True)]
    return values


def _rounding(numbers: list[Any], mean: Mean) -> Rounding:
    centre = mean(numbers)
    return rounding("", numbers[0], mean([(z - centre) ** 2 for z in numbers]))
