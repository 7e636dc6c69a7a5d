r"""Probabilities of finitely many scenarios: p_s >= 0, sum_s p_s = 1.

They are never rescaled behind the user's back: frequencies that do not sum to one are an error,
because the usual reason is a forgotten scenario or a wrong column. The tolerance on the sum is
1e-6, enough for probabilities typed with six digits; what remains is divided out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyomo.core.base.indexed_component_slice import IndexedComponent_slice
from pyomo.core.expr import value

from ...errors import DataError
from ...given import asked
from ..user_numbers import NotNumbers, as_floats

_SUM_TOLERANCE = 1e-6


def probabilities(
    weights: Any,
    keys: Sequence[Any] | range,
    title: str,
    active: Sequence[bool] | None = None,
    renormalise: bool = False,
) -> NDArray[np.float64] | None:
    """The probabilities of the scenarios ``keys``; None when all are equal.

    ``weights`` is None, a sequence in the order of the keys, or anything indexed by them (mapping,
    Param, slice, pandas Series). Scenarios that are not ``active`` are left out; what remains must
    still sum to one, unless ``renormalise``. ``title`` opens the error messages.
    """
    left_out = active is not None and not all(active)
    if weights is None and (not left_out or renormalise):
        return None
    p = _numbers(weights, keys, title)
    if not np.all(np.isfinite(p)) or np.any(p < 0):
        worst = int(np.flatnonzero(~(np.isfinite(p) & (p >= 0)))[0])
        raise DataError(
            f"{title}: weight {p[worst]:g} of scenario {keys[worst]} is not a probability. "
            "Weights must be finite and non-negative."
        )
    if left_out:
        p = p[np.asarray(active)]
    total = float(p.sum())
    if renormalise:
        if total == 0.0:
            raise DataError(f"{title}: the weights of the remaining scenarios are all zero.")
        return p / total
    if abs(total - 1.0) > _SUM_TOLERANCE:
        raise DataError(_wrong_sum(title, total, 0 if active is None else len(active) - len(p)))
    return p / total


def _wrong_sum(title: str, total: float, left_out: int) -> str:
    if left_out:
        return (
            f"{title}: {left_out} scenario blocks are deactivated, and the probabilities of the "
            f"others sum to {total:.9g}. Say E(..., renormalise=True) to divide by that sum, give "
            "weights= that sum to 1 over the active blocks, or activate the blocks."
        )
    return (
        f"{title}: the weights sum to {total:.9g}, not 1. If they are relative frequencies, "
        "divide them by their sum."
    )


def _numbers(weights: Any, keys: Sequence[Any] | range, title: str) -> NDArray[np.float64]:
    if weights is None:
        return np.full(len(keys), 1.0 / len(keys))
    if isinstance(weights, IndexedComponent_slice):
        weights = dict(weights.wildcard_items())
    elif hasattr(weights, "to_dict"):  # a pandas Series: by name for scenarios, in order for rows
        weights = np.asarray(weights) if isinstance(keys, range) else weights.to_dict()
    if isinstance(weights, Mapping) or hasattr(weights, "index_set"):
        weights = [_lookup(weights, key, title) for key in keys]
    elif not isinstance(weights, np.ndarray):
        if isinstance(weights, (str, Set)) or not isinstance(weights, Iterable):
            raise NotNumbers(
                f"{title}: weights={weights!r} are not numbers in the order of the scenarios. Give "
                "a list, an array, a mapping over the scenarios, or the name of a column."
            )
        weights = [_number(w, title) for w in weights]
    p = as_floats(f"{title}: weights", weights)
    if p.shape != (len(keys),):
        raise DataError(
            f"{title}: weights of shape {p.shape} for {len(keys)} scenarios; give one number each."
        )
    return p


def _number(weight: Any, title: str) -> Any:
    """The number behind a Param or an expression of Params; anything else as it is."""
    if not hasattr(weight, "is_numeric_type") or not weight.is_numeric_type():
        return weight
    if weight.is_potentially_variable() and not weight.is_fixed():
        raise DataError(
            f"{title}: the weight '{weight}' depends on variables. Probabilities are data: "
            "multiply the expressions by what is to be decided, and give numbers as weights."
        )
    return asked(f"{title}: the weight '{weight}'", value, weight)


def _lookup(weights: Any, key: Any, title: str) -> Any:
    try:
        return _number(weights[key], title)
    except KeyError:
        raise DataError(
            f"{title}: there is no weight for scenario {key!r}. Give one for every scenario "
            "(zero is allowed)."
        ) from None
