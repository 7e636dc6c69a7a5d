r"""The second stage as functions of arrays, ready for the interior point.

    min_y  q(x, y, w) + price' r(x, y, w)
    s.t.   lower(w) <= c(x, y, w) <= upper(w),    y_lower(w) <= y <= y_upper(w)

r are what stands under E in rows of the first stage; their prices are explained in program.py.
Functions come in this order: q, r_1, ..., c_1, ....
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..compile.each_scenario import EachScenario
from ..declare.over_scenarios import as_column, numbers_of
from ..declare.recourse import RandomNumbers

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Numbers:
    """What scenarios are, for the second stage; one line each."""

    #: columns of random numbers
    w: Sequence[Array]
    lower: Array
    upper: Array
    y_lower: Array
    y_upper: Array

    @property
    def count(self) -> int:
        return len(self.lower)

    def some(self, which: Any) -> Numbers:
        """A part of the scenarios."""
        return Numbers(
            [column[which] for column in self.w],
            *(taken(a, which) for a in (self.lower, self.upper, self.y_lower, self.y_upper)),
        )


def taken(a: Array, which: Any) -> Array:
    """Lines of an array, laid out column by column."""
    return np.asarray(a.T[..., which].T)


@dataclass(frozen=True, eq=False)
class StageFunctions:
    """The functions, and where the numbers of scenarios come from."""

    functions: EachScenario
    #: sizes: variables x that occur, second-stage variables, rows under E, rows of the second stage
    nx: int
    ny: int
    priced: int
    rows: int
    #: RandomParam members, in the order of the columns
    random: Sequence[Any]
    lower: RandomNumbers
    upper: RandomNumbers
    y_lower: RandomNumbers
    y_upper: RandomNumbers
    #: where an interior point begins
    y_start: Array
    names: Sequence[str]
    row_names: Sequence[str]

    def numbers(self, lookup: Callable[[Any], Any], count: int) -> Numbers:
        """Those of scenarios whose random numbers are looked up."""
        return Numbers(
            [np.array(as_column(numbers_of(member, lookup), count)) for member in self.random],
            *(np.asfortranarray(bound.complete(lookup, count))
              for bound in (self.lower, self.upper, self.y_lower, self.y_upper)),
        )  # fmt: skip
