r"""The numbers that a RandomParam can be fixed to: its mean, a scenario, or given values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import DataError
from ..user_numbers import as_floats
from .probabilities import probabilities
from .tables import Table


def fixed_numbers(component: Any, values: Any, row: int | None) -> dict[Any, float]:
    """One number for every member, from what the user gave to ``fix_to``."""
    title = f"RandomParam '{component.name}'"
    keys = list(component.keys())
    if (values is None) == (row is None):
        raise DataError(f"{title}: fix_to needs either values or row=.")
    if row is not None:
        return _by_index(component, _row(component, title, row))
    if isinstance(values, str):
        if values != "mean":
            raise DataError(f"{title}: fix_to('{values}') is unknown; say 'mean' or give numbers.")
        return mean_numbers(component)
    if isinstance(values, Mapping):
        missing = [key for key in keys if key not in values]
        if missing:
            raise DataError(
                f"{title}: fix_to has no value for {missing[0]!r}; give one for every member."
            )
        values = [values[key] for key in keys]
    numbers = as_floats(f"{title}: fix_to", values)
    if not np.isfinite(numbers).all():
        raise DataError(f"{title}: fix_to got NaN or infinity; give finite numbers.")
    if numbers.ndim > 0 and numbers.shape != (len(keys),):
        raise DataError(f"{title}: fix_to got shape {numbers.shape} for {len(keys)} members.")
    return dict(zip(keys, np.broadcast_to(numbers, (len(keys),)).tolist(), strict=True))


def mean_numbers(component: Any) -> dict[Any, float]:
    """The expected value of every member."""
    origin = component.origin
    if not isinstance(origin, Table):
        return _by_index(component, origin.mean())
    title = f"RandomParam '{component.name}'"
    p = probabilities(component.source.weights, range(origin.size), title)
    return _by_index(component, origin.mean(p))


def _row(component: Any, title: str, row: int) -> NDArray[np.float64]:
    origin = component.origin
    whole = isinstance(row, (int, np.integer))
    if not isinstance(origin, Table) or not whole or not 0 <= row < origin.size:
        raise DataError(
            f"{title}: there is no row {row}. fix_to(row=...) takes one of the rows of finite data."
        )
    return origin.rows([row])[0]


def _by_index(component: Any, row: NDArray[np.float64]) -> dict[Any, float]:
    return {key: float(row[component.column(key)]) for key in component}
