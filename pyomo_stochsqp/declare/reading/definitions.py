r"""Numbers that stand for expectations inside formulas.

    log(E[a]),   E[a] / E[b],   E[(a - E[a])^2]      are functions of      t = E[a], ...

Where an expectation does not enter affinely, or stands under another one, a symbol t takes its
place, and t = E[...] becomes a definition. Equal expectations share one. A definition may use
symbols itself, those of lower levels; what cannot be written as t = E[...], a quantile, is defined
by an equation that t solves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyomo.core.expr.numvalue import native_numeric_types

from ...errors import ModelError
from ..formula_node import RandomFormula
from ..functionals.quantile import QuantileData
from ..program import Definition, Function
from ..scan import Contents, scan
from ..symbol import Symbol
from ..template import Template
from .terms import shortened

#: reads an expression of a component as a function
Read = Callable[[Any, Any], Function]


class Definitions:
    """Collects the definitions of a model while its functions are read."""

    def __init__(self, read: Read):
        self._read = read
        # id(node) -> the node, which must live as long as its id is used, and what stands for it
        self._symbols: dict[int, tuple[Any, Symbol]] = {}
        self._equal: dict[Any, Symbol] = {}  # what a node says -> the same
        self._sentences = Sentences()
        self._made: dict[int, Definition] = {}  # id(symbol) -> its definition
        self._open: set[int] = set()  # ids of nodes that are being read

    def in_symbols(self, expr: Any, seen: Contents, where: Any) -> Any:
        """The expression with symbols in the place of its expectations."""
        stand_ins = {key: self._stand_in(node, where) for key, node in seen.expectations.items()}
        return Template(expr, stand_ins).copy(stand_ins)

    def ordered(self) -> list[Definition]:
        """All definitions, lower levels first."""
        return sorted(self._made.values(), key=lambda d: d.level)

    def _stand_in(self, node: Any, where: Any) -> Any:
        """A symbol, or an expression without expectations that is equal to the node."""
        known = self._symbols.get(id(node))
        if known is not None:
            return known[1]
        if isinstance(node, QuantileData):
            return self._solved(node, where)
        if id(node) in self._open:
            raise ModelError(
                f"'{where.name}': {shortened(node)} contains itself. Set the Expression in it to "
                "one that does not use it."
            )
        self._open.add(id(node))
        body = self._read(node, where)
        self._open.discard(id(node))
        if not body.terms:
            return body.exact  # nothing in it is random
        key = self._sentences.key(body)
        symbol = self._equal.get(key)
        if symbol is None:
            symbol = self._equal[key] = node.symbol
            self._made[id(symbol)] = Definition(symbol, body, 1 + self._level(body))
        self._symbols[id(node)] = node, symbol
        return symbol

    def _solved(self, node: QuantileData, where: Any) -> Symbol:
        symbol: Symbol = node.symbol
        # its equation holds the symbol, which is no expectation of a lower level there
        self._symbols[id(node)] = node, symbol
        centre = self._stand_in(node.mean, where)
        variance = self._stand_in(node.variance, where)
        body = self._read(node.equation, where)
        level = 1 + max(self._level(body), *(self._level_of(s) for s in (centre, variance)))
        self._made[id(symbol)] = Definition(symbol, body, level, centre, variance)
        return symbol

    def _level(self, body: Function) -> int:
        """The highest level of a symbol that occurs in a function."""
        expressions = [body.exact, *(t.multiplier for t in body.terms)]
        for term in body.terms:
            expressions += [term.integrand] if term.scenarios is None else term.scenarios
        found = (s for e in expressions for s in scan(e).symbols.values())
        return max((self._level_of(s) for s in found), default=-1)

    def _level_of(self, symbol: Any) -> int:
        made = self._made.get(id(symbol))
        return -1 if made is None else made.level


class Sentences:
    """Numbers for what expressions say: equal structures over the same leaves have equal numbers.

    What is shared is read once, so that expressions with kinks inside kinks stay readable.
    """

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {}

    def key(self, body: Function) -> Any:
        """What a definition says."""
        said: list[Any]
        if any(t.scenarios is not None for t in body.terms):
            said = [(t.source, tuple(map(id, t.scenarios or ()))) for t in body.terms]
        else:
            said = [(t.source, self(t.multiplier), self(t.integrand)) for t in body.terms]
        return tuple(said), self(body.exact)

    def __call__(self, expr: Any) -> int:
        known: dict[int, int] = {}
        stack: list[tuple[Any, Any]] = [(expr, None)]
        kept = []  # an id stands for an argument only as long as that lives
        while stack:
            e, arguments = stack.pop()
            if id(e) in known:
                continue
            if e.__class__ in native_numeric_types:
                known[id(e)] = self._number((e.__class__, e))
            elif not e.is_expression_type() or isinstance(e, RandomFormula):
                known[id(e)] = self._number(id(e))
            elif arguments is None:
                kept.append(e.args)
                stack.append((e, kept[-1]))
                stack.extend((a, None) for a in kept[-1])
            elif e.is_named_expression_type():
                known[id(e)] = known[id(arguments[0])]
            else:
                own = (getattr(e, "_name", None), getattr(e, "_strict", None))
                said = (e.__class__, own, *(known[id(a)] for a in arguments))
                known[id(e)] = self._number(said)
        return known[id(expr)]

    def _number(self, said: Any) -> int:
        return self._numbers.setdefault(said, len(self._numbers))
