r"""Sources of randomness: whatever is drawn as one row w = (w_1, ..., w_n).

RandomParams that name the same source read the same row; RandomParams with different sources are
independent. A source either holds a joint table or distribution of its own, whose columns the
RandomParams read, or it is a mere label under which RandomParams with tables of equal length
belong together row by row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import DataError
from ...given import asked
from ..distributions import (
    Distribution,
    Sampled,
    checked,
    coupled,
    distribution,
    without_moments,
)
from ..program import Field, Part
from ..user_numbers import as_floats
from .probabilities import probabilities
from .readers import Stored, opened
from .tables import Table, column_labels, table

Origin = Table | Distribution


class RandomSource:
    """Joint randomness, shared by several RandomParams.

    With data of its own (at most one of ``data``, ``distribution`` and ``sampler``), RandomParams
    read its columns, by name or by ``columns=``:

    >>> import pyomo.environ as pyo, numpy as np
    >>> from pyomo_stochsqp import RandomParam, RandomSource
    >>> m = pyo.ConcreteModel()
    >>> days = RandomSource("days", data={"wind": [3.0, 5.0], "price": [40.0, 20.0]})
    >>> m.wind = RandomParam(source=days)
    >>> m.cost = RandomParam(source=days, columns="price")
    >>> m.cost.mean()
    30.0

    Without, it is a label: every RandomParam brings its own table, and row i of all of them is
    drawn together.

    >>> patients = RandomSource("patients")
    >>> m.features = RandomParam([0, 1], data=np.eye(2), source=patients)
    >>> m.label = RandomParam(data=[1.0, -1.0], source=patients)

    ``weights`` are the probabilities of the rows of finite data: an array, or the name of a column.
    ``copula`` joins univariate distributions (distributions/copulas.py).
    """

    def __init__(
        self,
        name: str | None = None,
        *,
        data: Any = None,
        distribution: Any = None,
        sampler: Any = None,
        weights: Any = None,
        copula: Any = None,
    ):
        if name is not None and not isinstance(name, str):
            raise DataError(
                f"RandomSource({type(name).__name__}): the first argument is a name; say data=, "
                "distribution= or sampler=."
            )
        self.name = name
        title = f"RandomSource '{name}'" if name else "RandomSource"
        self.weights: Any = None
        self.origin: Origin | None = None
        self.labels: list[Any] | None = None
        asked(title, self._read, title, data, distribution, sampler, weights, copula)

    def _read(
        self, title: str, data: Any, distribution: Any, sampler: Any, weights: Any, copula: Any
    ) -> None:
        data = opened(title, data)
        self.weights = named_weights(title, data, weights)
        if not all(v is None for v in (data, distribution, sampler)):
            self.origin = make_origin(title, None, data, distribution, sampler, copula=copula)
            self.labels = (
                self.origin.labels
                if isinstance(self.origin, Table)
                else list(distribution)
                if isinstance(distribution, Mapping)
                else None
            )
            check_weights(title, self.origin, self.weights)


def make_origin(
    title: str,
    width: int | None,
    data: Any,
    dist: Any,
    sampler: Any,
    wanted: Sequence[Any] | None = None,
    copula: Any = None,
) -> Origin:
    """The table or distribution behind exactly one of data=, distribution= and sampler=."""
    options = (("data", data), ("distribution", dist), ("sampler", sampler))
    given = [f"{key}=" for key, v in options if v is not None]
    if len(given) != 1:
        raise DataError(
            f"{title}: give exactly one of data=, distribution= and sampler= "
            f"({' and '.join(given) or 'none'} given)."
        )
    if copula is not None and dist is None:
        raise DataError(f"{title}: copula= joins the marginals given by distribution=[...].")
    if data is not None:
        return table(title, data, wanted)
    if dist is not None:
        made = asked(f"{title}: distribution=", distribution, title, dist, width)
        if copula is not None:
            made = asked(f"{title}: copula=", coupled, title, made, copula)
    else:
        made = Sampled(title, sampler)
    return asked(f"{title}: drawing two scenarios", checked, title, made, width)


def check_weights(title: str, origin: Origin, weights: Any) -> None:
    """Weights belong to finite data and are probabilities; found out at declaration."""
    if weights is None:
        return
    if not isinstance(origin, Table):
        raise DataError(
            f"{title}: weights= belong to data= (one probability per row); a distribution or a "
            "sampler carries its own probabilities. Remove weights=."
        )
    probabilities(weights, range(origin.size), title)


def named_weights(title: str, data: Any, weights: Any) -> Any:
    """``weights`` given as the name of a column of ``data`` become that column."""
    if not isinstance(weights, str):
        return weights
    if weights not in (column_labels(data) or []):
        raise DataError(f"{title}: weights='{weights}' is not a column of the data.")
    return as_floats(f"{title}: weights='{weights}'", data[weights])


def freeze(source: RandomSource, readers: Sequence[Any], members: Sequence[Any] = ()) -> Part:
    """The record of a source; ``readers`` are the RandomParams of the model that read from it.

    Of tables that are read while they are used, columns of other members than these are left out.
    """
    name = source.name or readers[0].name
    if source.origin is not None:
        titled: list[tuple[str, Origin]] = [(name, source.origin)]
    else:
        titled = [(reader.name, reader.origin) for reader in readers]
    tables = [(n, o) for n, o in titled if isinstance(o, Table)]
    if tables:
        size = tables[0][1].size
        weights = probabilities(source.weights, range(size), f"Source '{name}'")
        shared = source.origin is not None
        fields = tuple(
            _field(n, t, [m for m in members if shared or m.parent_component() is reader])
            for (n, t), reader in zip(tables, readers, strict=not shared)
        )
        return Part(name, fields, size=size, weights=weights)
    origins = [o for _, o in titled if not isinstance(o, Table)]
    dimensions = [o.dimension for o in origins]
    ends = np.cumsum(dimensions)

    call = f"Source '{name}': drawing scenarios"

    def draw(rng: np.random.Generator, count: int) -> tuple[NDArray[np.float64], ...]:
        return tuple(asked(call, o.draw, rng, count) for o in origins)

    def from_uniform(u: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
        parts = zip(origins, np.split(u, ends[:-1], axis=1), strict=True)
        return tuple(asked(call, o.from_uniform, v) for o, v in parts)  # type: ignore[union-attr]

    invertible = all(dimensions)
    return Part(
        name,
        tuple(Field(n, o.width) for n, o in titled),
        draw=draw,
        from_uniform=from_uniform if invertible else None,
        dimension=int(ends[-1]) if invertible else 0,
        costly=any(isinstance(o, Sampled) for o in origins),
        heavy=any(without_moments(o) is not None for o in origins),
    )


def _field(name: str, origin: Table, members: Sequence[Any]) -> Field:
    """The columns of a table; of one in a file, those that members read."""
    if not isinstance(origin.matrix, Stored) or not members:
        return Field(name, origin.width, origin.matrix)
    used = sorted({m.parent_component().column(m.index()) for m in members})
    matrix = origin.matrix.only(used)
    return Field(name, len(used), matrix, tuple(used))


def check_same_rows(title: str, origin: Origin, others: Sequence[Any]) -> None:
    """RandomParams under one label are drawn row by row together, so they need equal lengths."""
    rows = _rows(origin)
    for other in others:
        if _rows(other.origin) != rows:
            raise DataError(
                f"{title} has {rows}, but '{other.name}' of the same source has "
                f"{_rows(other.origin)}: rows of one source are drawn together, so give both the "
                "same number of rows, or separate sources."
            )


def _rows(origin: Origin) -> str:
    return f"{origin.size} rows" if isinstance(origin, Table) else "a distribution"
