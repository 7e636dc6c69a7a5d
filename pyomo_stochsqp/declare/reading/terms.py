r"""Reading an expression as  exact(x) + sum_i multiplier_i(x) E_i + formulas.

A product E(a) * g(x) equals E(a * g(x)), so an expectation that enters affinely is a term with a
multiplier. Everything else, E(a)**2 or log(E(a)), is a formula of expectations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyomo.core.expr import numeric_expr as ne
from pyomo.core.expr.numvalue import native_numeric_types

from ..expectation import ExpectationData
from ..formula_node import FormulaData, RandomFormula

Terms = list[tuple[Any, ExpectationData]]
#: what becomes of a formula: an expression without expectations
Formula = Callable[[Any], Any]


def split(expr: Any, formula: Formula) -> tuple[Any, Terms]:
    """(exact part, [(multiplier, E node), ...]); ``formula`` rewrites what is not affine."""
    holds = _holders(expr)
    exact: Any = 0.0
    found: Terms = []
    stack: list[tuple[Any, Any]] = [(expr, 1.0)]
    while stack:
        e, factor = stack.pop()
        if isinstance(e, ExpectationData):
            found.append((factor, e))
        elif id(e) not in holds:
            exact = exact + _times(e, factor)
        else:
            inside = _affine_parts(e, factor, holds)
            if inside is None:
                exact = exact + _times(formula(e), factor)
            else:
                stack.extend(reversed(inside))
    return exact, found


def _affine_parts(e: Any, factor: Any, holds: set[int]) -> list[tuple[Any, Any]] | None:
    """[(argument, factor), ...] whose sum is factor * e; None if it is no such sum."""
    if isinstance(e, ne.SumExpression):
        return [(arg, factor) for arg in e.args]
    if isinstance(e, ne.NegationExpression):
        return [(e.args[0], _times(-1.0, factor))]
    if isinstance(e, ne.ProductExpression):
        a, b = e.args
        if id(b) not in holds:
            return [(a, _times(b, factor))]
        if id(a) not in holds:
            return [(b, _times(a, factor))]
    elif isinstance(e, ne.DivisionExpression):
        a, b = e.args
        if id(b) not in holds:
            return [(a, _times(1 / b, factor))]
    elif e.is_named_expression_type() and not isinstance(e, RandomFormula):
        return [(e.args[0], factor)]
    return None


def _holders(expr: Any) -> set[int]:
    """ids of all parts of an expression that contain an expectation, found in one pass."""
    holds: set[int] = set()
    seen: set[int] = set()
    stack = [(expr, False)]
    while stack:
        e, arguments_done = stack.pop()
        if arguments_done:
            if any(id(arg) in holds for arg in e.args):
                holds.add(id(e))
        elif e.__class__ in native_numeric_types or not e.is_expression_type() or id(e) in seen:
            continue
        elif isinstance(e, RandomFormula) and e.variable is None:
            holds.add(id(e))
        else:
            seen.add(id(e))
            stack.append((e, True))
            stack.extend((arg, False) for arg in e.args)
    return holds


def _times(e: Any, factor: Any) -> Any:
    return e if factor.__class__ is float and factor == 1.0 else e * factor


def shortened(expr: Any) -> str:
    """An expression in a message: its beginning tells which one it is."""
    if not _is_short(expr):
        return "a long expression"
    text = str(expr)
    return text if len(text) <= 90 else text[:87] + "..."


def _is_short(expr: Any) -> bool:
    """Whether its text can be written: what is shared is written wherever it occurs."""
    stack, count = [expr], 0
    while stack and count < 1000:
        e = stack.pop()
        count += 1
        if isinstance(e, ExpectationData):
            stack.append(e.integrand if e.explicit is None else e.explicit.first())
        elif isinstance(e, FormulaData):
            stack.extend(e.arguments)
        elif getattr(e, "is_expression_type", bool)():
            stack.extend(() if e.is_named_expression_type() else e.args)
    return not stack
