r"""Random numbers that are known for a while.

    otherwise        w = number
    with Recourse    a single scenario
    with kinks       w = number +- e d, two scenarios of equal probability

max(a, b) under E is rounded off by the spread of a - b, and a number that is known has none. So it
keeps a little of it: e is 1e-4, d the standard deviation, slightly different for every number, for
a - b is to keep it, too. A kink as sharp as that can stop a solver; then e is larger.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np

from ..declare.randomness.source import RandomSource
from ..declare.randomness.tables import Table
from ..declare.recourse_block import with_recourse
from .solving import Unsolved, solve

#: spreads that are left, relative to the standard deviation, one after the other
LITTLE = (1e-4, 1e-3)

#: members of a RandomParam by index, and their numbers
Members = Mapping[Any, float]


class OneScenario:
    """Solves a model with its RandomParams put to numbers; ``spreads`` are the standard deviations
    of their members if the model has kinks."""

    def __init__(
        self,
        model: Any,
        solver: Any,
        options: Mapping[str, Any],
        spreads: Mapping[Any, Members] | None = None,
    ):
        self._model = model
        self._solver = solver
        self._options = options
        self._spreads = spreads
        self._recourse = with_recourse(model)

    def solve(self, numbers: Mapping[Any, Members]) -> float:
        """The objective at the solution, which is loaded; raises :class:`Unsolved`."""
        for little in LITTLE:
            try:
                with self._put(numbers, little):
                    return solve(self._model, self._solver, self._options)
            except Unsolved:
                if self._spreads is None or little == LITTLE[-1]:
                    raise
        raise AssertionError

    def _put(self, numbers: Mapping[Any, Members], little: float) -> AbstractContextManager[None]:
        members = [(c, i) for c in numbers for i in numbers[c]]
        row = np.array([numbers[c][i] for c, i in members])
        if self._recourse:
            return _over(numbers, members, row[None, :])
        if self._spreads is None:
            return _fixed(numbers)
        golden = np.mod(0.618 * np.arange(len(members)), 1.0)
        reach = little * np.array([self._spreads[c][i] for c, i in members]) * (1.0 + 0.5 * golden)
        return _over(numbers, members, np.stack((row - reach, row + reach)))


@contextmanager
def _fixed(numbers: Mapping[Any, Members]) -> Iterator[None]:
    try:
        for component, values in numbers.items():
            component.fix_to(values if component.is_indexed() else values[None])
        yield
    finally:
        for component in numbers:
            component.unfix()


@contextmanager
def _over(
    numbers: Mapping[Any, Members], members: Sequence[tuple[Any, Any]], rows: np.ndarray
) -> Iterator[None]:
    """The members are the columns of a table."""
    joint = RandomSource()
    joint.origin = table = Table(rows)
    before = [(c, c.source, c.origin, {i: c.column(i) for i in c}) for c in numbers]
    try:
        for component in numbers:
            columns = {i: k for k, (c, i) in enumerate(members) if c is component}
            component.replace(joint, table, columns)
        yield
    finally:
        for component, source, origin, columns in before:
            component.replace(source, origin, columns)
