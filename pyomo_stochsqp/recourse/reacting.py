r"""Second stages at a first stage that stays as it is, whatever the functions are.

Linear programs go through the LP solver, all others through interior points.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..declare.recourse import AffineTwoStage, NotAffineError, TwoStage, affine
from ..value_function import Reacted, Reactions, smooth
from .scenarios import looked_up
from .second_stage import SecondStage

Array = NDArray[np.float64]
Lookup = Callable[[Any], Any]


class Reacting(Protocol):
    """Second stages at one first stage."""

    def react(self, lookup: Lookup, count: int, details: bool, blamed: int) -> Reacted:
        """In scenarios whose random numbers are looked up; ``details``: decisions and duals, too;
        so many infeasible scenarios are looked into."""


def reacting(program: TwoStage, x: Array, prices: Mapping[str, float]) -> Reacting:
    """``prices`` are those of rows under E, by name."""
    try:
        linear = affine(program)
    except NotAffineError:
        return _Smooth(program, x, prices)
    return _Linear(linear, x)


class _Linear:
    def __init__(self, program: AffineTwoStage, x: Array):
        self._p, self._x, self._second = program, x, SecondStage(program)

    def react(self, lookup: Lookup, count: int, details: bool, blamed: int) -> Reacted:
        sample = looked_up(self._p, lookup, np.full(count, 1.0 / count))
        found = self._second.react(self._x, sample, duals=details, decisions=details, cuts=blamed)
        cost = self._p.c.complete(lookup, count) @ self._x + sample.constant + found.values
        rows = [cut.row for cut in found.cuts]
        return Reacted(cost, found.decisions, found.duals, rows)


class _Smooth:
    def __init__(self, program: TwoStage, x: Array, prices: Mapping[str, float]):
        self._reactions = Reactions(smooth(program), x, prices)

    def react(self, lookup: Lookup, count: int, details: bool, blamed: int) -> Reacted:
        return self._reactions.react(lookup, count)
