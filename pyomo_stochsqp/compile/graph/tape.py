r"""Templates: expressions with their leaves taken out, so that equal structures are recognised.

An expression is written as a tape, one entry per operation in the order of evaluation:

    2*exp(w3*x7) + x1        ->   k x d sum exp k ... ,  slots (2, x7, w3, 1, x1, ...)

Two expressions with the same tape differ only in their slots: which variables, which columns, which
constants. Constants of sums are always slots (a coefficient 1 and a coefficient 2 are the same
structure), exponents are part of the tape. Terms with equal tapes are evaluated together as arrays:
at the top of functions over all their rows, and inside a nonlinear expression (a norm, a hidden
layer) as a sum of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..algebra import affine_parts as affine
from ..algebra.affine_parts import AffinePart, split_terms
from ..algebra.node import Node
from .values import Graph, Val

#: one entry: operation, then positions of earlier entries (or an exponent, a field, a number)
Entry = tuple[Any, ...]
Tape = tuple[Entry, ...]

#: Sums of at least this many equal terms inside a nonlinear expression are evaluated as arrays.
INNER = 8


@dataclass(eq=False)
class InnerPart:
    """A sum of many terms of one structure inside a nonlinear expression: their slots."""

    tape: Tape
    members: list[list[Any]]


_X: Entry = ("x",)
_K: Entry = ("k",)

#: how a sum is evaluated: terms written out, affine parts, sums of many equal terms
Split = tuple[list[Any], list[AffinePart], list[InnerPart]]

#: Operations that cannot stand in the terms of an InnerPart.
_NOT_INSIDE = frozenset(("ell", "one", "mean", "inner"))


class Taper:
    """Writes tapes; remembers how the sums of a program are split.

    With ``inner``, sums of many equal terms inside nonlinear expressions are taken out.
    """

    def __init__(self, make: Callable[..., Node], inner: bool):
        self._make = make
        self._splits: dict[Node, Split] = {}
        self._plain = Taper(make, False) if inner else None
        self._written: dict[Node, tuple[Tape, list[Any]]] = {}

    def __call__(self, root: Node) -> tuple[Tape, list[Any]]:
        """(tape, slots) of an expression."""
        found = self._written.get(root)
        if found is None:
            found = self._written[root] = self._write(root)
        return found

    def written_out(self) -> Taper:
        """One without inner sums, which takes over what has none; this one has done its work."""
        other = Taper(self._make, False)
        other._written = {
            root: found
            for root, found in self._written.items()
            if not any(entry[0] == "inner" for entry in found[0])
        }
        self._written = {}
        return other

    def _write(self, root: Node) -> tuple[Tape, list[Any]]:
        """Most of the set-up time of a large model is spent here: the common cases are inline."""
        entries: list[Entry] = []
        slots: list[Any] = []
        place: dict[Node, int] = {}
        short = 2 * min(affine.LONG, INNER)
        stack: list[Any] = [root]
        while stack:
            node = stack.pop()
            if node is None:
                node = stack.pop()  # its arguments are written by now
                if node in place:
                    continue
            elif node in place:
                continue
            elif node.args:
                stack.append(node)
                stack.append(None)
                long = node.op == "sum" and len(node.args) >= short
                for a in self._needs(node) if long else node.args:
                    if a.__class__ is Node and (a.x or a.drawn):
                        stack.append(a)
                continue
            op = node.op
            if op == "var":
                slots.append(node.payload)
                entries.append(_X)
            elif op == "data":
                slots.append(node.payload[1])
                entries.append(("d", node.payload[0]))
            elif op == "ell":
                entries.append(("ell", node.payload))
            elif op == "sum" and len(node.args) >= short:
                self._write_long_sum(node, place, entries, slots)
            else:
                refs: list[Any] = [op]
                for a in node.args:
                    if a.__class__ is Node and (a.x or a.drawn):
                        refs.append(place[a])
                    elif op == "pow" and a.__class__ is float and len(refs) == 2:
                        refs[0] = "power"
                        refs.append(a)
                    else:
                        slots.append(a)
                        refs.append(len(entries))
                        entries.append(_K)
                entries.append(tuple(refs))
            place[node] = len(entries) - 1
        return tuple(entries), slots

    def _needs(self, node: Node) -> list[Any]:
        """The nodes behind a long sum."""
        rest, parts, _ = self._split(node)
        return [p.factor for p in parts] + [a for term in rest for a in term]

    def _write_long_sum(
        self, node: Node, place: dict[Node, int], entries: list[Entry], slots: list[Any]
    ) -> None:
        def at(a: Any) -> int:
            if a.__class__ is Node and not a.constant:
                return place[a]
            entries.append(_K)
            slots.append(a)
            return len(entries) - 1

        rest, parts, inners = self._split(node)
        refs = [at(node.args[0])]
        for coef, term in rest:
            refs += (at(coef), place[term])
        for part in parts:
            slots.append(part)
            entries.append(("affine", part.field))
            refs += (-1 if part.factor is None else place[part.factor], len(entries) - 1)
        for inner in inners:
            slots.append(inner)
            entries.append(("inner", inner.tape))
            refs += (-1, len(entries) - 1)
        entries.append(("sum", *refs))

    def _split(self, node: Node) -> Split:
        known = self._splits.get(node)
        if known is None:
            args = node.args
            rest, parts = split_terms(zip(args[1::2], args[2::2], strict=True))
            rest, inners = self._inner_parts(rest)
            known = self._splits[node] = (rest, parts, inners)
        return known

    def _inner_parts(self, rest: list[Any]) -> tuple[list[Any], list[InnerPart]]:
        """(other terms, terms of equal structure where there are many)."""
        if self._plain is None or len(rest) < INNER:
            return rest, []
        groups: dict[Tape, list[tuple[Any, list[Any]]]] = {}
        for coef, term in rest:
            tape, slots = self._plain._write(self._make("sum", (0.0, coef, term)))
            groups.setdefault(tape, []).append(((coef, term), slots))
        few: list[Any] = []
        inners = []
        for tape, members in groups.items():
            if len(members) < INNER or any(entry[0] in _NOT_INSIDE for entry in tape):
                few += [term for term, _ in members]
            else:
                inners.append(InnerPart(tape, [slots for _, slots in members]))
        return few, inners


def replay(graph: Graph, tape: Tape, leaves: list[Val]) -> Val:
    """The value of a tape in a graph, its slots filled with ``leaves`` in order."""
    values: list[Val] = []
    slots = iter(leaves)
    for entry in tape:
        op = entry[0]
        if op in ("k", "x", "d", "affine", "inner"):
            v = next(slots)
        elif op == "ell":
            v = graph.leaf("ell", entry[1], True, False, True)
        elif op == "one":
            v = graph.leaf("one", None, True, False, False)
        elif op == "sum":
            terms = [values[entry[1]]]
            for k, t in zip(entry[2::2], entry[3::2], strict=True):
                terms.append(values[t] if k < 0 else graph.mul(values[k], values[t]))
            v = graph.add(*terms)
        elif op == "prod":
            v = graph.mul(values[entry[1]], values[entry[2]])
        elif op == "power":
            v = graph.power(values[entry[1]], entry[2])
        elif op == "pow":
            v = graph.pow(values[entry[1]], values[entry[2]])
        elif op == "mean":
            v = graph.mean(values[entry[1]])
        else:
            v = graph.function(op, *[values[i] for i in entry[1:]])
        values.append(v)
    return values[-1]
