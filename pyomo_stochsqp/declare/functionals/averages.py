r"""The mean of a function of random numbers, E[phi(a, b, ...)], in both declared forms.

a, b, ... are expressions with RandomParams, or explicit scenarios (slices, lists, mappings) over
the same scenarios with the same weights.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...errors import ModelError
from ..expectation import ExpectationData, require_number
from ..randomness.scenario_function import ScenarioFunction
from ..randomness.scenario_set import ScenarioSet, scenario_items
from ..symbol import Symbol


def argument(e: Any, weights: Any = None, renormalise: bool = False) -> Any:
    """What a functional is of: an expression, or a ScenarioSet."""
    items = scenario_items(e)
    if items is not None:
        return ScenarioSet(items, weights, renormalise, None)
    if weights is not None or renormalise:
        raise ModelError(
            f"{e}: weights= and renormalise= belong to explicit scenarios; give those of random "
            "data to its RandomParam."
        )
    require_number(e)
    return e


def mean(phi: Callable[..., Any], *arguments: Any) -> ExpectationData:
    """E[phi(a, b, ...)] of what :func:`argument` returned."""
    explicit = [isinstance(a, ScenarioSet) for a in arguments]
    if not any(explicit):
        return ExpectationData(phi(*arguments), None)
    if not all(explicit):
        raise ModelError(
            "Explicit scenarios and RandomParams cannot be averaged together: write both as "
            "scenario blocks, or both as RandomParams."
        )
    placeholders = tuple(Symbol(a) for a in arguments)
    return ExpectationData(None, ScenarioFunction(arguments, placeholders, phi(*placeholders)))


def plain_mean(a: Any) -> ExpectationData:
    """E[a]."""
    return ExpectationData(None, a) if isinstance(a, ScenarioSet) else ExpectationData(a, None)


def variance(a: Any, centre: Any) -> ExpectationData:
    """E[(a - centre)^2], centred before it is squared: nothing cancels."""
    return mean(lambda v: (v - centre) ** 2, a)
