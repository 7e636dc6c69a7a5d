r"""Templates: expressions with their leaves taken out, so that equal structures are recognised.

An expression is written as a tape, one entry per operation in the order of evaluation:

    2*exp(w3*x7) + x1        ->   k x d sum exp k ... ,  slots (2, x7, w3, 1, x1, ...)

Two expressions with the same tape differ only in their slots: which variables, which columns, which
constants. Constants of sums are always slots (a coefficient 1 and a coefficient 2 are the same
structure), exponents are part of the tape. Terms with equal tapes are evaluated together as arrays.
"""

from __future__ import annotations

from typing import Any

from . import affine
from .affine import AffinePart, split_terms
from .graph import Graph, Val
from .node import Node

#: one entry: operation, then positions of earlier entries (or an exponent, a field, a number)
Entry = tuple[Any, ...]
Tape = tuple[Entry, ...]


class Taper:
    """Writes tapes; remembers how the sums of a program split into affine parts."""

    def __init__(self) -> None:
        self._splits: dict[Node, tuple[list[Any], list[AffinePart]]] = {}

    def __call__(self, root: Node) -> tuple[Tape, list[Any]]:
        """(tape, slots) of an expression."""
        entries: list[Entry] = []
        slots: list[Any] = []
        place: dict[Node, int] = {}
        stack: list[Any] = [root]
        while stack:
            node = stack.pop()
            if node is None:
                # Its arguments are written by now.
                node = stack.pop()
                if node not in place:
                    self._write(node, place, entries, slots)
                    place[node] = len(entries) - 1
            elif node not in place:
                if node.args:
                    stack.append(node)
                    stack.append(None)
                    stack.extend(self._needs(node))
                else:
                    self._write(node, place, entries, slots)
                    place[node] = len(entries) - 1
        return tuple(entries), slots

    def _needs(self, node: Node) -> list[Node]:
        if node.op != "sum":
            return [a for a in node.args if a.__class__ is Node and not a.constant]
        rest, parts = self._split(node)
        needs = [p.factor for p in parts if p.factor is not None]
        for coef, term in rest:
            if coef.__class__ is Node and not coef.constant:
                needs.append(coef)
            needs.append(term)
        return needs

    def _split(self, node: Node) -> tuple[list[Any], list[AffinePart]]:
        args = node.args
        if len(args) < 2 * affine.LONG:
            return list(zip(args[1::2], args[2::2], strict=True)), []
        known = self._splits.get(node)
        if known is None:
            known = self._splits[node] = split_terms(zip(args[1::2], args[2::2], strict=True))
        return known

    def _write(
        self, node: Node, place: dict[Node, int], entries: list[Entry], slots: list[Any]
    ) -> None:
        def at(a: Any) -> int:
            if a.__class__ is Node and not a.constant:
                return place[a]
            entries.append(("k",))
            slots.append(a)
            return len(entries) - 1

        op = node.op
        if op == "var":
            slots.append(node.payload)
            entries.append(("x",))
        elif op == "data":
            slots.append(node.payload[1])
            entries.append(("d", node.payload[0]))
        elif op == "ell":
            entries.append(("ell", node.payload))
        elif op == "one":
            entries.append(("one",))
        elif op == "sum":
            rest, parts = self._split(node)
            refs = [at(node.args[0])]
            for coef, term in rest:
                refs += (at(coef), place[term])
            for part in parts:
                slots.append(part)
                entries.append(("affine", part.field))
                refs += (-1 if part.factor is None else place[part.factor], len(entries) - 1)
            entries.append(("sum", *refs))
        elif op == "pow" and node.args[1].__class__ is float:
            entries.append(("power", at(node.args[0]), node.args[1]))
        else:
            entries.append((op, *[at(a) for a in node.args]))


def replay(graph: Graph, tape: Tape, leaves: list[Val]) -> Val:
    """The value of a tape in a graph, its slots filled with ``leaves`` in order."""
    values: list[Val] = []
    slots = iter(leaves)
    for entry in tape:
        op = entry[0]
        if op in ("k", "x", "d", "affine"):
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
