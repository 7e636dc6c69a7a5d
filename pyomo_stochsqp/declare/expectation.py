r"""E(...): the expectation as a node of a Pyomo expression.

Two forms, one class:

    E(expr)                 a template with RandomParam members: E[expr(x, w)]
    E(slice or list)        explicit scenarios: sum_s p_s expr_s(x)

The node is a named expression whose argument is the sample average, built only when somebody asks
for it. So every other Pyomo solver sees the extensive form of finite data, while our own compiler
finds the node first and never builds it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pyomo.common.autoslots import AutoSlots
from pyomo.core.base.expression import NamedExpressionData
from pyomo.core.base.indexed_component_slice import IndexedComponent_slice
from pyomo.core.expr import numeric_expr, value
from pyomo.core.expr.visitor import _ToStringVisitor, expression_to_string, identify_components

from ..errors import ModelError
from .randomparam import RandomParamData


def E(integrand: Any, weights: Any = None) -> ExpectationData:
    """The expectation of an expression.

    ``E(expr)`` with RandomParam members inside ``expr``; or ``E(m.scenario[:].cost)`` and
    ``E([list of expressions])`` over explicit scenarios, with ``weights`` (mapping, sequence, slice
    or Param) or equal probabilities.

    >>> import pyomo.environ as pyo
    >>> from pyomo_stochsqp import E
    >>> m = pyo.ConcreteModel()
    >>> m.x = pyo.Var(initialize=2.0)
    >>> @m.Block([1, 2])
    ... def scenario(b, s):
    ...     b.cost = pyo.Expression(expr=(m.x - s) ** 2)
    >>> pyo.value(E(m.scenario[:].cost))
    0.5
    """
    if isinstance(integrand, IndexedComponent_slice):
        items = list(integrand.wildcard_items())
        base = integrand._call_stack[0][1][0]
        keys = [key for key, _ in items]
        return ExpectationData(None, [e for _, e in items], keys, weights, id(base))
    if isinstance(integrand, (list, tuple)):
        return ExpectationData(None, list(integrand), list(range(len(integrand))), weights, None)
    if weights is not None:
        raise ModelError(
            "E(expression, weights=...): weights belong to explicit scenarios; give a RandomParam's "
            "weights to the RandomParam."
        )
    return ExpectationData(integrand, None, None, None, None)


class ExpectationData(NamedExpressionData):
    """One E(...) node."""

    __slots__ = ("_average", "_scenario_base", "integrand", "scenario_keys", "scenarios", "weights")
    __autoslot_mappers__ = {"_average": AutoSlots.encode_as_none}  # noqa: RUF012

    def __init__(self, integrand: Any, scenarios: Any, keys: Any, weights: Any, base: Any):
        self.integrand = integrand
        self.scenarios = scenarios
        self.scenario_keys = keys
        self.weights = weights
        self._scenario_base = base
        self._average = None

    def probabilities(self) -> list[float] | None:
        """The weights of explicit scenarios as numbers, in the order of the scenarios."""
        w = self.weights
        if w is None:
            return None
        if isinstance(w, IndexedComponent_slice):
            return [value(v) for v in w]
        if isinstance(w, Mapping) or hasattr(w, "index_set"):
            return [value(w[_bare(key)]) for key in self.scenario_keys]
        assert isinstance(w, Iterable)
        return [value(v) for v in w]

    @property
    def args(self) -> tuple[Any, ...]:
        if self._average is None:
            from .average import sample_average

            self._average = sample_average(self)
        return (self._average,)

    def to_string(self, verbose: Any = None, labeler: Any = None, smap: Any = None, **_: Any) -> str:
        if self.integrand is not None:
            inside = expression_to_string(self.integrand, verbose=verbose, smap=smap)
        else:
            first = expression_to_string(self.scenarios[0], verbose=verbose, smap=smap)
            inside = f"{first}, ... {len(self.scenarios)} scenarios"
        return f"E[{inside}]"

    __str__ = to_string

    @property
    def name(self) -> str:
        return str(self)

    local_name = name

    # In-place operators of the base class act on the argument, which would build the average.
    def __iadd__(self, other: Any) -> Any:
        return numeric_expr.NumericValue.__add__(self, other)

    def __imul__(self, other: Any) -> Any:
        return numeric_expr.NumericValue.__mul__(self, other)

    def __itruediv__(self, other: Any) -> Any:
        return numeric_expr.NumericValue.__truediv__(self, other)

    def __ipow__(self, other: Any) -> Any:
        return numeric_expr.NumericValue.__pow__(self, other)


# E prints as a leaf, so that printing a model does not build averages.
_ToStringVisitor._leaf_node_types.add(ExpectationData)


def _bare(key: Any) -> Any:
    return key[0] if isinstance(key, tuple) and len(key) == 1 else key


def random_members(expr: Any) -> list[RandomParamData]:
    """The RandomParam members in an expression, each once."""
    if isinstance(expr, RandomParamData):
        return [expr]
    if not hasattr(expr, "is_expression_type") or not expr.is_expression_type():
        return []
    from .randomparam import ScalarRandomParam

    return list(identify_components(expr, {RandomParamData, ScalarRandomParam}))
