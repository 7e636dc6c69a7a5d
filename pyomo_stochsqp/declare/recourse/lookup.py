r"""Random numbers of drawn scenarios, leaf by leaf."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...given import real
from ..program import Batch
from ..randomness.tables import Table
from .two_stage import TwoStage

Array = NDArray[np.float64]


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
    part, drawn = program.source.parts[place.part], batch.parts[place.part]
    if isinstance(drawn, tuple):
        return np.asarray(drawn[place.field][:, place.column], dtype=float)
    matrix = part.fields[place.field].matrix
    if part.stored:
        return Table(matrix).rows(drawn)[:, place.column]
    column = matrix[:, [place.column]]
    column = column.toarray() if hasattr(column, "toarray") else np.asarray(column)
    return np.asarray(column.ravel()[drawn], dtype=float)
