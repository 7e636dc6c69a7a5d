r"""What is done in a scenario: the second stage, solved again for given random numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyomo.common.collections import ComponentMap
from pyomo.core.expr import value

from ..declare.randomness.random_param import RandomParam
from ..declare.recourse import AffineTwoStage, affine, read_two_stage
from ..errors import DataError, ModelError
from ..given import real
from .scenarios import looked_up
from .second_stage import SecondStage

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Decision:
    """The second stage in one scenario: ``decision[m.second.buy]``, ``decision.cost``.

    ``duals`` are the changes of the objective per unit of each row's bound in this scenario.
    """

    #: the objective in this scenario; infinite if no second stage is feasible
    cost: float
    feasible: bool
    values: ComponentMap = field(repr=False)
    duals: ComponentMap = field(repr=False)
    #: the row that is to blame if it is infeasible
    row: str = ""

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
        self._program = affine(read_two_stage(model))
        self._x = decision_of(self._program, decision)
        self._second = SecondStage(self._program)

    def __call__(self, numbers: Mapping[Any, Any]) -> Decision:
        """Solve the second stage for ``{m.demand: 9, m.price: {"a": 1.0, "b": 2.0}}``."""
        program = self._program
        known = dict(_numbers(program, numbers))

        def lookup(leaf: Any) -> Any:
            return known[id(leaf)] if id(leaf) in known else value(leaf)

        one = looked_up(program, lookup, np.ones(1))
        reaction = self._second.react(self._x, one, duals=True, decisions=True, cuts=1)
        c, constant = one.first_cost()
        sign, p = program.origin.sign, program.origin
        cost = sign * (float(c @ self._x) + constant + float(reaction.values[0]))
        feasible = bool(np.isfinite(reaction.values[0]))
        if not feasible:
            rows = [p.second_rows[cut.row].component.name for cut in reaction.cuts]
            return Decision(cost, False, ComponentMap(), ComponentMap(), rows[0] if rows else "")
        assert reaction.decisions is not None and reaction.duals is not None
        values = ComponentMap(zip(p.second, reaction.decisions[0].tolist(), strict=True))
        rows = [row.component for row in p.second_rows]
        duals = ComponentMap(zip(rows, (sign * reaction.duals[0]).tolist(), strict=True))
        return Decision(cost, True, values, duals)


def decision_of(program: AffineTwoStage, given: Mapping[str, float] | None = None) -> Array:
    """The first stage: given by name, or the values of the model's variables."""
    found = []
    for v in program.origin.first:
        number = v.value if given is None else given.get(v.name)
        if number is None:
            raise ModelError(
                f"Variable '{v.name}' has no value, so the first stage is not decided. Solve the "
                "model first, or set its variables."
            )
        found.append(real(("the value of", v), number))
    return np.array(found)


def _numbers(program: AffineTwoStage, given: Mapping[Any, Any]) -> Iterator[tuple[int, float]]:
    """(id of a RandomParam member, its number) for all that occur."""
    known: dict[int, Any] = {}
    for component, numbers in given.items():
        if isinstance(component, RandomParam) and component.is_indexed():
            members = list(component.items())
            each = (
                numbers
                if isinstance(numbers, Mapping)
                else dict(zip((key for key, _ in members), numbers, strict=False))
            )
            known.update((id(m), each[key]) for key, m in members if key in each)
        else:
            known[id(component)] = numbers
    for component in program.origin.model.component_objects(RandomParam, descend_into=True):
        for member in component.values():
            if id(member) not in program.origin.leaves:
                continue
            if id(member) not in known:
                raise DataError(
                    f"RandomParam '{member.name}' has no number in this scenario; give one for "
                    "everything random."
                )
            yield id(member), real(("the number of", member), known[id(member)])
