r"""Second derivatives: the Hessian of the Lagrangian on a fixed pattern.

    H = sign * grad^2 f + sum_i y_i grad^2 c_i ,     averaged over the batch.

A block is a nonlinear function of its leaves, and a leaf is a variable or an affine form of
variables with entries k_e W_c(e) x_j(e). So with h = d^2 L / (dz dz') for a pair of leaves,

    H[j(e), j(e')] += k_e k_e' mean(h W_c(e) W_c(e'))      for all pairs of their entries.

Only the upper triangle is kept (compressed columns, row <= column). A pair of different entries
that belong to the same variable counts twice, because its mirror image falls on the same place.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..plan import Plan
from ..scenarios.row_classes import Streams
from .adjoint import gradient
from .block import Block, Ints
from .support import Support
from .values import Val


@dataclass(eq=False)
class Pairs:
    """Pairs of entries (left, right) of instance ``owners``, and how often each counts."""

    left: Ints
    right: Ints
    owners: Ints
    counts: NDArray[np.float64]


@dataclass(eq=False)
class Second:
    """h = d^2 L / (dz dz') for a pair of leaves of a block (not yet averaged if one is batched)."""

    leaf: Val
    other: Val
    value: Val


def second_derivatives(block: Block) -> list[Second]:
    """All pairs of leaves on which the Lagrangian of a block depends nonlinearly."""
    graph = block.graph
    terms = []
    for root in block.roots:
        if block.size or root.targets[0] > 0:
            grouped = bool(block.size) and bool((root.targets != root.targets[0]).any())
            y = graph.leaf("y", root, False, grouped, False)
            terms.append(graph.mul(y, root.value))
        else:
            terms.append(root.value)
    first = gradient(graph, graph.add(*terms)) if terms else {}
    # Batched leaves last: their derivatives are per row and are only paired with each other.
    leaves = sorted(first, key=lambda v: (v.batched, v.index))
    result = []
    for i, leaf in enumerate(leaves):
        inner = gradient(graph, first[leaf])
        result += [Second(leaf, o, inner[o]) for o in leaves[i:] if o in inner]
    return result


def pairs(left: Support, right: Support) -> Pairs:
    """All pairs of entries of the same instance; unordered ones if both supports are the same."""
    a, b = np.diff(left.pointers), np.diff(right.pointers)
    sizes = a * b
    owners = np.repeat(np.arange(sizes.size), sizes)
    within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    l = left.pointers[owners] + within // np.maximum(b[owners], 1)
    r = right.pointers[owners] + within % np.maximum(b[owners], 1)
    counts = np.ones(l.size)
    if left is right:
        keep = l <= r
        l, r, owners, counts = l[keep], r[keep], owners[keep], counts[keep]
        counts[(l != r) & (left.indices[l] == right.indices[r])] = 2.0
    else:
        counts[left.indices[l] == right.indices[r]] = 2.0
    return Pairs(l, r, owners, counts)


class HessianPlan:
    """The second derivatives of a program and the pattern they fill."""

    def __init__(self, plan: Plan):
        self.plan = plan
        self.n = plan.n
        self.blocks = [
            (block, second_derivatives(block)) for part in plan.parts for block in part.blocks
        ]
        keys = [np.zeros(0, dtype=np.intp)]
        for block, seconds in self.blocks:
            for second in seconds:
                keys.append(self._key(*self._variables(plan.streams, block, second)))
        self._keys = np.unique(np.concatenate(keys))
        columns, rows = np.divmod(self._keys, max(self.n, 1))
        self.indptr = np.searchsorted(columns, np.arange(self.n + 1))
        self.indices: Ints = rows.astype(np.intp)
        self.nnz = self.indices.size
        self.spare = self.nnz
        #: the values, and one place that padding may write to
        self.size = self.nnz + 1

    def _key(self, i: Ints, j: Ints) -> Ints:
        return np.maximum(i, j) * self.n + np.minimum(i, j)

    def positions(self, i: Ints, j: Ints) -> Ints:
        """Places of entries (i, j) of H, in either order."""
        return np.searchsorted(self._keys, self._key(i, j))

    def _variables(self, streams: Streams, block: Block, second: Second) -> tuple[Ints, Ints]:
        if "ell" in (second.leaf.op, second.other.op):
            i, j, used = row_variables(streams, second)
            return i[used], j[used]
        left = Support.of(second.leaf, block.size)
        right = left if second.other is second.leaf else Support.of(second.other, block.size)
        p = pairs(left, right)
        return left.indices[p.left], right.indices[p.right]


def row_variables(streams: Streams, second: Second) -> tuple[Ints, Ints, NDArray[np.bool_]]:
    """(i, j, used), each (rows of the stream, pairs): variables of pairs that differ by row."""
    ell = second.leaf if second.leaf.op == "ell" else second.other
    size = streams.ells[ell.payload].indices.shape[0]

    def entries(leaf: Val) -> tuple[Ints, NDArray[np.bool_]]:
        if leaf.op == "ell":
            info = streams.ells[leaf.payload]
            return info.indices, info.used
        indices = Support.of(leaf, 0).indices
        shape = (size, indices.size)
        return np.broadcast_to(indices, shape), np.ones(shape, dtype=bool)

    a, used_a = entries(second.leaf)
    b, used_b = entries(second.other)
    i, j = (np.broadcast_to(v, (size, a.shape[1], b.shape[1])) for v in (a[:, :, None], b[:, None]))
    used = used_a[:, :, None] & used_b[:, None, :]
    if second.leaf is second.other:
        # All pairs of the table are there; one of each two mirror images is kept.
        used = used & np.triu(np.ones(used.shape[1:], dtype=bool))
    flat = (size, -1)
    return i.reshape(flat), j.reshape(flat), used.reshape(flat)
