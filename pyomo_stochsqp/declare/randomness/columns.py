r"""Which columns the members of a RandomParam read, and of which table or distribution.

Three cases: the RandomParam has numbers of its own and so a private source; it has numbers of its
own under the label of a shared source; or it reads columns of a source that holds the numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...errors import DataError
from ..distributions import is_distribution, is_family
from .readers import opened
from .source import Origin, RandomSource, check_same_rows, check_weights, make_origin, named_weights
from .tables import Table, column_labels, positions


@dataclass(frozen=True, eq=False)
class Numbers:
    """What the user gave, until construction. An AbstractModel's instances share it, uncopied."""

    data: Any
    distribution: Any
    sampler: Any
    copula: Any = None

    def __deepcopy__(self, memo: Any) -> Numbers:
        return self


def read_columns(
    component: Any, numbers: Numbers, weights: Any, columns: Any
) -> tuple[RandomSource, Origin, dict[Any, int]]:
    """(source, table or distribution, column of each member) of a RandomParam being built."""
    title = f"RandomParam '{component.name}'"
    keys = list(component._data)
    source = component._source
    wanted = _wanted(title, columns, len(keys))
    data, distribution, sampler = numbers.data, numbers.distribution, numbers.sampler
    if source is not None and weights is not None:
        raise DataError(
            f"{title}: weights= belong to the shared source; say RandomSource(weights=...)."
        )
    if source is not None and source.origin is not None:
        if not all(v is None for v in (data, distribution, sampler, numbers.copula)):
            raise DataError(
                f"{title}: its source already holds the numbers; leave out data=, distribution=, "
                "sampler= and copula=, or use a RandomSource without them."
            )
        origin = source.origin
        places = _places(title, component, keys, wanted, source.labels, origin.width)
    else:
        data, distribution = _evaluate_rules(component, keys, data, distribution)
        data = opened(title, data)
        if isinstance(distribution, Mapping):
            order = positions(title, keys, list(distribution))
            distribution = [list(distribution.values())[j] for j in order]
        labels = column_labels(data)
        if labels is not None:
            wanted = _by_name(title, component, keys, wanted, labels)
        weights = named_weights(title, data, weights)
        origin = make_origin(title, len(keys), data, distribution, sampler, wanted, numbers.copula)
        check_weights(title, origin, weights)
        named = wanted if labels is not None else None
        places = _places(title, component, keys, wanted, named, origin.width)
        if source is None:
            source = RandomSource(weights=weights)
        else:
            check_same_rows(title, origin, _readers(component, source))
    if isinstance(origin, Table):
        origin.check_finite(title, places)
    return source, origin, dict(zip(keys, places, strict=True))


def _wanted(title: str, columns: Any, count: int) -> Any:
    """``columns=`` as a sequence or slice; a single label stands for a sequence of one."""
    if columns is None or isinstance(columns, slice):
        return columns
    wanted = [columns] if isinstance(columns, (str, int)) else list(columns)
    if len(wanted) != count:
        raise DataError(f"{title}: columns= names {len(wanted)} columns for {count} members.")
    return wanted


def _places(
    title: str,
    component: Any,
    keys: Sequence[Any],
    wanted: Any,
    labels: Sequence[Any] | None,
    width: int,
) -> list[int]:
    if labels is not None:
        return positions(title, _by_name(title, component, keys, wanted, labels), labels)
    everything = list(range(width))
    if wanted is None:
        chosen = everything
    elif isinstance(wanted, slice):
        chosen = everything[wanted]
    else:
        return positions(title, wanted, everything)
    if len(chosen) != len(keys):
        raise DataError(
            f"{title}: {len(chosen)} columns for {len(keys)} members. One column is needed for "
            "each member (rows are scenarios); choose among more columns with columns=."
        )
    return chosen


def _by_name(
    title: str, component: Any, keys: Sequence[Any], wanted: Any, labels: Sequence[Any]
) -> list[Any]:
    """The labels that the members read: those asked for, else those that the index names."""
    if isinstance(wanted, slice):
        return list(labels)[wanted]
    if wanted is not None:
        return list(wanted)
    if component.is_indexed():
        return list(keys)
    if component.local_name in labels or len(labels) != 1:
        return [component.local_name]
    return [labels[0]]


def _evaluate_rules(
    component: Any, keys: Sequence[Any], data: Any, distribution: Any
) -> tuple[Any, Any]:
    """``data`` and ``distribution`` may be rules, called like any other rule of Pyomo."""
    block = component.parent_block()
    if callable(data) and not hasattr(data, "columns"):
        data = data(block)
    rule = callable(distribution) and not is_family(distribution)
    if rule and not is_distribution(distribution):
        if component.is_indexed():
            distribution = [distribution(block, *_as_tuple(key)) for key in keys]
        else:
            distribution = distribution(block)
    return data, distribution


def _as_tuple(key: Any) -> tuple[Any, ...]:
    return key if isinstance(key, tuple) else (key,)


def _readers(component: Any, source: RandomSource) -> list[Any]:
    """The other RandomParams of the model under the label of this source."""
    return [
        other
        for other in component.model().component_objects(component.ctype, descend_into=True)
        if other._source is source and other is not component and other._origin is not None
    ]
