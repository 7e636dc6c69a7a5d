r"""An expression over arrays: one number for every scenario.

Leaves are looked up by whoever knows the scenarios; everything else is arithmetic. Expectations
inside are numbers of their own, the same in every scenario.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyomo.core.expr import numeric_expr as ne
from pyomo.core.expr import relational_expr as re
from pyomo.core.expr.numvalue import native_numeric_types

from ..errors import ModelError
from .program import Leaf as Place
from .program import Part
from .randomness.tables import Table

Numbers = Any  # float or NDArray[np.float64]
#: the numbers of a leaf: a variable, a Param, a random number, an expectation
Leaf = Callable[[Any], Numbers]

_FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    **{name: getattr(np, name) for name in ("exp", "log", "log10", "sqrt", "sin", "cos", "tan")},
    **{name: getattr(np, name) for name in ("sinh", "cosh", "tanh", "ceil", "floor")},
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan,
    "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh,
}  # fmt: skip


def numbers_of(expr: Any, leaf: Leaf) -> Numbers:
    """The value of an expression; ``leaf`` is asked for everything that is none."""
    if expr.__class__ not in native_numeric_types and not expr.is_expression_type():
        return leaf(expr)
    known: dict[int, Numbers] = {}
    stack = [(expr, False)]
    while stack:
        e, ready = stack.pop()
        if e.__class__ in native_numeric_types or id(e) in known:
            continue
        if not e.is_expression_type() or getattr(e, "is_expectation", False):
            known[id(e)] = leaf(e)
        elif ready:
            known[id(e)] = _applied(e, [_get(a, known) for a in e.args])
        else:
            stack.append((e, True))
            stack.extend((a, False) for a in e.args)
    return _get(expr, known)


def _get(e: Any, known: dict[int, Numbers]) -> Numbers:
    return float(e) if e.__class__ in native_numeric_types else known[id(e)]


def _applied(e: Any, args: Sequence[Numbers]) -> Numbers:
    with np.errstate(all="ignore"):
        for kind, apply in _OPERATIONS.items():
            if isinstance(e, kind):
                return apply(*args)
        if e.is_named_expression_type():
            return args[0]
        if isinstance(e, ne.UnaryFunctionExpression):
            return _FUNCTIONS[e.getname()](args[0])
    raise ModelError(f"{type(e).__name__} cannot be evaluated scenario by scenario.")


def _sum(*args: Numbers) -> Numbers:
    total: Numbers = 0.0
    for a in args:
        total = total + a
    return total


def _least(*args: Numbers) -> Numbers:
    return np.minimum.reduce(np.broadcast_arrays(*args))


def _largest(*args: Numbers) -> Numbers:
    return np.maximum.reduce(np.broadcast_arrays(*args))


_OPERATIONS: dict[type, Callable[..., Numbers]] = {
    ne.SumExpression: _sum,
    ne.LinearExpression: _sum,
    ne.ProductExpression: np.multiply,
    ne.DivisionExpression: np.divide,
    ne.PowExpression: lambda a, b: np.power(np.asarray(a, dtype=float), b),
    ne.NegationExpression: np.negative,
    ne.AbsExpression: np.abs,
    ne.MinExpression: _least,
    ne.MaxExpression: _largest,
    ne.Expr_ifExpression: np.where,
    re.InequalityExpression: np.less_equal,
    re.EqualityExpression: np.equal,
}


def as_column(numbers: Numbers, count: int) -> NDArray[np.float64]:
    """One number per scenario, where it may be one for all of them."""
    return np.broadcast_to(np.asarray(numbers, dtype=float), (count,))


def column_of(part: Part, place: Place, drawn: Any) -> NDArray[np.float64]:
    """The numbers of a RandomParam member in scenarios: ``drawn`` are their rows, or the numbers of
    their rows in a table."""
    if isinstance(drawn, tuple):
        return np.asarray(drawn[place.field][:, place.column], dtype=float)
    matrix = part.fields[place.field].matrix
    if part.stored:
        return Table(matrix).rows(drawn)[:, place.column]
    column = matrix[:, [place.column]]
    column = column.toarray() if hasattr(column, "toarray") else np.asarray(column)
    return np.asarray(column.ravel()[drawn], dtype=float)
