r"""The graph that code is written from: scalar operations, with what each one depends on.

A block of the generated code evaluates one or more functions of a *template*; its leaves are slots
(variables, constants, data columns, affine forms). Every value knows whether it differs between
rows of the batch (``batched``) and between instances of the template (``grouped``).

Products are kept as  number * unbatched * batched,  because a mean needs only the last factor:

    mean(c u p) = c u mean(p),      mean(a + b) = mean(a) + mean(b) .

Values are numbered in the order they are made, which is an order of evaluation.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite
from typing import Any


class Val:
    """One scalar value of the template."""

    __slots__ = ("args", "batched", "grouped", "index", "op", "payload", "x")

    def __init__(
        self, op: str, args: tuple[Val, ...], payload: Any, batched: bool, grouped: bool, x: bool
    ):
        self.op = op
        self.args = args
        self.payload = payload
        self.batched = batched
        self.grouped = grouped
        self.x = x
        self.index = 0


class Graph:
    """Makes values, each once, simplifying on the way."""

    def __init__(self, share: bool = False):
        self._table: dict[Any, Val] = {}
        self._count = 0
        #: rows of this block are only one class of the batch, so that the mean of 1 is their share
        self._share = share

    def _make(self, op: str, args: tuple[Val, ...], payload: Any = None) -> Val:
        key = (op, payload, args)
        val = self._table.get(key)
        if val is None:
            batched = grouped = x = False
            for a in args:
                batched = batched or a.batched
                grouped = grouped or a.grouped
                x = x or a.x
            val = Val(op, args, payload, batched and op != "mean", grouped, x)
            self._enter(key, val)
        return val

    def _enter(self, key: Any, val: Val) -> None:
        val.index = self._count
        self._count += 1
        self._table[key] = val

    def values(self) -> Iterable[Val]:
        """All values made so far."""
        return self._table.values()

    def leaf(self, op: str, payload: Any, batched: bool, grouped: bool, x: bool) -> Val:
        """A slot; ``payload`` identifies it."""
        key = (op, payload)
        val = self._table.get(key)
        if val is None:
            val = Val(op, (), payload, batched, grouped, x)
            self._enter(key, val)
        return val

    def number(self, value: float) -> Val:
        return self._make("num", (), float(value))

    # -- sums and products ------------------------------------------------------------------------

    def scale(self, c: float, a: Val) -> Val:
        if a.op == "num":
            return self.number(c * a.payload)
        if a.op == "lit":
            c, a = c * a.payload, a.args[0]
        if c == 0.0:
            return self.number(0.0)
        return a if c == 1.0 else self._make("lit", (a,), c)

    def mul(self, a: Val, b: Val) -> Val:
        if a.op == "num":
            return self.scale(a.payload, b)
        if b.op == "num":
            return self.scale(b.payload, a)
        c = 1.0
        if a.op == "lit":
            c, a = a.payload, a.args[0]
        if b.op == "lit":
            c, b = c * b.payload, b.args[0]
        ua, pa = _sides(a)
        ub, pb = _sides(b)
        u = self._same_side(ua, ub)
        p = self._same_side(pa, pb)
        if u is None:
            assert p is not None
            return self.scale(c, p)
        return self.scale(c, u if p is None else self._make("mix", (u, p)))

    def _same_side(self, a: Val | None, b: Val | None) -> Val | None:
        if a is None or b is None:
            return a or b
        if a.index > b.index:
            a, b = b, a
        return self._make("mul", (a, b))

    def add(self, *args: Val) -> Val:
        number = 0.0
        terms: dict[Val, float] = {}
        for a in args:
            if a.op == "num":
                number += a.payload
                continue
            c = 1.0
            if a.op == "lit":
                c, a = a.payload, a.args[0]
            terms[a] = terms.get(a, 0.0) + c
        parts = [self.scale(c, a) for a, c in terms.items() if c != 0.0]
        # Scalars before vectors: their sum is then formed first, once.
        parts.sort(key=lambda v: (v.batched, v.grouped))
        if number != 0.0 or not parts:
            parts.insert(0, self.number(number))
        return parts[0] if len(parts) == 1 else self._make("add", tuple(parts))

    def sub(self, a: Val, b: Val) -> Val:
        return self.add(a, self.scale(-1.0, b))

    # -- powers and functions ---------------------------------------------------------------------

    def reciprocal(self, a: Val) -> Val:
        if a.op == "num" and a.payload != 0.0:
            return self.number(1.0 / a.payload)
        if a.op == "lit":
            return self.scale(1.0 / a.payload, self.reciprocal(a.args[0]))
        if a.op == "mix":
            return self.mul(self.reciprocal(a.args[0]), self.reciprocal(a.args[1]))
        if a.op == "recip":
            # 1/(1/a) = a, but not where a = 0
            return self.add(a.args[0], self.function("zero", a))
        return self._make("recip", (a,))

    def power(self, a: Val, p: float) -> Val:
        """a ** p for a number p, by products and roots where possible.

        ``raise`` with arguments (a ** (p-1), a) is their product, known to be a ** p.
        """
        if p == 0.0:
            return self.number(1.0)
        if not isfinite(p):
            return self._make("pow", (a, self.number(p)))
        if p < 0.0 and (p == int(p) or -p in (0.5, 1.5)):
            return self.reciprocal(self.power(a, -p))
        if p == 0.5:
            return self.function("sqrt", a)
        if p == 1.0:
            return a
        if p == 2.0:
            return self.mul(a, a)
        if a.op == "num" and a.payload > 0.0:
            return self.number(a.payload**p)
        if p < 1.0:
            return self._make("pow", (a, self.number(p)))
        # The derivative needs a ** (p-1), so that one power serves both.
        if p % 2.0 == 1.0 and p > 3.0:
            half = self.power(a, (p - 1.0) / 2.0)
            return self._make("raise", (self.mul(half, half), a), p)
        if p > 64.0 or (p != int(p) and p > 8.0):
            return self._make("raise", (self._make("pow", (a, self.number(p - 1.0))), a), p)
        return self._make("raise", (self.power(a, p - 1.0), a), p)

    def pow(self, a: Val, b: Val) -> Val:
        return self.power(a, b.payload) if b.op == "num" else self._make("pow", (a, b))

    def function(self, name: str, *args: Val) -> Val:
        return self._make(name, args)

    def mean(self, a: Val) -> Val:
        """The average over the batch, moved as far down as it goes."""
        if not a.batched:
            return self.mul(a, self._share_of_rows()) if self._share else a
        if a.op == "one":
            return self._share_of_rows()
        if a.op == "lit":
            return self.scale(a.payload, self.mean(a.args[0]))
        if a.op == "mix":
            return self.mul(a.args[0], self._make("mean", (a.args[1],)))
        if a.op == "add":
            return self.add(*(self.mean(t) for t in a.args))
        return self._make("mean", (a,))

    def _share_of_rows(self) -> Val:
        return self.leaf("share", None, False, False, False)


def _sides(a: Val) -> tuple[Val | None, Val | None]:
    """A product as (unbatched, batched)."""
    if a.op == "mix":
        return a.args[0], a.args[1]
    return (None, a) if a.batched else (a, None)
