r"""The sample average behind an E node: sum_s p_s expr_s(x), for every other Pyomo solver.

Only finite randomness has one. A RandomParam member is replaced by its number in row s; summands
that mix several finite sources run over all combinations of their rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod
from typing import Any

import numpy as np
from pyomo.core.expr import numeric_expr as ne
from scipy import sparse

from ...errors import ModelError
from ..expectation import ExpectationData
from ..randomness.probabilities import probabilities
from ..randomness.random_param import RandomParamData
from ..randomness.source import RandomSource
from ..randomness.tables import Table
from ..reading.summands import Summand, summands
from ..scan import scan
from ..template import Template

#: Rows beyond which an explicit average is refused: at about 1 kB a term, memory would run out.
LARGEST_AVERAGE = 2_000_000


def sample_average(node: ExpectationData) -> Any:
    """The average as an ordinary expression; the integrand itself if it is not a finite sum."""
    if node.explicit is not None:
        resolved = node.explicit.resolve()
        return _weighted(list(resolved.expressions), resolved.weights)
    seen = scan(node.integrand)
    pinned = {key: _with_units(r, r()) for key, r in seen.pinned.items()}
    parts = summands(node.integrand, seen)
    if not all(isinstance(r.parent_component().origin, Table) for r in seen.random.values()):
        return Template(node.integrand, pinned).copy(pinned)
    if len(parts) == 1:
        return _over_rows(parts[0], pinned, node)
    return ne.SumExpression([_over_rows(part, pinned, node) for part in parts])


def _over_rows(part: Summand, pinned: dict[int, Any], node: ExpectationData) -> Any:
    sizes = [_size(source, part.random) for source in part.sources]
    if prod(sizes) > LARGEST_AVERAGE:
        raise ModelError(
            f"{node}: written out, this average has {prod(sizes)} terms, too many for an explicit "
            "expression. Solve with SolverFactory('stochsqp'), get values with "
            "pyomo_stochsqp.evaluate(model), or draw fewer scenarios with "
            "TransformationFactory('stochsqp.extensive_form') and sample_finite=True."
        )
    columns = [
        {id(r): _column(r) for r in part.random if r.parent_component().source is source}
        for source in part.sources
    ]
    replaced = {*pinned, *(key for own in columns for key in own)}
    template = Template(part.expression, replaced)
    terms = []
    for rows in product(*map(range, sizes)):
        numbers = dict(pinned)
        for row, own in zip(rows, columns, strict=True):
            numbers.update((key, column[row]) for key, column in own.items())
        terms.append(template.copy(numbers))
    if all(source.weights is None for source in part.sources):
        return _weighted(terms, None)
    weights = np.ones(1)
    for source, size in zip(part.sources, sizes, strict=True):
        p = probabilities(source.weights, range(size), f"Source '{source.name}'")
        weights = np.outer(weights, np.full(size, 1 / size) if p is None else p).ravel()
    return _weighted(terms, weights)


def _size(source: RandomSource, random: Sequence[RandomParamData]) -> int:
    reader = next(r.parent_component() for r in random if r.parent_component().source is source)
    return int(reader.origin.size)


def _column(member: RandomParamData) -> list[Any]:
    component = member.parent_component()
    column = component.origin.matrix[:, [component.column(member.index())]]
    dense = column.toarray() if sparse.issparse(column) else np.asarray(column)
    return [_with_units(member, number) for number in dense.ravel().tolist()]


def _with_units(member: RandomParamData, number: float) -> Any:
    units = member.get_units()
    return number if units is None else number * units


def _weighted(terms: list[Any], weights: Any) -> Any:
    if len(terms) == 1:
        return terms[0]
    if weights is None:
        return ne.ProductExpression((1 / len(terms), ne.SumExpression(list(terms))))
    return ne.SumExpression([p * e for p, e in zip(weights.tolist(), terms, strict=True) if p != 0])


class State:
    """All that an average depends on; two states match exactly if the averages would be equal."""

    def __init__(self, node: ExpectationData):
        self._objects: list[Any]
        if node.explicit is not None:
            resolved = node.explicit.resolve()
            self._objects = resolved.expressions
            self._numbers: Any = _bytes(resolved.weights)
            return
        seen = scan(node.integrand)
        self._objects = [named.args[0] for named in seen.named.values()]
        self._objects += [inner.args[0] for inner in seen.expectations.values()]
        random = [*seen.random.values(), *seen.pinned.values()]
        components = {id(c): c for c in (r.parent_component() for r in random)}
        self._numbers = [(key, c.changes, _live_weights(c)) for key, c in components.items()]

    def matches(self, other: State) -> bool:
        return (
            self._numbers == other._numbers
            and len(self._objects) == len(other._objects)
            and all(a is b for a, b in zip(self._objects, other._objects, strict=True))
        )


def _live_weights(component: Any) -> bytes | None:
    """Weights that may change because they are mutable Params."""
    weights = component.source.weights
    if weights is None or isinstance(weights, np.ndarray) or not component.random:
        return None
    return _bytes(probabilities(weights, range(component.origin.size), f"'{component.name}'"))


def _bytes(weights: Any) -> bytes | None:
    return None if weights is None else weights.tobytes()
