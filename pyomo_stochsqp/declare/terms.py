r"""Reading an expression as  exact(x) + sum_t multiplier_t(x) E_t.

Expectations must enter affinely: under sampling, E(a)**2 or log(E(a)) estimated by plugging in a
batch mean would be biased. A product E(a) * g(x) is fine, because it equals E(a * g(x)).
"""

from __future__ import annotations

from typing import Any

from pyomo.core.expr import numeric_expr as ne
from pyomo.core.expr.numvalue import native_numeric_types

from ..errors import ModelError
from .expectation import ExpectationData
from .scan import scan

Terms = list[tuple[Any, ExpectationData]]


def split(expr: Any, where: Any) -> tuple[Any, Terms]:
    """(exact part, [(multiplier, E node), ...]) of an expression of the component ``where``."""
    if isinstance(expr, ExpectationData):
        return 0.0, [(1.0, expr)]
    if not _holds_expectation(expr):
        return expr, []
    if isinstance(expr, ne.SumExpression):
        exact: Any = 0.0
        found: Terms = []
        for arg in expr.args:
            e, f = split(arg, where)
            exact = exact + e
            found += f
        return exact, found
    if isinstance(expr, ne.NegationExpression):
        return _scaled(split(expr.args[0], where), -1.0)
    if isinstance(expr, ne.ProductExpression):
        a, b = expr.args
        if not _holds_expectation(b):
            return _scaled(split(a, where), b)
        if not _holds_expectation(a):
            return _scaled(split(b, where), a)
    elif isinstance(expr, ne.DivisionExpression):
        a, b = expr.args
        if not _holds_expectation(b):
            return _scaled(split(a, where), 1 / b)
    elif expr.is_named_expression_type():
        return split(expr.args[0], where)
    raise ModelError(
        f"'{where.name}': the expectation in {shortened(expr)} does not enter affinely, and "
        "sampling would estimate it with a bias. Introduce a variable for the expectation, "
        "m.mean = Var(initialize=...) and m.mean_def = Constraint(expr=E(...) == m.mean), and use "
        "m.mean in the nonlinear expression."
    )


def shortened(expr: Any) -> str:
    """An expression in a message: its beginning tells which one it is."""
    text = str(expr)
    return text if len(text) <= 90 else text[:87] + "..."


def _scaled(terms: tuple[Any, Terms], factor: Any) -> tuple[Any, Terms]:
    exact, found = terms
    is_zero = exact.__class__ in native_numeric_types and exact == 0
    return 0.0 if is_zero else exact * factor, [
        (multiplier * factor, node) for multiplier, node in found
    ]


def _holds_expectation(expr: Any) -> bool:
    return bool(scan(expr).expectations)
