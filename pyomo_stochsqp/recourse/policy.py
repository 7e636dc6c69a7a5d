r"""What is done in a scenario: the second stage, solved again for given random numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyomo.common.collections import ComponentMap

from ..declare.randomness.random_param import RandomParam
from ..declare.recourse import TwoStage, read_two_stage
from ..errors import DataError, ModelError
from ..given import real
from .reacting import reacting

Array = NDArray[np.float64]
#: components and their numbers
Numbered = Sequence[tuple[Any, float]]


@dataclass(frozen=True, eq=False)
class Decision:
    """The second stage in one scenario: ``decision[m.second.buy]``, ``decision.cost``.

    ``duals`` are the changes of the objective per unit of each row's bound in this scenario.
    """

    #: the objective in this scenario; infinite if no second stage is feasible
    cost: float
    feasible: bool
    #: the row that is to blame if it is infeasible
    row: str = ""
    _variables: Numbered = field(repr=False, default=())
    _rows: Numbered = field(repr=False, default=())

    @cached_property
    def values(self) -> ComponentMap:
        """The numbers of all second-stage variables."""
        return ComponentMap(self._variables)

    @cached_property
    def duals(self) -> ComponentMap:
        """The multipliers of all second-stage rows."""
        return ComponentMap(self._rows)

    def __getitem__(self, component: Any) -> Any:
        """The value of a variable; a dictionary of values if it is indexed."""
        if getattr(component, "is_indexed", bool)():
            return {key: self[member] for key, member in component.items()}
        return self.values[component]

    def load(self) -> None:
        """Put the values into the model's variables."""
        for variable, number in self.values.items():
            variable.set_value(number, skip_validation=True)


class Policy:
    """The reaction of a model to what happens, for a first stage that stays as it is.

    The first stage is the model's present one, or ``decision``, a mapping of names.
    """

    def __init__(self, model: Any, decision: Mapping[str, float] | None = None):
        self._program = read_two_stage(model)
        x = decision_of(self._program, decision)
        prices = prices_of(self._program) if decision is None else decision
        self._second = reacting(self._program, x, prices)
        random = self._program.leaves
        self._random = {
            id(member): member
            for component in model.component_objects(RandomParam, descend_into=True)
            for member in component.values()
            if id(member) in random
        }
        self._rows = [row.component for row in self._program.second_rows]

    def __call__(self, numbers: Mapping[Any, Any]) -> Decision:
        """Solve the second stage for ``{m.demand: 9, m.price: {"a": 1.0, "b": 2.0}}``."""
        p, known = self._program, self._numbers(numbers)

        def lookup(leaf: Any) -> Any:
            number = known.get(id(leaf))
            return real(leaf, leaf) if number is None else number

        found = self._second.react(lookup, 1, True, 1)
        cost = p.sign * float(found.values[0])
        if not np.isfinite(cost):
            blamed = [self._rows[i].name for i in found.blamed if i >= 0]
            return Decision(cost, False, blamed[0] if blamed else "")
        assert found.decisions is not None and found.duals is not None
        values, duals = found.decisions[0].tolist(), (p.sign * found.duals[0]).tolist()
        return Decision(
            cost, True, "",
            list(zip(p.second, values, strict=True)), list(zip(self._rows, duals, strict=True)),
        )  # fmt: skip

    def _numbers(self, given: Mapping[Any, Any]) -> dict[int, float]:
        """id of a RandomParam member -> its number, for all that occur."""
        known: dict[int, Any] = {}
        for component, numbers in given.items():
            if isinstance(component, RandomParam) and component.is_indexed():
                given_by_key = isinstance(numbers, Mapping)
                each = numbers if given_by_key else dict(zip(component, numbers, strict=False))
                known.update((id(component[k]), each[k]) for k in component if k in each)
            else:
                known[id(component)] = numbers
        found = {}
        for key, member in self._random.items():
            if key not in known:
                raise DataError(
                    f"RandomParam '{member.name}' has no number in this scenario; give one for "
                    "everything random."
                )
            found[key] = real(("the number of", member), known[key])
        return found


def prices_of(program: TwoStage) -> dict[str, float]:
    """Those of rows under E that the last solution has left with the model."""
    return {name: price for b in program.blocks for name, price in b.prices.items()}


def decision_of(program: TwoStage, given: Mapping[str, float] | None = None) -> Array:
    """The first stage: given by name, or the values of the model's variables."""
    found = []
    for v in program.first:
        number = v.value if given is None else given.get(v.name)
        if number is None:
            raise ModelError(
                f"Variable '{v.name}' has no value, so the first stage is not decided. Solve the "
                "model first, or set its variables."
            )
        found.append(real(("the value of", v), number))
    return np.array(found)
