r"""One pass over an expression: which variables, random numbers and expectations occur in it.

Models with ten thousand scenario blocks have ten thousand expressions to look at, so nodes are told
apart by a table from class to kind, which is filled as classes are met. Expectations are leaves
here: what stands under them is scanned on its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from pyomo.core.expr import numeric_expr as ne
from pyomo.core.expr.numvalue import native_numeric_types

from .formula_node import RandomFormula
from .randomness.random_param import RandomParamData
from .symbol import Symbol
from .width_factor import WidthFactor

# Kinds of nodes. Plain numbers, because they are compared once per node.
_EXPRESSION = 0
_NAMED = 1  # may occur many times: looked into once
_VARIABLE = 2
_RANDOM = 3
_EXPECTATION = 4
_LEAF = 5  # Params and the like
_KINKED = 6  # abs, min, max
_FUNCTION = 7  # of one argument; floor and ceil are among them
_CHOICE = 8  # Expr_if
_EXTERNAL = 9
_SYMBOL = 10  # stands for an expectation
_WIDTH = 11
_FOREIGN = 12  # no number and no expression: None, a text, a whole indexed component
_LEAVE = 13  # the end of a named expression

_STEPS = ("ceil", "floor")
_NAMES = {_CHOICE: "Expr_if", _EXTERNAL: "an external function"}


#: expressions that are looked at without asking whether they have been met: it takes longer
UNSHARED = 5_000


class Contents:
    """What one expression contains, each thing once (keyed by id)."""

    __slots__ = (
        "circular",
        "expectations",
        "foreign",
        "kinked",
        "named",
        "obstacle",
        "pinned",
        "random",
        "rounded",
        "symbols",
        "valueless",
        "variables",
    )

    def __init__(self) -> None:
        #: variables that are not fixed
        self.variables: dict[int, Any] = {}
        #: RandomParam members that are not fixed
        self.random: dict[int, RandomParamData] = {}
        #: RandomParam members that are fixed to a number
        self.pinned: dict[int, RandomParamData] = {}
        self.expectations: dict[int, RandomFormula] = {}
        #: numbers that stand for expectations
        self.symbols: dict[int, Symbol] = {}
        #: named expressions
        self.named: dict[int, Any] = {}
        #: abs, min or max of variables and random numbers: kinks that a mean rounds off
        self.kinked = False
        #: kinks that were rounded off by their spread
        self.rounded = False
        #: (function, node) of a function of the variables that has no derivative here
        self.obstacle: tuple[str, Any] | None = None
        #: a fixed variable without a value
        self.valueless: Any = None
        #: something that is no part of an expression, in a tuple
        self.foreign: tuple[Any] | None = None
        #: a named expression that contains itself
        self.circular: Any = None


def scan(expr: Any) -> Contents:
    """Look at every node, at named ones and those of huge expressions once."""
    return _scan(expr, {})


def _scan(expr: Any, arguments: dict[int, Contents]) -> Contents:
    """``arguments`` of kinks that were looked at already."""
    found = Contents()
    kinds = _kinds
    stack = [expr]
    seen: set[int] = set()  # expressions, where there are so many that some must be shared
    left = UNSHARED
    inside: set[int] = set()  # named expressions that are being looked into
    while stack:
        node = stack.pop()
        cls = node.__class__
        if cls in native_numeric_types:
            continue
        kind = kinds.get(cls)
        if kind is None:
            kind = kinds[cls] = _kind_of(node)
        if kind == _EXPRESSION:
            left -= 1
            if left < 0:
                if id(node) in seen:
                    continue
                seen.add(id(node))
            stack.extend(node.args[::-1])  # so that things are met in reading order
        elif kind == _VARIABLE:
            if not node.fixed:
                found.variables[id(node)] = node
            elif node.value is None:
                found.valueless = node
        elif kind == _RANDOM:
            kept = found.random if node.parent_component().random else found.pinned
            kept[id(node)] = node
        elif kind == _NAMED:
            if id(node) not in found.named:
                found.named[id(node)] = node
                inside.add(id(node))
                stack += (_Leave(id(node)), node.args[0])
            elif id(node) in inside:
                found.circular = node
        elif kind == _LEAVE:
            inside.discard(node.key)
        elif kind == _EXPECTATION:
            variable = node.variable
            if variable is None:
                found.expectations[id(node)] = node
            else:
                stack.append(variable)
        elif kind == _SYMBOL:
            found.symbols[id(node)] = node
        elif kind == _WIDTH:
            found.rounded = True
        elif kind == _FOREIGN:
            found.foreign = (node,)
        elif kind != _LEAF:
            if id(node) in seen:
                continue
            seen.add(id(node))
            stack.extend(node.args[::-1])
            obstacle = _obstacle(kind, node)
            if obstacle is None:
                continue
            looks = []
            for arg in node.args:
                if id(arg) not in arguments:
                    arguments[id(arg)] = _scan(arg, arguments)
                looks.append(arguments[id(arg)])
            if not any(_varies(look) for look in looks):
                continue
            if kind == _KINKED and any(look.random for look in looks):
                found.kinked = True
            else:
                found.obstacle = (obstacle, node)
    return found


class _Leave:
    """Says, on the stack of :func:`scan`, that a named expression has been looked into."""

    __slots__ = ("key",)

    def __init__(self, key: int):
        self.key = key


def _obstacle(kind: int, node: Any) -> str | None:
    """The name of a function without derivatives."""
    name = _NAMES.get(kind) or str(node.getname())
    return None if kind == _FUNCTION and name not in _STEPS else name


def _varies(seen: Contents) -> bool:
    """Whether it depends on variables, be it through expectations."""
    return bool(seen.variables or seen.symbols or seen.expectations)


def _kind_of(node: Any) -> int:
    if isinstance(node, _Leave):
        return _LEAVE
    if isinstance(node, bool):
        return _LEAF
    if not hasattr(node, "is_expression_type") or getattr(node, "is_indexed", bool)():
        return _FOREIGN
    tests: list[tuple[int, Callable[[], bool]]] = [
        (_EXPECTATION, lambda: isinstance(node, RandomFormula)),
        (_RANDOM, lambda: isinstance(node, RandomParamData)),
        (_SYMBOL, lambda: isinstance(node, Symbol)),
        (_WIDTH, lambda: isinstance(node, WidthFactor)),
        (_VARIABLE, lambda: not node.is_expression_type() and bool(node.is_variable_type())),
        (_LEAF, lambda: not node.is_expression_type()),
        (_NAMED, lambda: bool(node.is_named_expression_type())),
        (_EXPRESSION, lambda: not node.is_potentially_variable()),
        (_KINKED, lambda: isinstance(node, (ne.AbsExpression, ne.MinExpression, ne.MaxExpression))),
        (_FUNCTION, lambda: isinstance(node, ne.UnaryFunctionExpression)),
        (_CHOICE, lambda: isinstance(node, ne.Expr_ifExpression)),
        (_EXTERNAL, lambda: isinstance(node, ne.ExternalFunctionExpression)),
    ]
    return next((kind for kind, holds in tests if holds()), _EXPRESSION)


_kinds: dict[type, int] = {}


def expectations_inside(expr: Any) -> Iterator[RandomFormula]:
    """The expectations of an expression, and those inside them."""
    stack, seen = [expr], set()
    while stack:
        for node in scan(stack.pop()).expectations.values():
            if id(node) not in seen:
                seen.add(id(node))
                yield node
                stack.extend(node.integrands())


def integrands_inside(expr: Any) -> Iterator[Any]:
    """What stands under the expectations of an expression, and under those inside them."""
    for node in expectations_inside(expr):
        yield from node.integrands()


def random_inside(expr: Any) -> Iterator[RandomParamData]:
    """RandomParam members of an expression, under expectations or not."""
    yield from scan(expr).random.values()
    for integrand in integrands_inside(expr):
        yield from scan(integrand).random.values()
