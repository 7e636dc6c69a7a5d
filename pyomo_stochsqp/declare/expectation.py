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
from pyomo.core.expr.visitor import expression_to_string

from ..errors import ModelError
from .formula_node import RandomFormula
from .randomness.random_param import RandomParam, RandomParamData
from .randomness.scenario_set import ScenarioSet, scenario_items
from .recourse_block import decided_later


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

    ``E(expr, w)`` may name the random parameters, as other tools want it; E averages over all of
    them in any case.

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
        require_number(first)
        return ExpectationData(None, explicit)
    over = _random_params(weights)
    if over is not None:
        _require_all_of(integrand, over)
        weights = None
    if weights is not None or renormalise or source is not None:
        raise ModelError(
            f"E({integrand}): weights=, renormalise= and source= belong to explicit scenarios; "
            "give those of random data to its RandomParam."
        )
    require_number(integrand)
    return ExpectationData(integrand, None)


def _random_params(given: Any) -> list[Any] | None:
    """RandomParams in the place of weights: E(expr, w), as other tools write it."""
    found = list(given) if isinstance(given, (list, tuple)) else [given]
    if not found or not all(isinstance(w, (RandomParam, RandomParamData)) for w in found):
        return None
    return [w if isinstance(w, RandomParam) else w.parent_component() for w in found]


def _require_all_of(integrand: Any, over: list[Any]) -> None:
    """E averages over all random numbers at once."""
    from .scan import scan

    named = {id(w) for w in over}
    for member in scan(integrand).random.values():
        component = member.parent_component()
        if id(component) not in named and all(component.source is not w.source for w in over):
            raise ModelError(
                f"E({integrand}, ...): '{member.name}' is random, too, and E averages over all "
                "random numbers at once. Write E(expression) without naming them; a mean over some "
                "of them given the others is not supported."
            )


def require_number(integrand: Any) -> None:
    """Refuse what has no mean."""
    if hasattr(integrand, "is_numeric_type"):
        if integrand.is_numeric_type():
            return
        if hasattr(integrand, "is_relational") and integrand.is_relational():
            raise ModelError(
                f"E({integrand}): this is the probability of an event, not the mean of a number. "
                f"Write Probability({integrand})."
            )
    elif isinstance(integrand, (int, float)) or hasattr(integrand, "__float__"):
        return
    raise ModelError(f"E({integrand!r}): E takes a numeric Pyomo expression, or scenarios of them.")


class ExpectationData(RandomFormula):
    """One E(...) node: ``integrand`` (a template) or ``explicit`` (scenarios), never both."""

    __slots__ = ("_average", "explicit", "integrand")
    __autoslot_mappers__ = {"_average": AutoSlots.encode_as_none}  # noqa: RUF012

    def __init__(self, integrand: Any, explicit: Any):
        super().__init__()
        self.integrand = integrand
        self.explicit = explicit
        self._average: Any = None

    def integrands(self) -> list[Any]:
        if self.explicit is None:
            return [self.integrand]
        return list(self.explicit.resolve().expressions)

    @property
    def has_own_value(self) -> bool:
        """Random numbers or other expectations stand in it, which need not be written out."""
        from .scan import scan

        if self.explicit is not None:
            return bool(scan(self.explicit.first()).expectations)
        seen = scan(self.integrand)
        return bool(seen.random or seen.expectations) or decided_later(seen.variables.values())

    @property
    def _args_(self) -> tuple[Any, ...]:
        from .extensive_form.average import State, sample_average

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
        self._average = self.compiled = None

    def create_node_with_local_data(self, values: Any, classtype: Any = None) -> ExpectationData:
        """E of a transformed argument."""
        return ExpectationData(values[0], None)

    def is_fixed(self) -> bool:
        from .scan import scan

        return not any(
            seen.variables or any(not node.is_fixed() for node in seen.expectations.values())
            for seen in map(scan, self.integrands())
        )

    def to_string(
        self, verbose: Any = None, labeler: Any = None, smap: Any = None, **_: Any
    ) -> str:
        if self.explicit is not None:
            return f"E[{self.explicit}]"
        inside = expression_to_string(self.integrand, verbose=verbose, labeler=labeler, smap=smap)
        return f"E[{inside}]"
