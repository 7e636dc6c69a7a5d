r"""The variables behind a leaf of a block, entry by entry.

A variable has one entry for each instance, an affine form as many as it has terms:

    z_i = sum over entries e of instance i of  scales[e] * (column columns[e]) * x[indices[e]] .
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..algebra.node import Coef
from .block import AffineSlot, Ints
from .values import Val


@dataclass(eq=False)
class Support:
    """The entries of a leaf, instance by instance: variables, constant factors, data columns."""

    pointers: Ints
    indices: Ints
    scales: list[Coef]
    field: int | None = None
    columns: Ints | None = None

    @classmethod
    def of(cls, leaf: Val, size: int) -> Support:
        """The entries of a leaf in a block of ``size`` instances (0: not grouped)."""
        count = max(size, 1)
        if leaf.op == "x":
            indices = np.array(np.broadcast_to(leaf.payload.index, (count,)), dtype=np.intp)
            return cls(np.arange(count + 1), indices, [1.0] * count)
        slot: AffineSlot = leaf.payload
        repeat = count if slot.single else 1
        width = slot.indices.size
        pointers = np.arange(count + 1) * width if slot.single else slot.pointers
        columns = None if slot.field is None else np.tile(slot.columns, repeat)
        return cls(
            pointers, np.tile(slot.indices, repeat), slot.scales * repeat, slot.field, columns
        )

    @property
    def owners(self) -> Ints:
        """The instance of each entry."""
        return np.repeat(np.arange(self.pointers.size - 1), np.diff(self.pointers))
