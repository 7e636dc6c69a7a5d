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

from pyomo.core.expr.compare import convert_expression_to_prefix_notation
from pyomo.core.expr.numvalue import native_numeric_types

from .functionals.quantile import QuantileData
from .program import Definition, Function
from .scan import Contents, scan
from .symbol import Symbol
from .template import Template

#: reads an expression of a component as a function
Read = Callable[[Any, Any], Function]


class Definitions:
    """Collects the definitions of a model while its functions are read."""

    def __init__(self, read: Read):
        self._read = read
        # id(node) -> the node, which must live as long as its id is used, and what stands for it
        self._symbols: dict[int, tuple[Any, Symbol]] = {}
        self._equal: dict[Any, Symbol] = {}  # what a node says -> the same
        self._made: dict[int, Definition] = {}  # id(symbol) -> its definition

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
        body = self._read(node, where)
        if not body.terms:
            return body.exact  # nothing in it is random
        key = _key(body)
        symbol = None if key is None else self._equal.get(key)
        if symbol is None:
            symbol = node.symbol
            if key is not None:
                self._equal[key] = symbol
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


def _key(body: Function) -> Any:
    """What an expectation says; equal expectations have equal keys. None: not worth a look."""
    if any(t.scenarios is not None for t in body.terms):
        said = [(t.source, tuple(map(id, t.scenarios or ()))) for t in body.terms]
        return tuple(said), _said(body.exact)
    return tuple((t.source, _said(t.multiplier), _said(t.integrand)) for t in body.terms), _said(
        body.exact
    )


def _said(expr: Any) -> tuple[Any, ...]:
    if expr.__class__ in native_numeric_types:
        return (expr,)
    words = convert_expression_to_prefix_notation(expr, include_named_exprs=False)
    return tuple(w if isinstance(w, (tuple, *native_numeric_types)) else id(w) for w in words)
