r"""The same model over other random numbers, for a while: a held-out table, a stressed one.

    with other_numbers(model, {model.w: table}): ...

RandomParams are declared anew with what is given for them, or for the source they share, and are as
they were afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ...errors import DataError
from ..distributions import is_distribution
from .columns import Numbers, read_columns
from .random_param import RandomParam
from .readers import Stored
from .source import RandomSource


@contextmanager
def other_numbers(model: Any, given: Any) -> Iterator[None]:
    """``given``: a mapping from RandomParams, RandomSources or their names to data, distributions,
    samplers or RandomSources (with weights); or one of those, if the model has one source."""
    if given is None:
        yield
        return
    readers = _readers(model)
    wanted = _by_source(readers, given)
    kept = [(c, c.source, c.origin, c._columns) for c in _components(readers)]
    try:
        for (source, components), numbers in wanted:
            _declare(source, components, numbers)
        yield
    finally:
        for component, source, origin, columns in kept:
            component.replace(source, origin, columns)


Readers = dict[int, tuple[RandomSource, list[RandomParam]]]


def _readers(model: Any) -> Readers:
    found: Readers = {}
    for component in model.component_objects(RandomParam, descend_into=True):
        if not component.is_reference():
            found.setdefault(id(component.source), (component.source, []))[1].append(component)
    return found


def _components(readers: Readers) -> list[RandomParam]:
    return [c for _, components in readers.values() for c in components]


def _by_source(readers: Readers, given: Any) -> list[tuple[Any, dict[int, Any]]]:
    """[((source, its RandomParams), what is given for each, by id)]."""
    if not isinstance(given, Mapping) or _is_table(given, readers):
        if len(readers) != 1:
            names = ", ".join(c.name for c in _components(readers))
            raise DataError(
                f"data=: the model has {len(readers)} sources of randomness; say which one the "
                f"numbers are for, data={{m.w: ...}} (RandomParams: {names or 'none'})."
            )
        ((source, components),) = readers.values()
        return [((source, components), {id(c): given for c in components})]
    found: dict[int, dict[int, Any]] = {}
    for key, numbers in given.items():
        components = _named(readers, key)
        mine = found.setdefault(id(components[0].source), {})
        mine.update((id(c), numbers) for c in components)
    return [(readers[key], numbers) for key, numbers in found.items()]


def _is_table(given: Mapping[Any, Any], readers: Readers) -> bool:
    """A mapping of columns, and not one of RandomParams."""
    names = {c.name for c in _components(readers)} | {s.name for s, _ in readers.values() if s.name}
    return not any(isinstance(k, (RandomParam, RandomSource)) or k in names for k in given)


def _named(readers: Readers, key: Any) -> list[RandomParam]:
    for source, components in readers.values():
        if key is source or (source.name is not None and key == source.name):
            return components
        for component in components:
            if key is component or key == component.name:
                return components if source.origin is not None else [component]
    known = ", ".join(c.name for c in _components(readers))
    raise DataError(f"data=: '{key}' is no RandomParam or source of the model, which has {known}.")


def _declare(source: RandomSource, components: list[RandomParam], numbers: dict[int, Any]) -> None:
    """Let the RandomParams of a source read what is given."""
    left = [c.name for c in components if id(c) not in numbers]
    if left:
        raise DataError(
            f"data=: rows of source '{source.name}' belong together; give numbers for "
            f"'{left[0]}', too."
        )
    if source.origin is not None:
        shared = _source(source.name, numbers[id(components[0])])
    elif len(components) > 1:
        shared = RandomSource(source.name)
    else:
        shared = None
    for component in components:
        own = Numbers(None, None, None)
        if source.origin is None:
            own, weights = _numbers(numbers[id(component)])
        else:
            weights = None
        component._source, component._origin = shared, None
        found = read_columns(component, own, weights, component._wanted)
        component.replace(*found)


def _source(name: str | None, given: Any) -> RandomSource:
    if isinstance(given, RandomSource):
        return given
    numbers, _ = _numbers(given)
    return RandomSource(
        name, data=numbers.data, distribution=numbers.distribution, sampler=numbers.sampler
    )


def _numbers(given: Any) -> tuple[Numbers, Any]:
    """What was given, by its kind, and the weights that it brings."""
    if isinstance(given, RandomSource):
        if given.origin is None:
            raise DataError("data=: this RandomSource has no numbers of its own.")
        matrix = getattr(given.origin, "matrix", None)
        if matrix is None:
            return Numbers(None, None, given.origin.draw), None  # type: ignore[union-attr]
        labels = given.labels
        if labels is None or isinstance(matrix, Stored):
            return Numbers(matrix, None, None), given.weights
        data = {k: matrix[:, j] for j, k in enumerate(labels)}
        return Numbers(data, None, None), given.weights
    several = isinstance(given, (list, tuple)) and bool(given)
    if is_distribution(given) or (several and all(map(is_distribution, given))):
        return Numbers(None, given, None), None
    if callable(given) and not hasattr(given, "columns"):
        return Numbers(None, None, given), None
    return Numbers(given, None, None), None
