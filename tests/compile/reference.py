"""Estimates computed by Pyomo itself, expression by expression and row by row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo
import scipy.sparse as sp
from pyomo.core.expr.calculus.derivatives import Modes, differentiate
from pyomo.core.expr.visitor import identify_variables, replace_expressions

from pyomo_stochsqp.oracle import Estimate


def dense_jacobian(evaluator: Any, values: Any) -> Any:
    J = sp.csr_matrix(
        (values, evaluator.jac_indices, evaluator.jac_indptr), shape=(evaluator.m, evaluator.n)
    )
    return J.toarray()


def reference(program: Any, x: Any, batches: Any) -> tuple[float, Any, Any, Any]:
    """(f, g, c, J dense) with the sign of the objective."""
    for v, value in zip(program.variables, x, strict=True):
        v.set_value(float(value), skip_validation=True)
    index = {id(v): j for j, v in enumerate(program.variables)}
    results = []
    for function in [program.objective, *(row.body for row in program.rows)]:
        value, gradient = _point(function.exact, index)
        for term in function.terms:
            batch = batches[term.source]
            weights = batch.weights
            for b in range(batch.size):
                expr = term.multiplier * _integrand(program, term, batch, b)
                v, g = _point(expr, index)
                weight = 1 / batch.size if weights is None else weights[b]
                value += weight * v
                gradient += weight * g
        results.append((value, gradient))
    f, g = results[0]
    m = len(results) - 1
    c = np.array([r[0] for r in results[1:]])
    J = np.array([r[1] for r in results[1:]]).reshape(m, len(index))
    return program.sign * f, program.sign * g, c, J


def _integrand(program: Any, term: Any, batch: Any, b: int) -> Any:
    if term.scenarios is not None:
        return term.scenarios[_row(batch.parts[0], b)]
    numbers = {}
    for member in _members(program, term.integrand):
        leaf = program.leaves[id(member)]
        part = program.sources[leaf.source].parts[leaf.part]
        rows = batch.parts[leaf.part]
        if part.size is None:
            numbers[id(member)] = float(rows[leaf.field][b, leaf.column])
        else:
            matrix = part.fields[leaf.field].matrix
            numbers[id(member)] = matrix[[_row(rows, b)], [leaf.column]].item()
    if not numbers:
        return term.integrand
    return replace_expressions(term.integrand, numbers)


def _members(program: Any, expr: Any) -> list[Any]:
    """The RandomParam members in an expression."""
    found, stack = {}, [expr]
    while stack:
        e = stack.pop()
        if id(e) in program.leaves:
            found[id(e)] = e
        elif hasattr(e, "is_expression_type") and e.is_expression_type():
            stack.extend(e.args)
    return list(found.values())


def _row(rows: Any, b: int) -> int:
    return int(rows.start or 0) + b if isinstance(rows, slice) else int(rows[b])


def _point(expr: Any, index: dict[int, int]) -> tuple[float, Any]:
    gradient = np.zeros(len(index))
    if not hasattr(expr, "is_expression_type"):
        return float(expr), gradient
    present = list(identify_variables(expr, include_fixed=False))
    if present:
        for v, d in zip(
            present, differentiate(expr, wrt_list=present, mode=Modes.reverse_numeric), strict=True
        ):
            gradient[index[id(v)]] += d
    return float(pyo.value(expr)), gradient


def assert_matches(evaluator: Any, estimate: Estimate, expected: Any, rtol: float = 1e-10) -> None:
    f, g, c, J = expected
    assert estimate.issue is None, str(estimate.issue)
    scale = 1.0 + max(np.abs(J).max(initial=0.0), np.abs(g).max(initial=0.0))
    np.testing.assert_allclose(estimate.g, g, rtol=rtol, atol=1e-11 * scale)
    np.testing.assert_allclose(estimate.c, c, rtol=rtol, atol=1e-11 * scale)
    J_found = dense_jacobian(evaluator, estimate.J)
    np.testing.assert_allclose(J_found, J, rtol=rtol, atol=1e-11 * scale)
    if estimate.f is not None:
        np.testing.assert_allclose(estimate.f, f, rtol=rtol, atol=1e-11 * scale)
