r"""Random numbers of drawn scenarios, leaf by leaf."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...given import real
from ..over_scenarios import column_of
from ..program import Batch
from .two_stage import TwoStage


def leaves_of(program: TwoStage, batch: Batch) -> Callable[[Any], Any]:
    """Looks up the leaves of expressions: columns of the batch, and numbers of the model."""
    known: dict[int, Any] = {}

    def lookup(leaf: Any) -> Any:
        if id(leaf) not in known:
            known[id(leaf)] = _column(program, leaf, batch)
        return known[id(leaf)]

    return lookup


def _column(program: TwoStage, leaf: Any, batch: Batch) -> Any:
    place = program.leaves.get(id(leaf))
    if place is None:
        return real(leaf, leaf)
    return column_of(program.source.parts[place.part], place, batch.parts[place.part])
