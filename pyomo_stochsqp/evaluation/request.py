r"""What is to be evaluated: the model's objective and expectations, and whatever else is asked for.

Var, Expression, Param     its number, or its members' numbers
expression                 under E, if random numbers stand in it
m.scenario[:].profit       an expectation over the scenarios, with the probabilities that the
                           model gives them
E(...), CVaR(...), ...     themselves
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pyomo.core.base import Constraint, Expression, Objective
from pyomo.core.base.indexed_component_slice import IndexedComponent_slice
from pyomo.core.expr.numvalue import native_numeric_types

from ..declare import E, StochasticProgram, read_model
from ..declare.expectation import ExpectationData
from ..declare.randomness.scenario_set import ScenarioSet
from ..declare.reading import Asked
from ..declare.scan import expectations_inside, scan
from ..errors import ModelError


def requested(model: Any, expressions: Sequence[Any]) -> StochasticProgram:
    """The model with the expressions as rows without bounds, after its own."""
    asked = [one for e in expressions for one in _asked(model, e)]
    program = read_model(model, as_written=True, asked=asked)
    unset = [v.name for v in program.variables if v.value is None]
    if unset:
        raise ModelError(
            f"Variable '{unset[0]}' has no value, so there is no point to evaluate. Solve the "
            "model first, or set its variables."
        )
    return program


def _asked(model: Any, e: Any) -> Iterator[Asked]:
    if isinstance(e, IndexedComponent_slice):
        yield Asked(str(e), _weighted_like_the_model(model, e))
    elif getattr(e, "is_indexed", bool)():
        for member in e.values():
            yield from _asked(model, member)
    elif e.__class__ in native_numeric_types or not hasattr(e, "is_expression_type"):
        raise ModelError(
            f"evaluate: {e!r} is no Pyomo expression. Give expressions, Vars, or slices such as "
            "m.scenario[:].profit; the number of scenarios is samples=."
        )
    else:
        name = e.name if hasattr(e, "parent_component") else str(e)
        yield Asked(name, E(e) if scan(e).random else e)


def _weighted_like_the_model(model: Any, items: IndexedComponent_slice) -> ExpectationData:
    """E over the scenarios of a slice, with the weights of the model's own E over them."""
    mine = ScenarioSet(items, None, False, None)
    for component in model.component_data_objects((Objective, Constraint, Expression)):
        if component.expr is None:
            continue
        for node in expectations_inside(component.expr):
            explicit = getattr(node, "explicit", None)
            if isinstance(explicit, ScenarioSet) and explicit.base is mine.base is not None:
                return E(items, explicit.weights, renormalise=explicit.renormalise,
                         source=explicit.source)  # fmt: skip
    return E(items)
