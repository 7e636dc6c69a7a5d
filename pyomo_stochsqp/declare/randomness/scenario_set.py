r"""Explicit scenarios: the expressions under E(m.scenario[:].cost), E([...]) and E({...}).

A :class:`ScenarioSet` keeps what the user wrote, the slice itself, and resolves it each time the
model is read. So blocks added or deactivated later and weights that changed are seen, declaring
costs nothing per block, and copies of a model refer to their own blocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyomo.core.base import Var
from pyomo.core.base.indexed_component_slice import IndexedComponent_slice

from ...errors import ModelError
from .probabilities import probabilities

_ATTRIBUTE = IndexedComponent_slice.get_attribute
_ITEM = IndexedComponent_slice.get_item


@dataclass(frozen=True, eq=False)
class Scenarios:
    """Resolved scenarios: one expression and one key each, probabilities (None: equal)."""

    name: str
    keys: list[Any]
    expressions: list[Any]
    weights: NDArray[np.float64] | None


class ScenarioSet:
    """What stands under an explicit E, as written."""

    def __init__(self, items: Any, weights: Any, renormalise: bool, source: str | None):
        self.items = items
        self.weights = weights
        self.renormalise = renormalise
        self.source = source

    @property
    def base(self) -> Any:
        """The component whose index numbers the scenarios; None for a list."""
        return self.items._call_stack[0][1][0] if self._is_slice else None

    @property
    def identity(self) -> Any:
        """Expectations with equal identities, keys and weights are over the same scenarios."""
        if self.source is not None:
            return self.source
        return id(self.items) if self.base is None else id(self.base)

    @property
    def _is_slice(self) -> bool:
        return isinstance(self.items, IndexedComponent_slice)

    @property
    def name(self) -> str:
        if self.source is not None:
            return self.source
        return str(self.base.name) if self._is_slice else "scenarios"

    def first(self) -> Any:
        """One of the expressions, to print and to notice a wrong attribute early."""
        items = iter(self.items if self._is_slice else self.items.values())
        try:
            return next(items)
        except StopIteration:
            raise ModelError(
                f"E({self}): there are no scenarios. Build the blocks before the expectation, or "
                "give a list that is not empty."
            ) from None
        except (AttributeError, KeyError, IndexError) as error:
            raise ModelError(_missing(self.items, error)) from None

    def resolve(self) -> Scenarios:
        """The active scenarios with their probabilities, as they are now."""
        if self._is_slice:
            keys, expressions, active = _entries(self.items)
        else:
            keys, expressions = list(self.items), list(self.items.values())
            active = None
        weights = probabilities(
            self.weights, keys, f"E over '{self.name}'", active, self.renormalise
        )
        if active is not None and not all(active):
            keys = [k for k, a in zip(keys, active, strict=True) if a]
            expressions = [e for e, a in zip(expressions, active, strict=True) if a]
        if not keys:
            raise ModelError(
                f"E({self}): all scenario blocks are deactivated. Activate some, or deactivate the "
                "component that uses this expectation."
            )
        return Scenarios(self.name, keys, expressions, weights)

    def __str__(self) -> str:
        if self._is_slice:
            return str(self.items)
        count = len(self.items)
        return "no scenarios" if count == 0 else f"{self.first()}, ... {count} scenarios"


def own_variables(block: Any) -> Iterator[Any]:
    """The variables that live in a scenario block; a Reference shows those of others."""
    for component in block.component_objects(Var):
        if not component.is_reference():
            yield from component.values()


def scenario_items(integrand: Any) -> Any:
    """A slice, or a mapping from scenario key to expression; None if it is a single expression."""
    if isinstance(integrand, (IndexedComponent_slice, Mapping)):
        return integrand
    if isinstance(integrand, np.ndarray):
        return dict(enumerate(integrand.ravel().tolist()))
    if hasattr(integrand, "is_indexed"):
        return integrand[...] if integrand.is_indexed() else None
    if isinstance(integrand, Iterable) and not isinstance(integrand, str):
        return dict(enumerate(integrand))
    return None


def _entries(items: IndexedComponent_slice) -> tuple[list[Any], list[Any], list[bool] | None]:
    """(keys, expressions, which are active) of a slice, deactivated blocks included."""
    base, fixed, sliced, ellipsis = items._call_stack[0][1]
    steps = items._call_stack[1 : items._len]
    if any(op[0] not in (_ATTRIBUTE, _ITEM) for op in steps):
        raise ModelError(f"E({items}): write E(m.scenario[:].cost), without a call.")
    if not all(op[0] == _ATTRIBUTE or (op[0] == _ITEM and not _is_wild(op[1])) for op in steps):
        try:
            pairs = list(items.wildcard_items())
        except (AttributeError, KeyError, IndexError) as error:
            raise ModelError(_missing(items, error)) from None
        return (
            [key for key, _ in pairs],
            [e for _, e in pairs],
            [_is_active(e, base.parent_block()) for _, e in pairs],
        )
    whole = not fixed and (ellipsis is not None or len(sliced) == base.index_set().dimen)
    # Pyomo's slice iterator costs several times as much as the dictionary behind it.
    head = IndexedComponent_slice(base, fixed, sliced, ellipsis)
    heads = base.items() if whole else head.wildcard_items()
    keys, expressions, active = [], [], []
    for key, node in heads:
        alive = getattr(node, "active", True)
        try:
            for operation in steps:
                name = operation[1]
                node = getattr(node, name) if operation[0] == _ATTRIBUTE else node[name]
                alive = alive and getattr(node, "active", True)
        except (AttributeError, KeyError, IndexError) as error:
            if alive:
                raise ModelError(_missing(items, error, key)) from None
        keys.append(key)
        expressions.append(node)
        active.append(alive)
    return keys, expressions, active


def _missing(items: Any, error: Exception, *key: Any) -> str:
    where = f"scenario {key[0]!r}" if key else "a scenario"
    return (
        f"E({items}): {where} has no such component ({error}). Give every scenario one, or "
        "deactivate its block."
    )


def _is_wild(index: Any) -> bool:
    parts: Sequence[Any] = index if isinstance(index, tuple) else (index,)
    return any(part is Ellipsis or isinstance(part, slice) for part in parts)


def _is_active(expression: Any, root: Any) -> bool:
    block = expression.parent_block() if hasattr(expression, "parent_block") else None
    while block is not None and block is not root:
        if not block.active:
            return False
        block = block.parent_block()
    return True
