r"""Loops for one block: the same graph as in vectors/block_code.py, written for numba.

    scalars
    for g:        values of instance g that the batch needs
    for b:        values that do not depend on the instance; sums; adjoint * W
        for g:    values of instance g in row b; sums; adjoint * W
    scalars that use the sums
    for g:        values of instance g that use the sums; results

A single block has no loops over g. Every value is a local scalar; a mean is a sum over b. The inner
loop runs over instances, whose data are neighbours in memory.
"""

from __future__ import annotations

from typing import Any

from ..graph.block import Block, Ints
from ..graph.layout import Pattern, entries
from ..graph.values import Val
from ..vectors.block_code import LONGEST_SUM
from .loop_leaves import Gradient, LeafLoops
from .loops import Loops, NotCompilable

#: functions that numba has, or that stand in the header of the generated code
_FUNCTIONS = frozenset(("abs", "max", "min", "expit", "softplus", "falling1", "powlog1"))
_COMPARE = {"where_lt": "<", "where_le": "<=", "where_eq": "=="}


class BlockLoops:
    """Writes one block into ``loops``."""

    def __init__(
        self, block: Block, loops: Loops, pattern: Pattern, factors: list[Val], objective: bool
    ):
        """``objective``: is its value wanted, too?"""
        self.block = block
        self.loops = loops
        self.pattern = pattern
        self._objective = objective
        self._prefix = loops.prefix()
        self._leaves = LeafLoops(loops, pattern, self._prefix, block.size)
        self.gradients = [
            Gradient(root, leaf, e, f"D{self._prefix}{i}_{leaf.index}")
            for i, root in enumerate(block.roots)
            for leaf, e in root.gradient.items()
            if leaf.batched
        ]
        self._after: dict[Val, bool] = {}
        self._needed = self._collect(factors)

    def _collect(self, factors: list[Val]) -> list[Val]:
        stack = list(factors)
        for g in self.gradients:
            stack += [v for v in (g.u, g.p) if v is not None]
        for root in self.block.roots:
            if self._wanted(root.targets):
                stack.append(root.value)
            stack += [e for leaf, e in root.gradient.items() if not leaf.batched]
        needed: set[Val] = set()
        while stack:
            v = stack.pop()
            if v not in needed:
                needed.add(v)
                stack.extend(v.args)
        order = sorted(needed, key=lambda v: v.index)
        if any(v.op == "inner" for v in order):
            raise NotCompilable
        for v in order:
            self._after[v] = v.op == "mean" or any(self._after[a] for a in v.args)
        return order

    def _wanted(self, targets: Ints) -> bool:
        return self._objective or bool((targets > 0).any())

    def _values(self, batched: bool, grouped: bool, after: bool = False) -> list[Val]:
        return [
            v
            for v in self._needed
            if (v.batched, v.grouped, self._after[v]) == (batched, grouped, after)
        ]

    def _means(self, grouped: bool) -> list[Val]:
        return [v for v in self._needed if v.op == "mean" and v.grouped == grouped]

    def name(self, v: Val) -> str:
        return f"({v.payload!r})" if v.op == "num" else f"{self._prefix}{v.index}"

    # -- the steps --------------------------------------------------------------------------------

    def write(self, before: list[str], inner: list[str]) -> None:
        """All code; ``inner`` are further lines of the loop over b, prepared by ``before``."""
        put, loops = self.loops.put, self.loops
        if any(v.batched and self._after[v] for v in self._needed):
            raise NotCompilable
        for v in self._values(False, False):
            self._value(v)
        shared, inside = self._values(True, False), self._values(True, True)
        once = [g for g in self.gradients if not g.grouped]
        mine = [g for g in self.gradients if g.grouped]
        means, own_means = self._means(False), self._means(True)
        if self.block.size:
            self._prepare(inside, own_means)
        if shared or inner or once or own_means or mine:
            self._start(means, [*once, *mine])
            for line in before:
                put(line)
            with loops.over_batch(self.block.stream):
                for v in shared:
                    self._value(v)
                self._sum(means, once)
                for line in inner:
                    put(line)
                if own_means or mine:
                    with loops.loop(f"for g in range({self.block.size}):"):
                        for v in self._boundary(inside):
                            put(f"{self.name(v)} = U{self.name(v)}[g]")
                        for v in inside:
                            self._value(v)
                        self._sum(own_means, mine)
        for v in self._values(False, False, after=True):
            self._value(v)
        if not self.block.size:
            self._results()
            return
        with loops.loop(f"for g in range({self.block.size}):"):
            for v in own_means:
                put(f"{self.name(v)} = U{self.name(v)}[g]")
            for v in [*self._values(False, True), *self._values(False, True, after=True)]:
                self._value(v)
            self._results()

    def _boundary(self, inside: list[Val]) -> list[Val]:
        """Values of the instances that the loop over the batch reads."""
        read = {a for v in inside for a in v.args}
        return [v for v in self._values(False, True) if v in read]

    def _prepare(self, inside: list[Val], means: list[Val]) -> None:
        """Arrays over the instances: what the loop over b reads, and the sums it forms."""
        put, size = self.loops.put, self.block.size
        boundary = self._boundary(inside)
        for v in boundary:
            put(f"U{self.name(v)} = np.empty({size})")
        for v in means:
            put(f"U{self.name(v)} = np.zeros({size})")
        if boundary:
            with self.loops.loop(f"for g in range({size}):"):
                for v in self._values(False, True):
                    self._value(v)
                for v in boundary:
                    put(f"U{self.name(v)}[g] = {self.name(v)}")

    def _start(self, means: list[Val], gradients: list[Gradient]) -> None:
        for v in means:
            self.loops.put(f"{self.name(v)} = 0.0")
        for g in gradients:
            if g.leaf.op == "affine":
                self.loops.put(f"{g.array} = np.zeros({self._leaves.length(g)})")

    def _sum(self, means: list[Val], gradients: list[Gradient]) -> None:
        for v in means:
            target = f"U{self.name(v)}[g]" if v.grouped else self.name(v)
            self.loops.put(f"{target} += w*{self.name(v.args[0])}")
        for g in gradients:
            p = "w" if g.p is None else f"w*{self.name(g.p)}"
            if g.leaf.op == "ell":
                self._ell_gradient(g, p)
            else:
                self._leaves.add_affine(g, p)

    def _ell_gradient(self, g: Gradient, p: str) -> None:
        if self.block.size or (g.u is not None and self._after[g.u]):
            raise NotCompilable
        self._leaves.add_ell(g, p, "" if g.u is None else f"*{self.name(g.u)}")

    # -- values -----------------------------------------------------------------------------------

    def _value(self, v: Val) -> None:
        op = v.op
        if op in ("num", "mean"):
            return
        name = self.name(v)
        if op == "affine":
            self._leaves.affine(v.payload, name)
        elif op == "ell":
            self._leaves.ell(v.payload, name)
        elif op == "add":
            args = [self.name(a) for a in v.args]
            self.loops.put(f"{name} = {' + '.join(args[:LONGEST_SUM])}")
            for start in range(LONGEST_SUM, len(args), LONGEST_SUM):
                self.loops.put(f"{name} += {' + '.join(args[start : start + LONGEST_SUM])}")
        else:
            self.loops.put(f"{name} = {self._text(v)}")

    def _text(self, v: Val) -> str:
        op, slot = v.op, v.payload
        args = [self.name(a) for a in v.args]
        if op == "x":
            at = slot.index
            return f"x[{at}]" if isinstance(at, int) else f"x[{self.loops.index(at, 'g')}]"
        if op == "k":
            start = self.loops.constant(slot.values)
            return f"K[{start}+g]" if v.grouped else f"K[{start}]"
        if op == "d":
            at = slot.column
            column = str(at) if isinstance(at, int) else self.loops.index(at, "g")
            return self.loops.element(slot.field, column)
        if op == "share":
            self.loops.streams[self.block.stream] = None
            return f"w{self.block.stream}.sum()"
        if op == "lit":
            return f"({slot!r})*{args[0]}"
        if op in ("mul", "mix", "raise"):
            return f"{args[0]}*{args[1]}"
        if op == "recip":
            return f"1.0/{args[0]}"
        if op == "pow":
            return f"{args[0]}**{args[1]}"
        if op == "lse":
            return f"lse(({', '.join(args)},))"
        if op in _COMPARE:
            a, b, yes, no = args
            return f"{yes} if {a} {_COMPARE[op]} {b} else {no}"
        if op == "zero":
            return f"0.0*{args[0]}"
        if op in _FUNCTIONS:
            return f"{op}({', '.join(args)})"
        return f"math.{op}({args[0]})"

    # -- results ----------------------------------------------------------------------------------

    def _results(self) -> None:
        loops, pattern = self.loops, self.pattern
        grouped = bool(self.block.size)
        for root in self.block.roots:
            if self._wanted(root.targets):
                at = self._place(pattern.values(root.targets), grouped)
                loops.put(f"out[{at}] += {self.name(root.value)}")
            for leaf, e in root.gradient.items():
                if leaf.op == "ell" or leaf.batched:
                    continue
                places = pattern.derivatives(*entries(root.targets, leaf, loops.plan.streams))
                if leaf.op == "x":
                    loops.put(f"out[{self._place(places, grouped)}] += {self.name(e)}")
                else:
                    self._leaves.results(leaf.payload, places, self.name(e))
        for g in self.gradients:
            if g.leaf.op == "affine":
                places = pattern.derivatives(*entries(g.root.targets, g.leaf, loops.plan.streams))
                factor = f"({g.number!r})" + ("" if g.u is None else f"*{self.name(g.u)}")
                _, entry = self._leaves.entries(g.leaf.payload)
                summed = self._leaves.summed(g, entry)
                self._leaves.results(g.leaf.payload, places, f"{factor}*{summed}")

    def _place(self, places: Any, grouped: bool) -> str:
        return self.loops.index(places, "g") if grouped else str(int(places[0]))
