r"""The sample average behind an E node: sum_s p_s expr_s(x), for every other Pyomo solver.

Only finite randomness has one. A RandomParam member is replaced by its number in row s; summands
that mix several finite sources run over all combinations of their rows.
"""

from __future__ import annotations

from itertools import product
from math import prod
from typing import Any

import numpy as np
from pyomo.core.expr import numeric_expr as ne
from pyomo.core.expr.numvalue import native_numeric_types
from pyomo.core.expr.visitor import replace_expressions
from scipy import sparse

from ..errors import ModelError
from .expectation import ExpectationData
from .probabilities import probabilities
from .program import Part
from .scan import scan
from .source import freeze
from .summands import Summand, summands
from .tables import Table

#: Rows beyond which an explicit average is refused: at about 1 kB a term, memory would run out.
LARGEST_AVERAGE = 2_000_000


def sample_average(node: ExpectationData) -> Any:
    """The average as an ordinary expression; the integrand itself if it is not a finite sum."""
    if node.explicit is not None:
        resolved = node.explicit.resolve()
        return _weighted(resolved.expressions, resolved.weights)
    parts = summands(node.integrand, scan(node.integrand))
    if not all(_is_finite(part) for part in parts):
        return node.integrand
    if len(parts) == 1:
        return _over_rows(parts[0], node)
    return ne.SumExpression([_over_rows(part, node) for part in parts])


def fingerprint(node: ExpectationData) -> Any:
    """Changes whenever the average would: blocks, weights, fixed numbers."""
    if node.explicit is not None:
        resolved = node.explicit.resolve()
        seen = [e if e.__class__ in native_numeric_types else id(e) for e in resolved.expressions]
        return seen, None if resolved.weights is None else resolved.weights.tobytes()
    random = scan(node.integrand).random.values()
    components = {id(c): c for c in (r.parent_component() for r in random)}
    return [(key, c._changes, _weights(c)) for key, c in components.items()]


def _weights(component: Any) -> bytes | None:
    weights = component.source.weights
    if weights is None or isinstance(weights, np.ndarray):
        return None
    p = probabilities(weights, range(component.origin.size), component.name)
    return None if p is None else p.tobytes()


def _is_finite(part: Summand) -> bool:
    return all(isinstance(r.parent_component().origin, Table) for r in part.random)


def _over_rows(part: Summand, node: ExpectationData) -> Any:
    if not part.sources:
        return part.expression
    components = {id(c): c for c in (r.parent_component() for r in part.random)}
    parts: list[Part] = []
    columns: list[dict[int, list[float]]] = []
    for source in part.sources:
        readers = [c for c in components.values() if c.source is source]
        parts.append(freeze(source, readers))
        mine = [r for r in part.random if r.parent_component().source is source]
        columns.append({id(r): _column(r) for r in mine})
    sizes = [p.size or 0 for p in parts]
    if prod(sizes) > LARGEST_AVERAGE:
        raise ModelError(
            f"{node}: written out, this average has {prod(sizes)} terms, too many for an explicit "
            "expression. Solve with SolverFactory('stochsqp'), get values with "
            "pyomo_stochsqp.evaluate(model), or draw fewer scenarios with "
            "TransformationFactory('stochsqp.extensive_form') and sample_finite=True."
        )
    terms = []
    for rows in product(*map(range, sizes)):
        numbers: dict[int, Any] = {}
        for row, mine_ in zip(rows, columns, strict=True):
            numbers.update((key, column[row]) for key, column in mine_.items())
        terms.append(replace_expressions(part.expression, numbers))
    if all(p.weights is None for p in parts):
        return _weighted(terms, None)
    weights = np.ones(1)
    for p, size in zip(parts, sizes, strict=True):
        own = np.full(size, 1 / size) if p.weights is None else p.weights
        weights = np.outer(weights, own).ravel()
    return _weighted(terms, weights)


def _column(member: Any) -> list[float]:
    component = member.parent_component()
    column = component.origin.matrix[:, [component.column(member.index())]]
    dense = column.toarray() if sparse.issparse(column) else np.asarray(column)
    return dense.ravel().tolist()


def _weighted(terms: list[Any], weights: Any) -> Any:
    if weights is None:
        return ne.ProductExpression((1 / len(terms), ne.SumExpression(list(terms))))
    return ne.SumExpression([p * e for p, e in zip(weights.tolist(), terms, strict=True) if p != 0])
