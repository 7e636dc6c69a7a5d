r"""Numbers of a model that may be changed for a while.

mutable Param   its value
Constraint      its right-hand side: both bounds of a range are shifted
RandomParam     w + h: all of its numbers are shifted;  mean + (1 + h)(w - mean): are spread out
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyomo.environ as pyo
from numpy.typing import NDArray

from ..declare.randomness.random_param import RandomParam, RandomParamData
from ..declare.randomness.source import RandomSource
from ..declare.randomness.tables import Table
from ..errors import DataError, ModelError

Rows = NDArray[np.float64]

#: steps relative to the size of a parameter
STEP = 1e-4
#: scenarios that tell how far a random number spreads, and what the mean of a sampler is
MANY = 1 << 16


@dataclass(frozen=True)
class Parameter:
    """``changed(h)`` is a context in which the parameter is larger by h; it yields by how much the
    bounds of constraints have moved, by the ids of the constraints."""

    name: str
    step: float
    changed: Callable[[float], AbstractContextManager[dict[int, float]]]


def parameters_of(given: Any) -> list[Parameter]:
    """What can be changed of a component; of an indexed one, all members."""
    if isinstance(given, RandomParam) and given.is_indexed():
        members = list(given.values())
        return [p for member in members for p in _of_random(member)]
    if hasattr(given, "is_indexed") and given.is_indexed():
        return [p for member in given.values() for p in parameters_of(member)]
    if isinstance(given, RandomParamData):
        return _of_random(given)
    if getattr(given, "ctype", None) is pyo.Constraint:
        return [_of_row(given)]
    if is_mutable_param(given):
        return [_of_param(given)]
    raise ModelError(
        f"'{given}' is no parameter that can be changed. Give mutable Params, Constraints (their "
        "right-hand sides) or RandomParams."
    )


def is_mutable_param(given: Any) -> bool:
    """A single number of the model that may be set."""
    return hasattr(given, "set_value") and bool(getattr(given, "is_parameter_type", bool)())


def _of_param(param: Any) -> Parameter:
    number = float(pyo.value(param))

    @contextmanager
    def changed(h: float) -> Iterator[dict[int, float]]:
        param.set_value(number + h)
        try:
            yield {}
        finally:
            param.set_value(number)

    return Parameter(param.name, STEP * (abs(number) or 1.0), changed)


def _of_row(row: Any) -> Parameter:
    bounds = [abs(pyo.value(b)) for b in (row.lower, row.upper) if b is not None]

    @contextmanager
    def changed(h: float) -> Iterator[dict[int, float]]:
        yield {id(row): h}

    return Parameter(f"bound of {row.name}", STEP * (max(bounds) or 1.0), changed)


def _of_random(member: Any) -> list[Parameter]:
    component = member.parent_component()
    column = component.column(member.index())
    sample = _sample(component.origin, column)
    mean, spread = _mean(component, member.index(), sample), float(sample.std())

    def shift(rows: Rows, h: float) -> Rows:
        return rows + h

    def stretch(rows: Rows, h: float) -> Rows:
        return mean + (1.0 + h) * (rows - mean)

    def altered(how: Callable[[Rows, float], Rows]) -> Any:
        @contextmanager
        def changed(h: float) -> Iterator[dict[int, float]]:
            with _altered(component, column, lambda rows: how(rows, h)):
                yield {}

        return changed

    size = spread or abs(mean) or 1.0
    found = [Parameter(f"mean of {member.name}", STEP * size, altered(shift))]
    if spread > 0.0:
        found.append(Parameter(f"spread of {member.name}", STEP, altered(stretch)))
    return found


def _mean(component: Any, index: Any, sample: Rows) -> float:
    try:
        means = component.mean()
    except DataError:  # a sampler does not know it
        return float(sample.mean())
    return float(means[index] if component.is_indexed() else means)


def _sample(origin: Any, column: int) -> Rows:
    if isinstance(origin, Table):
        matrix = origin.matrix[:, [column]]
        return np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix).ravel()
    return np.asarray(origin.draw(np.random.default_rng(0), MANY))[:, column]


@contextmanager
def _altered(component: Any, column: int, change: Callable[[Rows], Rows]) -> Iterator[None]:
    """One column of a RandomParam's numbers is another one for a while."""
    source, origin = component.source, component.origin
    readers = [
        c
        for c in component.model().component_objects(RandomParam, descend_into=True)
        if not c.is_reference() and c.source is source
    ]
    other: Any
    if isinstance(origin, Table):
        matrix = origin.matrix
        matrix = np.array(matrix.toarray() if hasattr(matrix, "toarray") else matrix, dtype=float)
        matrix[:, column] = change(matrix[:, column])
        other = Table(matrix, origin.labels)
    else:
        other = _Changed(origin, column, change)
    shared = RandomSource(source.name, weights=source.weights)
    shared.labels = source.labels
    if source.origin is not None:
        shared.origin = other
    kept = [(c, c.origin) for c in readers]
    try:
        for c, own in kept:
            c.replace(shared, other if c is component or source.origin is not None else own)
        yield
    finally:
        for c, own in kept:
            c.replace(source, own)


class _Changed:
    """A distribution, one of whose numbers is changed after it is drawn."""

    def __init__(self, origin: Any, column: int, change: Callable[[Rows], Rows]):
        self._origin, self._column, self._change = origin, column, change
        self.width, self.dimension = origin.width, origin.dimension
        if hasattr(origin, "from_uniform"):
            self.from_uniform = lambda u: self._changed(origin.from_uniform(u))

    def draw(self, rng: np.random.Generator, count: int) -> Rows:
        return self._changed(self._origin.draw(rng, count))

    def _changed(self, rows: Rows) -> Rows:
        rows = np.array(rows, dtype=float)
        rows[:, self._column] = self._change(rows[:, self._column])
        return rows
