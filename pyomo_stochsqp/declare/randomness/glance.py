r"""A RandomParam at a glance: where its numbers come from, and how they are spread.

Tables are summed up by all of their rows, with their probabilities (of a very long table by rows
spread evenly over it); distributions by draws. A user's sampler is not called: it may take minutes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import qmc

from ...text_table import Shown, TextTable
from ..distributions.random_vectors import Sampled
from .probabilities import probabilities
from .tables import Table

DRAWS = 4096
#: numbers of a table that are read at most, and members that are listed
MOST_NUMBERS, MOST_MEMBERS = 1 << 20, 8
LEVELS = (0.05, 0.5, 0.95)

Column = NDArray[np.float64]


def at_a_glance(component: Any) -> list[Shown]:
    """A sentence, and a table with a line for every member."""
    keys = list(component.keys())
    origin = component.origin
    said = f"RandomParam '{component.name}': {_origin_in_words(origin)}"
    listed = keys[:MOST_MEMBERS]
    names = [component[key].name for key in listed]
    if not component.random:
        fixed = [(n, f"{component[k]():.6g}") for n, k in zip(names, listed, strict=True)]
        return [f"{said}, fixed for now", TextTable(("", "fixed to"), fixed)]
    if isinstance(origin, Sampled):
        return [f"{said}; its numbers: {', '.join(names)}{_and_more(keys)}"]
    rows, weights = _some_rows(component, origin)
    digits = ".6g" if isinstance(origin, Table) else ".4g"
    table = [
        (name, *(f"{v:{digits}}" for v in _summary(rows[:, component.column(key)], weights)))
        for name, key in zip(names, listed, strict=True)
    ]
    header = ("", "mean", "std", *(f"{level:.0%}" for level in LEVELS))
    more = _and_more(keys)
    return [said, TextTable(header, table), *([more.strip()] if more else [])]


def _origin_in_words(origin: Any) -> str:
    if isinstance(origin, Table):
        return f"a table of {origin.size} scenarios"
    if isinstance(origin, Sampled):
        function = origin.function
        return f"drawn by {getattr(function, '__name__', type(function).__name__)}"
    return f"drawn from distributions (summed up from {DRAWS} draws)"


def _some_rows(component: Any, origin: Any) -> tuple[Column, Column | None]:
    if not isinstance(origin, Table):
        if not origin.dimension:
            return origin.draw(np.random.default_rng(0), DRAWS), None
        return origin.from_uniform(qmc.Sobol(origin.dimension, seed=0).random(DRAWS)), None
    stride = 1 + origin.size * origin.width // MOST_NUMBERS
    title = f"RandomParam '{component.name}'"
    weights = probabilities(component.source.weights, range(origin.size), title)
    rows = np.arange(0, origin.size, stride)
    if weights is None or not weights[rows].any():
        return origin.rows(rows), None
    return origin.rows(rows), weights[rows]


def _summary(values: Column, weights: Column | None) -> tuple[float, ...]:
    """Mean, standard deviation, quantiles."""
    p = np.full(values.size, 1.0 / values.size) if weights is None else weights / weights.sum()
    mean = float(p @ values)
    order = np.argsort(values, kind="stable")
    places = np.searchsorted(np.cumsum(p[order]), np.array(LEVELS) * (1.0 - 1e-12))
    quantiles = values[order][np.minimum(places, values.size - 1)]
    return mean, float(np.sqrt(p @ (values - mean) ** 2)), *quantiles.tolist()


def _and_more(keys: list[Any]) -> str:
    left = len(keys) - MOST_MEMBERS
    return f" and {left} more" if left > 0 else ""
