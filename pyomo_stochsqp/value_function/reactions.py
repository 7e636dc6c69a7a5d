r"""What is done in scenarios at a first stage that stays as it is: decisions, costs, duals.

Nothing is smoothed here. A scenario whose rows cannot be met costs infinity; it is tried once more
with a price of elastic rows that no multiplier exceeds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyomo.core.expr import value

from ..declare.over_scenarios import numbers_of
from ..errors import ModelError
from .cuts import troubled
from .interior_point import LAST, Reaction, SecondStages
from .program import SmoothTwoStage
from .scales import scales_of
from .stage_functions import Numbers

Array = NDArray[np.float64]

#: the second price, times the first
DEARER = 1e4
#: scenarios that are solved at once
AT_ONCE = 1024


@dataclass(frozen=True, eq=False)
class Reacted:
    """What is done in scenarios, one line each; for the program that is minimised."""

    #: the whole objective; infinite without a feasible second stage
    values: Array
    decisions: Array | None
    #: changes of the objective per unit of the bounds of the second stage's rows
    duals: Array | None
    #: numbers of rows that are to blame for infeasible scenarios, one for each; -1: unknown
    blamed: list[int]


class Reactions:
    """Second stages at a first stage ``x``; ``prices`` are those of rows under E, by name."""

    def __init__(self, program: SmoothTwoStage, x: Array, prices: Mapping[str, float]):
        self._p = program
        known = np.concatenate((x, [self._price(v, prices) for v in program.prices]))
        linked = known[list(program.linking)]
        self._x = linked[: program.stage.nx]
        self._prices = np.zeros(program.stage.priced)
        self._prices[np.flatnonzero(program.priced)] = linked[program.stage.nx :]
        first = dict(zip(map(id, program.origin.first), x.tolist(), strict=True))
        exact = numbers_of(
            program.origin.exact, lambda e: first[id(e)] if id(e) in first else value(e)
        )
        #: what the first stage costs
        self._exact = program.origin.sign * float(exact)
        #: what turns scaled multipliers into the user's; set with the first scenarios
        self._unit = np.ones(0)
        self._usual: SecondStages | None = None
        self._dearer: SecondStages | None = None

    @staticmethod
    def _price(v: Any, prices: Mapping[str, float]) -> float:
        if v.name not in prices:
            row = v.name.removeprefix("price of ")
            raise ModelError(
                f"Constraint '{row}' bounds an expectation of second-stage variables, and what "
                "they are depends on its price, which a solution has. Solve the model first."
            )
        return prices[v.name]

    def react(self, lookup: Callable[[Any], Any], count: int) -> Reacted:
        """In scenarios whose random numbers are looked up."""
        f = self._p.stage
        numbers = f.numbers(lookup, count)
        usual, dearer = self._stages(numbers)
        found = []
        for i in range(0, count, AT_ONCE):
            part = numbers.some(slice(i, i + AT_ONCE))
            reaction = usual.solve(self._x, self._prices, part, LAST)
            again = np.flatnonzero(troubled(reaction))
            if again.size:
                reaction.put(again, dearer.solve(self._x, self._prices, part.some(again), LAST))
            found.append(reaction)
        together = Reaction.joined(found)
        values = f.functions.values(self._x, together.at.y, numbers.w)
        cost = self._exact + values[:, 0]
        bad = troubled(together)
        gone = together.runaway & ~(together.violated > 0.0).any(axis=1)
        cost = np.where(bad, np.where(gone, np.nan, np.inf), cost)
        blamed = [int(v.argmax()) if v.any() else -1 for v in together.violated[bad & ~gone]]
        return Reacted(cost, together.at.y, -together.at.multipliers * self._unit, blamed)

    def _stages(self, numbers: Numbers) -> tuple[SecondStages, SecondStages]:
        """At the usual price of elastic rows, and at the higher one; in the same units."""
        if self._usual is None or self._dearer is None:
            stage = self._p.stage
            scales = scales_of(stage, self._x, numbers)
            self._unit = scales.rows / scales.cost
            self._usual = SecondStages(stage, scales)
            self._dearer = SecondStages(stage, replace(scales, penalty=DEARER * scales.penalty))
        return self._usual, self._dearer
