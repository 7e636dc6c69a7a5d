r"""Where results go: one flat vector, and the fixed sparsity of the Jacobian.

    out = [ g (n) | c (m) | nonzeros of J, row by row | f | spare ]

The pattern of J is the union of all variables that can enter a row, whatever their current
coefficients, so it never changes. Function 0 is the objective: its derivatives go to g.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..plan import Plan
from ..scenarios.row_classes import Streams
from .block import InnerSlot, Ints
from .support import Support
from .values import Val


class Pattern:
    """Compressed-row pattern of J and positions in ``out``."""

    def __init__(self, plan: Plan):
        self.n, self.m = plan.n, plan.m
        keys = [_keys(np.array(plan.linear[0]), np.array(plan.linear[1]), self.n)]
        for part in plan.parts:
            for average in part.averages:
                keys.append(_keys(average.targets, average.indices, self.n))
            for product in part.products:
                for t in product.targets:
                    keys.append(_keys(np.full_like(product.indices, t), product.indices, self.n))
            for block in part.blocks:
                for root in block.roots:
                    for leaf in root.gradient:
                        keys.append(_keys(*entries(root.targets, leaf, plan.streams), self.n))
        unique = np.unique(np.concatenate(keys))
        self._keys = unique[unique >= self.n]
        rows, columns = np.divmod(self._keys, max(self.n, 1))
        self.indptr = np.searchsorted(rows, np.arange(1, self.m + 2))
        self.indices: Ints = columns.astype(np.intp)
        self.nnz = self.indices.size
        self.f = self.n + self.m + self.nnz
        self.spare = self.f + 1
        self.size = self.f + 2

    def values(self, targets: Ints) -> Ints:
        """Positions of function values."""
        return np.where(targets == 0, self.f, self.n + targets - 1)

    def derivatives(self, targets: Ints, indices: Ints) -> Ints:
        """Positions of derivatives of functions with respect to variables."""
        place = np.searchsorted(self._keys, targets * self.n + indices)
        return np.where(targets == 0, indices, self.n + self.m + place)

    def functions_at(self, positions: NDArray[np.bool_]) -> list[int]:
        """The functions that own any of the chosen positions."""
        n, m = self.n, self.m
        chosen = np.zeros(m + 1, dtype=bool)
        chosen[0] = positions[:n].any() or positions[self.f]
        chosen[1:] = positions[n : n + m]
        rows = np.repeat(np.arange(1, m + 1), np.diff(self.indptr))
        chosen[rows[positions[n + m : self.f]]] = True
        return np.flatnonzero(chosen).tolist()


def entries(targets: Ints, leaf: Val, streams: Streams) -> tuple[Ints, Ints]:
    """(function, variable) of every derivative that a leaf of a block contributes, flat."""
    op, payload = leaf.op, leaf.payload
    if op == "x":
        indices = np.broadcast_to(payload.index, targets.shape)
        return targets, np.asarray(indices, dtype=np.intp)
    if op == "inner":
        found = [inner_entries(targets, payload, leaf) for leaf in payload.gradient]
        return np.concatenate([t for t, _ in found]), np.concatenate([j for _, j in found])
    if op == "ell":
        ell = streams.ells[payload]
        used = ell.indices[ell.used]
        return _outer(targets, used)
    if payload.pointers.size == 2:
        return _outer(targets, payload.indices)
    return targets[payload.owners], payload.indices


def inner_entries(targets: Ints, slot: InnerSlot, leaf: Val) -> tuple[Ints, Ints]:
    """(function, variable) of the derivatives through one leaf of the members of an inner sum."""
    support = Support.of(leaf, slot.block.size)
    if slot.single:
        return _outer(targets, support.indices)
    return targets[slot.owners[support.owners]], support.indices


def _outer(targets: Ints, indices: Ints) -> tuple[Ints, Ints]:
    return np.repeat(targets, indices.size), np.tile(indices, targets.size)


def _keys(targets: Ints, indices: Ints, n: int) -> Ints:
    return targets.astype(np.intp) * n + indices.astype(np.intp)
