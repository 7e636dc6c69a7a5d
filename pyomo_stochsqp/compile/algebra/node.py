r"""Nodes: expressions as a directed acyclic graph in which equal sub-expressions are one object.

Every sub-expression of the model is kept as

    const + sum_k coef_k * node_k ,

where ``const`` is free of variables and data, ``coef_k`` is free of variables (it may hold data)
and ``node_k`` is a variable, a data column or a nonlinear function of such forms. A node is made
once: asking again for the same operation on the same arguments returns the same object, so shared
sub-expressions are shared without looking for them.

    op      arguments            meaning
    var     payload j            decision variable x_j
    data    payload (field, col) column of a field of the drawn row
    ell     payload number       sum_k coef[row, k] x[index[row, k]] of a collapsed scenario
    one     -                    1 for every drawn row (its mean is the share of rows in a class)
    par     payload object       a mutable Param or a fixed variable, read again by ``reload``
    sum     c, k1, t1, k2, t2..  c + k1 t1 + k2 t2 + ...
    prod    a, b                 a * b
    pow     a, p                 a ** p
    mean    a                    average over the batch of the function's source
    zero    a                    0 where a is finite, not a number elsewhere
    others  a (or a, b, ...)     the function of that name
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any


class Node:
    """One sub-expression.

    ``x``: depends on variables; ``drawn``: depends on the drawn rows; ``batch``: differs from row
    to row (a mean is drawn, but has one value for the whole batch).
    """

    __slots__ = (
        "args", "batch", "drawn", "index", "op", "partial", "partial_data", "payload", "value", "x",
    )  # fmt: skip

    def __init__(self, op: str, args: tuple[Any, ...], payload: Any, x: bool, drawn: bool):
        self.op = op
        self.args = args
        self.payload = payload
        self.x = x
        self.drawn = drawn
        self.batch = drawn
        #: it is undefined for some values of its leaves: set where nodes are made
        self.partial = False
        #: something in it that depends on data alone is
        self.partial_data = False
        #: nodes are numbered after their arguments
        self.index = 0
        #: the number behind a constant node, set when it is made and by :meth:`Nodes.refresh`
        self.value = math.nan

    @property
    def total(self) -> bool:
        """Defined for all values of its leaves. Of a constant that is not known beforehand."""
        return not (self.partial or self.constant)

    @property
    def constant(self) -> bool:
        """Free of variables and data: a run-time constant."""
        return not (self.x or self.drawn)


#: a number known now, or a node free of variables
Coef = float | Node

#: Functions that are smooth where they are defined.
SMOOTH: dict[str, Callable[[float], float]] = {
    "exp": math.exp,
    "log": math.log,
    "log10": math.log10,
    "sqrt": math.sqrt,
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "asin": math.asin,
    "acos": math.acos,
    "atan": math.atan,
    "sinh": math.sinh,
    "cosh": math.cosh,
    "tanh": math.tanh,
    "asinh": math.asinh,
    "acosh": math.acosh,
    "atanh": math.atanh,
}

#: ... which is not everywhere
PARTIAL = frozenset(("log", "log10", "sqrt", "asin", "acos", "acosh", "atanh"))

#: Functions with kinks or jumps: fine on data, an error on variables.
KINKED: dict[str, Callable[..., float]] = {
    "abs": abs,
    "floor": math.floor,
    "ceil": math.ceil,
    "max": max,
    "min": min,
    "where_lt": lambda a, b, yes, no: yes if a < b else no,
    "where_le": lambda a, b, yes, no: yes if a <= b else no,
    "where_eq": lambda a, b, yes, no: yes if a == b else no,
}


_ON_CONSTANTS: dict[str, Callable[..., float]] = {
    **SMOOTH,
    **KINKED,
    "add": lambda a, b: a + b,
    "mul": lambda a, b: a * b,
    # 0 * a: what is undefined stays so, whatever its power
    "pow": lambda a, p: math.pow(a, p) + 0.0 * a,
    "zero": lambda a: 0.0 * a,
}


def constant_value(op: str, args: tuple[float, ...]) -> float:
    """A function of numbers; outside its domain it is NaN, which evaluation then reports."""
    try:
        return float(_ON_CONSTANTS[op](*args))
    except (ValueError, OverflowError, ZeroDivisionError):
        return math.nan


class Nodes:
    """The table of all nodes of a program."""

    def __init__(self, read: Callable[[Any], float]):
        self._table: dict[Any, Node] = {}
        self._constants: list[Node] = []
        self._read = read

    def make(self, op: str, args: tuple[Any, ...] = (), payload: Any = None) -> Node:
        """The node of an operation; the same one for the same question."""
        key = (op, payload, args)
        node = self._table.get(key)
        if node is None:
            x = op in ("var", "ell")
            drawn = batch = op in ("data", "ell", "one")
            for a in args:
                if a.__class__ is Node:
                    x = x or a.x
                    drawn = drawn or a.drawn
                    batch = batch or a.batch
            node = Node(op, args, payload, x, drawn)
            node.batch = batch and op != "mean"
            node.partial = _partial(op, args)
            node.partial_data = (node.partial and drawn and not x) or any(
                a.__class__ is Node and a.partial_data for a in args
            )
            node.index = len(self._table)
            self._table[key] = node
            if not (x or drawn):
                self._constants.append(node)
                self._evaluate(node)
        return node

    def payloads(self, op: str) -> list[Any]:
        """The payloads of all nodes of one kind."""
        return [payload for kind, payload, _ in self._table if kind == op]

    def refresh(self) -> None:
        """Read all mutable values again (nodes are listed after their arguments)."""
        for node in self._constants:
            self._evaluate(node)

    def _evaluate(self, node: Node) -> None:
        if node.op == "par":
            node.value = self._read(node.payload)
        else:
            numbers = [a.value if a.__class__ is Node else a for a in node.args]
            node.value = constant_value(node.op, tuple(numbers))


def _partial(op: str, args: tuple[Any, ...]) -> bool:
    """Whether an operation, or one behind it, is undefined for some numbers."""
    if any(a.partial if a.__class__ is Node else not math.isfinite(a) for a in args):
        return True
    if op == "pow":
        p = args[1]
        return not (p.__class__ is float and p >= 1.0 and p.is_integer())
    return op in PARTIAL


def is_zero(c: Coef) -> bool:
    return c.__class__ is float and c == 0.0


def is_number(c: Coef) -> bool:
    return c.__class__ is float and math.isfinite(c)


def is_one(c: Coef) -> bool:
    return c.__class__ is float and c == 1.0
