r"""Loops over the entries of affine forms, for numba.

forward     z = sum_e k_e W_c(e) x_j(e)                in the row, or once if W is absent
backward    D_e += w p W_c(e)                          in every row
results     out[place_e] += number * u * k_e * D_e     after the batch
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..graph.block import AffineSlot, Root
from ..graph.layout import Pattern
from ..graph.values import Val
from .loops import Loops, NotCompilable


class Gradient:
    """Sum over the batch of  w p W_e  for the entries e of a leaf that differs between rows."""

    def __init__(self, root: Root, leaf: Val, e: Val, array: str):
        self.root, self.leaf, self.array = root, leaf, array
        self.number, self.u, self.p = 1.0, None, None  # type: tuple[float, Val | None, Val | None]
        if e.op == "lit":
            self.number, e = e.payload, e.args[0]
        if e.op == "num":
            self.number = e.payload
        else:
            for a in e.args if e.op == "mix" else (e,):
                if a.batched:
                    self.p = a
                else:
                    self.u = a
        several = leaf.op == "affine" and not leaf.payload.single
        #: summed for each instance, not once for the block
        self.grouped = several or (self.p is not None and self.p.grouped)


class LeafLoops:
    """Writes the loops of the leaves of a block of ``size`` instances (0: not grouped)."""

    def __init__(self, loops: Loops, pattern: Pattern, prefix: str, size: int):
        self.loops = loops
        self.pattern = pattern
        self.size = size
        self._prefix = prefix

    def length(self, g: Gradient) -> int:
        """Numbers that the sum of a gradient needs."""
        slot: AffineSlot = g.leaf.payload
        if self._sparse(slot):
            assert slot.field is not None
            return self.loops.plan.streams.fields[slot.field].width
        return slot.indices.size * (self.size if g.grouped and slot.single else 1)

    def summed(self, g: Gradient, e: str) -> str:
        """Text of the sum that belongs to entry e."""
        slot: AffineSlot = g.leaf.payload
        if self._sparse(slot):
            return f"{g.array}[{self.loops.index(slot.columns, 'e')}]"
        if g.grouped and slot.single:
            return f"{g.array}[g*{slot.indices.size}+e]"
        return f"{g.array}[{e}]"

    def _sparse(self, slot: AffineSlot) -> bool:
        assert slot.field is not None
        return self.loops.plan.streams.fields[slot.field].sparse

    def entries(self, slot: AffineSlot) -> tuple[str, str]:
        """(head of the loop over an instance's entries, text of the entry's number)."""
        if slot.single:
            return f"for e in range({slot.indices.size}):", "e"
        start = self.loops.stored(slot.pointers)
        count = f"I[{start}+g+1]-I[{start}+g]"
        return f"for e in range({count}):", f"(I[{start}+g]+e)"

    def affine(self, slot: AffineSlot, name: str) -> None:
        """Sets ``name`` to the value of an affine form."""
        loops = self.loops
        if slot.field is not None and self._sparse(slot):
            self._sparse_product(slot, name)
            return
        head, e = self.entries(slot)
        loops.put(f"{name} = 0.0")
        with loops.loop(head):
            factors = [f"x[{loops.index(slot.indices, e)}]"]
            if not slot.plain:
                factors.append(f"K[{loops.constant(slot.scales)}+{e}]")
            if slot.field is not None:
                factors.append(loops.element(slot.field, loops.index(slot.columns, e)))
            loops.put(f"{name} += {'*'.join(factors)}")

    def _sparse_product(self, slot: AffineSlot, name: str) -> None:
        """The row's entries times x laid out by columns (prepared before the loop)."""
        if not slot.single:
            raise NotCompilable
        loops, f = self.loops, slot.field
        assert f is not None
        info = loops.plan.streams.fields[f]
        loops.fields[f] = None
        spread = f"X{self._prefix}{f}_{loops.stored(slot.columns)}"
        k = "" if slot.plain else f"*K[{loops.constant(slot.scales)}+e]"
        loops.ahead(f"{spread} = np.zeros({info.width})")
        loops.ahead(f"for e in range({slot.indices.size}):")
        at = loops.index(slot.columns, "e")
        loops.ahead(f"    {spread}[{at}] += x[{loops.index(slot.indices, 'e')}]{k}")
        row = f"q{info.part}"
        loops.put(f"{name} = 0.0")
        with loops.loop(f"for e in range(P{f}[{row}], P{f}[{row}+1]):"):
            loops.put(f"{name} += V{f}[e]*{spread}[C{f}[e]]")

    def add_affine(self, g: Gradient, p: str) -> None:
        """Adds one row's p * W to the sums of a gradient."""
        loops = self.loops
        slot: AffineSlot = g.leaf.payload
        f = slot.field
        assert f is not None
        loops.put(f"p = {p}")
        if self._sparse(slot):
            if g.grouped:
                raise NotCompilable
            row = f"q{loops.plan.streams.fields[f].part}"
            loops.fields[f] = None
            with loops.loop(f"for e in range(P{f}[{row}], P{f}[{row}+1]):"):
                loops.put(f"{g.array}[C{f}[e]] += p*V{f}[e]")
            return
        head, e = self.entries(slot)
        with loops.loop(head):
            element = loops.element(f, loops.index(slot.columns, e))
            loops.put(f"{self.summed(g, e)} += p*{element}")

    def ell(self, number: int, name: str) -> None:
        """Sets ``name`` to the value of a form in the variables of the row's own scenario."""
        loops = self.loops
        loops.ells[number] = None
        loops.put(f"{name} = 0.0")
        with loops.loop(f"for e in range(N{number}.shape[1]):"):
            loops.put(f"{name} += x[N{number}[q0, e]]*L{number}[q0, e]")

    def add_ell(self, g: Gradient, p: str, u: str) -> None:
        """Adds one row's derivatives with respect to the variables of its own scenario."""
        loops, number = self.loops, g.leaf.payload
        loops.ells[number] = None
        ell = loops.plan.streams.ells[number]
        (t,) = g.root.targets
        place = self.pattern.derivatives(np.full_like(ell.indices, t), ell.indices)
        place = np.where(ell.used, place, self.pattern.spare)
        start, width = loops.stored(place), ell.indices.shape[1]
        with loops.loop(f"for e in range({width}):"):
            at = f"I[{start}+q0*{width}+e]"
            loops.put(f"out[{at}] += ({g.number!r})*{p}{u}*L{number}[q0, e]")

    def results(self, slot: AffineSlot, places: Any, value: str) -> None:
        """Adds a value times the constant factor of every entry to its place in ``out``."""
        loops = self.loops
        head, e = self.entries(slot)
        at = f"(g*{slot.indices.size}+e)" if slot.single and self.size else e
        with loops.loop(head):
            k = "" if slot.plain else f"*K[{loops.constant(slot.scales)}+{e}]"
            loops.put(f"out[{loops.index(places, at)}] += {value}{k}")
