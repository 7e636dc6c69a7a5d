r"""What is done in scenarios at a first stage that stays as it is: decisions, costs, duals.

Nothing is smoothed here. A scenario whose rows cannot be met costs infinity; it is tried once more
with a price of elastic rows that no multiplier exceeds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyomo.core.expr import value

from ..declare.over_scenarios import numbers_of
from ..errors import ModelError
from .cuts import troubled
from .interior_point import LAST, Reaction, Scales, SecondStages
from .program import SmoothTwoStage
from .scales import scales_of

Array = NDArray[np.float64]

#: the second price, times the first
DEARER = 1e4
#: scenarios that are solved at once
AT_ONCE = 1024


@dataclass(frozen=True, eq=False)
class Reacted:
    """One line per scenario, for the program that is minimised."""

    #: the whole objective; infinite without a feasible second stage
    values: Array
    decisions: Array
    #: of the second stage's rows
    multipliers: Array
    #: rows that cannot be met, numbers of the second stage's rows; -1 where it cannot be solved
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
        self._stages: dict[float, tuple[Scales, SecondStages]] = {}

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
        found, unit = [], np.ones(f.rows)
        for i in range(0, count, AT_ONCE):
            part = numbers.some(slice(i, i + AT_ONCE))
            unit, reaction = self._solved(part, 1.0)
            again = np.flatnonzero(troubled(reaction))
            if again.size:
                _, dearer = self._solved(part.some(again), DEARER)
                reaction.put(again, dearer)
            found.append(reaction)
        together = Reaction.joined(found)
        values = f.functions.values(self._x, together.at.y, numbers.w)
        cost = self._exact + values[:, 0]
        bad = troubled(together)
        gone = together.runaway & ~(together.violated > 0.0).any(axis=1)
        cost = np.where(bad, np.where(gone, np.nan, np.inf), cost)
        blamed = [int(v.argmax()) if v.any() else -1 for v in together.violated[bad & ~gone]]
        return Reacted(cost, together.at.y, together.at.multipliers * unit, blamed)

    def _solved(self, numbers: Any, penalty: float) -> tuple[Array, Reaction]:
        if penalty not in self._stages:
            scales = scales_of(self._p.stage, self._x, numbers, penalty)
            self._stages[penalty] = scales, SecondStages(self._p.stage, scales)
        scales, stages = self._stages[penalty]
        return scales.rows / scales.cost, stages.solve(self._x, self._prices, numbers, LAST)
