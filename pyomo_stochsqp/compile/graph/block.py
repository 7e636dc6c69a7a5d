r"""Blocks: what one piece of generated code evaluates.

A *grouped* block holds G instances of one template; instance i adds to function target_i:

    F_{target_i} += r(x; slots_i),   i = 1..G,

and is evaluated with arrays of length G (times the batch). The *single* block of a stream holds all
terms that occur only once, for any number of functions, sharing their common sub-expressions.
Function 0 is the objective, function i >= 1 the i-th constraint.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..algebra.affine_parts import AffinePart
from ..algebra.node import Coef, Node
from .adjoint import gradient
from .tape import InnerPart, Tape, replay
from .values import Graph, Val

Ints = NDArray[np.intp]


@dataclass(eq=False)
class VariableSlot:
    """x[index]; an array of G indices in a grouped block, one index if all are the same."""

    index: int | Ints


@dataclass(eq=False)
class ConstantSlot:
    """A run-time constant: one value, or one for each instance."""

    values: list[Coef]


@dataclass(eq=False)
class DataSlot:
    """A column of a field; an array of G columns in a grouped block if they differ."""

    field: int
    column: int | Ints


@dataclass(eq=False)
class AffineSlot:
    """z_i = sum over entries e of instance i of scales[e] * (column columns[e]) * x[indices[e]].

    Entries of instance i are pointers[i]..pointers[i+1]. ``field`` None: constant coefficients.
    """

    field: int | None
    pointers: Ints
    indices: Ints
    columns: Ints
    scales: list[Coef]

    @property
    def single(self) -> bool:
        """One support for all instances."""
        return self.pointers.size == 2

    @property
    def plain(self) -> bool:
        """All scales are 1."""
        return all(k.__class__ is float and k == 1.0 for k in self.scales)

    @property
    def owners(self) -> Ints:
        """The instance of each entry."""
        return np.repeat(np.arange(self.pointers.size - 1), np.diff(self.pointers))

    @property
    def shared_columns(self) -> Ints | None:
        """The columns, if all instances use the same ones."""
        count = self.pointers.size - 1
        width = self.columns.size // count
        if (np.diff(self.pointers) != width).any():
            return None
        table = self.columns.reshape(count, width)
        return table[0] if (table == table[0]).all() else None


@dataclass(eq=False)
class InnerSlot:
    """z_i = sum over members k of instance i of the value of a block of their own.

    Members of instance i are pointers[i]..pointers[i+1]. ``gradient`` holds the derivatives of one
    member with respect to its own leaves, row by row if it is batched.
    """

    block: Block
    value: Val
    pointers: Ints
    gradient: dict[Val, Val]

    @property
    def single(self) -> bool:
        """One sum for all instances."""
        return self.pointers.size == 2

    @property
    def owners(self) -> Ints:
        """The instance of each member."""
        return np.repeat(np.arange(self.pointers.size - 1), np.diff(self.pointers))


@dataclass(eq=False)
class Root:
    """A value that is added to functions; ``targets`` has one function per instance."""

    targets: Ints
    value: Val
    #: leaf -> derivative, from :func:`.adjoint.gradient`
    gradient: dict[Val, Val] = field(default_factory=dict)


class Block:
    """A graph with its roots. ``size`` is G; 0 for a single block."""

    def __init__(self, stream: int, size: int, share: bool):
        self.stream = stream
        self.size = size
        self.graph = Graph(share)
        self.roots: list[Root] = []
        self._slots: dict[Any, Val] = {}
        # An id stands for a part only as long as the part lives.
        self._kept: list[InnerPart] = []

    def differentiate(self) -> None:
        for root in self.roots:
            root.gradient = gradient(self.graph, root.value)

    # -- leaves -----------------------------------------------------------------------------------

    def variable(self, indices: list[int]) -> Val:
        uniform = indices.count(indices[0]) == len(indices)
        key = ("x", indices[0]) if uniform else ("x", *indices)
        return self._leaf(
            key,
            lambda: self.graph.leaf(
                "x",
                VariableSlot(indices[0] if uniform else np.array(indices, dtype=np.intp)),
                False,
                not uniform,
                True,
            ),
        )

    def constant(self, values: list[Coef]) -> Val:
        first = values[0]
        uniform = all(v is first or (v.__class__ is float and v == first) for v in values)
        if uniform and first.__class__ is float:
            return self.graph.number(first)
        key = ("k", first) if uniform else ("k", *values)
        slot = values[:1] if uniform else values
        return self._leaf(
            key, lambda: self.graph.leaf("k", ConstantSlot(slot), False, not uniform, False)
        )

    def data(self, number: int, columns: list[int]) -> Val:
        uniform = columns.count(columns[0]) == len(columns)
        key = ("d", number, columns[0]) if uniform else ("d", number, *columns)
        column = columns[0] if uniform else np.array(columns, dtype=np.intp)
        return self._leaf(
            key,
            lambda: self.graph.leaf("d", DataSlot(number, column), True, not uniform, False),
        )

    def affine(self, parts: list[AffinePart]) -> Val:
        first = parts[0]
        if all(_same_support(first, p) for p in parts):
            parts = parts[:1]
        scales = [k for p in parts for k in p.scales]
        factor = scales[0]
        if factor.__class__ is not float or scales.count(factor) < len(scales):
            factor = 1.0
        else:
            scales = [1.0] * len(scales)
        key = ("a", first.field, *scales, *((*p.indices, *p.columns) for p in parts))
        slot = AffineSlot(
            first.field,
            np.concatenate(([0], np.cumsum([len(p.indices) for p in parts]))),
            np.array([j for p in parts for j in p.indices], dtype=np.intp),
            np.array([c for p in parts for c in p.columns], dtype=np.intp),
            scales,
        )
        random, grouped = first.field is not None, len(parts) > 1
        leaf = self._leaf(key, lambda: self.graph.leaf("affine", slot, random, grouped, True))
        return self.graph.scale(factor, leaf)

    def inner(self, tape: Tape, parts: list[InnerPart]) -> Val:
        if all(p is parts[0] for p in parts):
            parts = parts[:1]
        key = ("inner", *(id(p) for p in parts))
        if key not in self._slots:
            self._kept += parts
            members = [m for p in parts for m in p.members]
            block = Block(self.stream, len(members), False)
            value = block.fill(tape, [list(c) for c in zip(*members, strict=True)])
            pointers = np.concatenate(([0], np.cumsum([len(p.members) for p in parts])))
            slot = InnerSlot(
                block, value, pointers, gradient(block.graph, value, average=not value.batched)
            )
            several = len(parts) > 1
            self._slots[key] = self.graph.leaf("inner", slot, value.batched, several, value.x)
        return self._slots[key]

    def _leaf(self, key: Any, make: Any) -> Val:
        val = self._slots.get(key)
        if val is None:
            val = self._slots[key] = make()
        return val

    def fill(self, tape: Tape, columns: list[list[Any]]) -> Val:
        """The value of a tape; ``columns[s]`` holds slot s of every instance."""
        leaves = []
        slots = iter(columns)
        for entry in tape:
            if entry[0] == "x":
                leaves.append(self.variable(next(slots)))
            elif entry[0] == "k":
                leaves.append(self.constant(next(slots)))
            elif entry[0] == "d":
                leaves.append(self.data(entry[1], next(slots)))
            elif entry[0] == "affine":
                leaves.append(self.affine(next(slots)))
            elif entry[0] == "inner":
                leaves.append(self.inner(entry[1], next(slots)))
        return replay(self.graph, tape, leaves)


def _same_support(a: AffinePart, b: AffinePart) -> bool:
    return a is b or (a.indices == b.indices and a.columns == b.columns and a.scales == b.scales)


def constants(values: list[Coef]) -> NDArray[np.float64]:
    """The numbers behind run-time constants."""
    return np.array([v.value if isinstance(v, Node) else v for v in values], dtype=float)
