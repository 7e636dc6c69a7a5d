r"""The record of a two-stage program, and numbers that depend on the scenario.

min  sign * ( exact(x) + sum_i multiplier_i E[integrand_i(x, y, w)] )
s.t. first rows in x,   second rows in x, y and w, in every scenario,
     mean rows: bounds on sums like that of the objective
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..over_scenarios import numbers_of
from ..program import Leaf, Source

Array = NDArray[np.float64]
#: the numbers of a leaf of an expression, one per scenario or one for all
Lookup = Callable[[Any], Any]


@dataclass(frozen=True, eq=False)
class TwoStageRow:
    """lower <= body <= upper, with the user's expressions; None: no bound."""

    component: Any
    lower: Any
    body: Any
    upper: Any


@dataclass(frozen=True, eq=False)
class MeanRow:
    """lower <= exact + sum_i multiplier_i E[integrand_i] <= upper."""

    component: Any
    lower: float
    exact: Any
    expected: Sequence[tuple[Any, Any]]
    upper: float


@dataclass(frozen=True, eq=False)
class TwoStage:
    """A validated model with Recourse."""

    model: Any
    blocks: Sequence[Any]
    objective_component: Any
    #: +1 to minimise, -1 to maximise
    sign: int
    #: free variables, of the first stage and of the second
    first: Sequence[Any]
    second: Sequence[Any]
    #: what stands outside of expectations in the objective; (multiplier, what stands under one)
    exact: Any
    expected: Sequence[tuple[Any, Any]]
    first_rows: Sequence[TwoStageRow]
    second_rows: Sequence[TwoStageRow]
    mean_rows: Sequence[MeanRow]
    #: everything random, drawn together; where each RandomParam member finds its number
    source: Source
    leaves: dict[int, Leaf]


@dataclass(eq=False)
class RandomNumbers:
    """Numbers, some of which depend on the scenario."""

    #: the numbers, 0 where they are random
    base: Array
    #: position -> expression in random numbers
    random: dict[int, Any] = field(default_factory=dict)

    @cached_property
    def positions(self) -> NDArray[np.intp]:
        """Where the random ones are."""
        return np.fromiter(self.random, dtype=np.intp, count=len(self.random))

    def drawn(self, lookup: Lookup, count: int) -> Array:
        """The random ones, one row per scenario."""
        values = np.empty((count, len(self.random)))
        for k, expr in enumerate(self.random.values()):
            values[:, k] = numbers_of(expr, lookup)
        return values

    def complete(self, lookup: Lookup, count: int) -> Array:
        """All of them, one row per scenario; equal rows share their memory."""
        if not self.random:
            one = self.base[None, :]
            return one if count == 1 else np.broadcast_to(one, (count, self.base.size))
        whole = np.tile(self.base, (count, 1))
        whole[:, self.positions] = self.drawn(lookup, count)
        return whole


@dataclass(eq=False)
class RandomMatrix:
    """A sparse matrix, some entries of which depend on the scenario."""

    shape: tuple[int, int]
    rows: NDArray[np.intp]
    columns: NDArray[np.intp]
    entries: RandomNumbers

    @cached_property
    def fixed(self) -> Any:
        """The matrix with its random entries 0, as scipy has it."""
        return sparse.csr_matrix((self.entries.base, (self.rows, self.columns)), self.shape)

    @cached_property
    def random_to_rows(self) -> Any:
        """Adds up the random entries of each row."""
        at = self.entries.positions
        places = (np.arange(at.size), self.rows[at])
        return sparse.csr_matrix((np.ones(at.size), places), (at.size, self.shape[0]))
