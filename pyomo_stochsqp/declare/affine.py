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


def split(expr: Any, where: str) -> tuple[Any, list[tuple[Any, ExpectationData]]]:
    """(exact part, [(multiplier, E node), ...]) of an expression of component ``where``."""
    if not contains_expectation(expr):
        return expr, []
    if isinstance(expr, ExpectationData):
        return 0.0, [(1.0, expr)]
    if isinstance(expr, ne.SumExpression):
        exact: Any = 0.0
        found = []
        for arg in expr.args:
            e, f = split(arg, where)
            exact = exact + e
            found += f
        return exact, found
    if isinstance(expr, ne.NegationExpression):
        return _scaled(*split(expr.args[0], where), -1.0)
    if isinstance(expr, ne.ProductExpression):
        a, b = expr.args
        if contains_expectation(a) and contains_expectation(b):
            raise _not_affine(expr, where)
        if contains_expectation(b):
            a, b = b, a
        return _scaled(*split(a, where), b)
    if isinstance(expr, ne.DivisionExpression):
        a, b = expr.args
        if contains_expectation(b):
            raise _not_affine(expr, where)
        return _scaled(*split(a, where), 1 / b)
    if expr.is_named_expression_type():
        return split(expr.args[0], where)
    raise _not_affine(expr, where)


def _scaled(exact: Any, found: list, factor: Any) -> tuple[Any, list]:
    return exact * factor, [(m * factor, node) for m, node in found]


def _not_affine(expr: Any, where: str) -> ModelError:
    return ModelError(
        f"'{where}': the expectation in {expr} does not enter affinely. Sampling would estimate it "
        "with a bias. Introduce a variable for the expectation, for example m.mean = Var() and "
        "m.mean_def = Constraint(expr=E(...) == m.mean), and use m.mean in the nonlinear expression."
    )


def contains_expectation(expr: Any) -> bool:
    """Whether an E node occurs in an expression (without looking inside E nodes)."""
    stack = [expr]
    while stack:
        node = stack.pop()
        if node.__class__ in native_numeric_types:
            continue
        if isinstance(node, ExpectationData):
            return True
        if node.is_expression_type():
            stack.extend(node.args)
    return False
