r"""E(...): the expectation as a node of a Pyomo expression.

Two forms, one class:

    E(expr)                     a template with RandomParam members: E[expr(x, w)]
    E(slice, list or mapping)   explicit scenarios: sum_s p_s expr_s(x)

The node is a named expression whose argument is the sample average, built only when somebody asks
for it. So every other Pyomo solver sees the extensive form of finite data, while our own compiler
finds the node first and never builds it. An expectation that is not a finite sum shows its
integrand instead: its variables can be listed and its derivatives taken, but a solver that needs a
number for the random leaf meets the RandomParam's error.
"""

from __future__ import annotations

from typing import Any

from pyomo.common.autoslots import AutoSlots
from pyomo.core.base.expression import NamedExpressionData
from pyomo.core.expr import numeric_expr
from pyomo.core.expr.visitor import _ToStringVisitor, expression_to_string

from ..errors import ModelError
from .randomparam import RandomParam
from .scenarios import ScenarioSet, scenario_items


def E(
    integrand: Any, weights: Any = None, *, renormalise: bool = False, source: str | None = None
) -> ExpectationData:
    """The expectation of an expression.

    ``E(expr)`` with RandomParam members inside ``expr``; or, over explicit scenarios,
    ``E(m.scenario[:].cost)``, ``E([expressions])`` and ``E({key: expression})``.

    Explicit scenarios have equal probabilities or ``weights`` that sum to one: a mapping or Param
    over the scenarios, a slice, or a sequence in their order. Deactivated blocks are left out;
    their probability is spread over the others only if ``renormalise``. Expectations over the same
    blocks with the same weights are sampled together; lists are if they name the same ``source``.

    >>> import pyomo.environ as pyo
    >>> from pyomo_stochsqp import E
    >>> m = pyo.ConcreteModel()
    >>> m.x = pyo.Var(initialize=2.0)
    >>> @m.Block([1, 2])
    ... def scenario(b, s):
    ...     b.cost = pyo.Expression(expr=(m.x - s) ** 2)
    >>> pyo.value(E(m.scenario[:].cost))
    0.5
    >>> pyo.value(E(m.scenario[:].cost, weights={1: 0.9, 2: 0.1}))
    0.9
    """
    if isinstance(integrand, RandomParam) and integrand.is_indexed():
        raise ModelError(
            f"E({integrand.name}): '{integrand.name}' is indexed, and E takes one number; take a "
            "member of it, or a sum."
        )
    items = scenario_items(integrand)
    if items is not None:
        explicit = ScenarioSet(items, weights, renormalise, source)
        first = explicit.first()
        if hasattr(first, "is_indexed") and first.is_indexed():
            raise ModelError(
                f"E({explicit}): '{first.name}' is indexed, and a scenario is one number; add an "
                "index, as in E(m.scenario[:].residual[j])."
            )
        _require_number(first)
        return ExpectationData(None, explicit)
    if weights is not None or renormalise or source is not None:
        raise ModelError(
            f"E({integrand}): weights=, renormalise= and source= belong to explicit scenarios; "
            "give those of random data to its RandomParam."
        )
    _require_number(integrand)
    return ExpectationData(integrand, None)


def _require_number(integrand: Any) -> None:
    if hasattr(integrand, "is_numeric_type"):
        if integrand.is_numeric_type():
            return
        if hasattr(integrand, "is_relational") and integrand.is_relational():
            raise ModelError(
                f"E({integrand}): this is the probability of an event, which is not a smooth "
                "function of the variables. Write a smooth approximation of its indicator."
            )
    elif isinstance(integrand, (int, float)) or hasattr(integrand, "__float__"):
        return
    raise ModelError(f"E({integrand!r}): E takes a numeric Pyomo expression, or scenarios of them.")


class ExpectationData(NamedExpressionData):
    """One E(...) node: ``integrand`` (a template) or ``explicit`` (scenarios), never both."""

    __slots__ = ("_average", "explicit", "integrand")
    # The average is rebuilt on demand, so copies and pickles leave it behind.
    __autoslot_mappers__ = {"_average": AutoSlots.encode_as_none}  # noqa: RUF012

    def __init__(self, integrand: Any, explicit: ScenarioSet | None):
        self.integrand = integrand
        self.explicit = explicit
        self._average: Any = None

    @property
    def _args_(self) -> tuple[Any, ...]:
        from .average import State, sample_average

        # Visitors compare arguments by identity, so the same state must give the same object.
        state = State(self)
        if self._average is None or not self._average[0].matches(state):
            self._average = (state, (sample_average(self),))
        return self._average[1]

    @property
    def args(self) -> tuple[Any, ...]:
        return self._args_

    def set_value(self, expr: Any) -> None:
        """Replace what stands under E by one expression (used by Pyomo's transformations)."""
        self.integrand = expr
        self.explicit = None
        self._average = None

    def create_node_with_local_data(self, values: Any, classtype: Any = None) -> ExpectationData:
        """E of a transformed argument."""
        return ExpectationData(values[0], None)

    def is_fixed(self) -> bool:
        from .scan import scan

        if self.explicit is None:
            return not scan(self.integrand).variables
        return not any(scan(e).variables for e in self.explicit.resolve().expressions)

    def to_string(
        self, verbose: Any = None, labeler: Any = None, smap: Any = None, **_: Any
    ) -> str:
        if self.explicit is not None:
            return f"E[{self.explicit}]"
        inside = expression_to_string(self.integrand, verbose=verbose, labeler=labeler, smap=smap)
        return f"E[{inside}]"

    def __str__(self) -> str:
        return self.to_string()

    @property
    def name(self) -> str:
        return str(self)

    def getname(self, *args: Any, **kwds: Any) -> str:
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
