r"""Scenarios of all sources side by side: row i is one joint outcome of everything random.

finite data, one source   all its rows, with their probabilities, if the expectations are exact
otherwise                 the scenarios that the expectations were estimated on; a source that
                          gave all of its rows to those gives as many random ones here
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyomo.core.expr import value

from ..declare import StochasticProgram
from ..declare.over_scenarios import Numbers, as_column, column_of, numbers_of
from ..declare.program import Batch, Function
from ..declare.width_factor import narrowed
from ..oracle import EVALUATION_STREAM, Vector
from ..sample.row_numbers import rows_at
from ..sample.streams import generator

Column = NDArray[np.float64]

#: level of rounding at which kinks are as good as sharp: derivatives are not wanted here
UNROUNDED = 20


class Rows:
    """Joint scenarios of a program at the point x."""

    def __init__(
        self,
        program: StochasticProgram,
        x: Vector,
        symbols: Vector | None,
        batches: Sequence[Batch],
        seed: int,
    ):
        """``symbols`` are the numbers of the program's definitions at x, ``batches`` the scenarios
        of each source by itself."""
        self._program = program
        self.count = max((batch.size for batch in batches), default=1)
        #: probabilities of the rows; None: all are equal
        self.weights: Column | None = batches[0].weights if len(batches) == 1 else None
        self._parts = [
            batch.parts
            if len(batches) == 1 or (batch.size == self.count and batch.weights is None)
            else self._drawn(s, seed)
            for s, batch in enumerate(batches)
        ]
        self._known: dict[int, Numbers] = dict(zip(map(id, program.variables), x, strict=True))
        if symbols is not None:
            definitions = (d.symbol for d in program.definitions)
            self._known.update(zip(map(id, definitions), symbols, strict=True))

    def of(self, function: Function) -> Column:
        """The function in every scenario: what stands under its expectations, and the rest."""
        with narrowed(UNROUNDED):
            return self._values(function)

    def _values(self, function: Function) -> Column:
        total = as_column(numbers_of(function.exact, self._leaf), self.count)
        for term in function.terms:
            multiplier = numbers_of(term.multiplier, self._leaf)
            if term.scenarios is None:
                inside = numbers_of(term.integrand, self._leaf)
            else:
                each = np.array([numbers_of(e, self._leaf) for e in term.scenarios], dtype=float)
                inside = each[self._parts[term.source][0]]
            total = total + multiplier * inside
        return total

    def _leaf(self, e: Any) -> Numbers:
        known = self._known.get(id(e))
        if known is None:
            known = self._column(e) if id(e) in self._program.leaves else value(e)
            self._known[id(e)] = known
        return known

    def _column(self, member: Any) -> Column:
        leaf = self._program.leaves[id(member)]
        part = self._program.sources[leaf.source].parts[leaf.part]
        return column_of(part, leaf, self._parts[leaf.source][leaf.part])

    def _drawn(self, source: int, seed: int) -> tuple[Any, ...]:
        """Rows of a finite source in random order, each about as often as it is probable."""
        rng = generator(seed, EVALUATION_STREAM, source, 0, 1, 0)
        drawn = []
        for part in self._program.sources[source].parts:
            assert part.size is not None
            cumulative = None if part.weights is None else np.cumsum(part.weights)
            u = (rng.permutation(self.count) + 0.5) / self.count
            drawn.append(rows_at(u, cumulative, part.size))
        return tuple(drawn)
