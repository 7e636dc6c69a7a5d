r"""Random numbers that are known for a while.

    otherwise     w = number
    with kinks    w = number +- e d, two scenarios of equal probability

max(a, b) under E is rounded off by the spread of a - b, and a number that is known has none. So it
keeps a little of it: e is 1e-5, d the standard deviation, slightly different for every number, for
a - b is to keep it, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..declare.randomness.source import RandomSource
from ..declare.randomness.tables import Table

#: the spread that is left, relative to the standard deviation
LITTLE = 1e-5

#: members of a RandomParam by index, and their numbers
Members = Mapping[Any, float]


class OneScenario:
    """Puts RandomParams to numbers; ``spreads`` are the standard deviations of their members if the
    model has kinks."""

    def __init__(self, spreads: Mapping[Any, Members] | None = None):
        self._spreads = spreads

    @contextmanager
    def __call__(self, numbers: Mapping[Any, Members]) -> Iterator[None]:
        fixed = _nearly(numbers, self._spreads) if self._spreads else _fixed(numbers)
        with fixed:
            yield


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
def _nearly(numbers: Mapping[Any, Members], spreads: Mapping[Any, Members]) -> Iterator[None]:
    members = [(c, i) for c in numbers for i in numbers[c]]
    middle = np.array([numbers[c][i] for c, i in members])
    golden = np.mod(0.618 * np.arange(len(members)), 1.0)
    reach = LITTLE * np.array([spreads[c][i] for c, i in members]) * (1.0 + 0.5 * golden)
    joint = RandomSource()
    joint.origin = table = Table(np.stack((middle - reach, middle + reach)))
    before = [(c, c.source, c.origin, {i: c.column(i) for i in c}) for c in numbers]
    try:
        for component in numbers:
            columns = {i: k for k, (c, i) in enumerate(members) if c is component}
            component.replace(joint, table, columns)
        yield
    finally:
        for component, source, origin, columns in before:
            component.replace(source, origin, columns)
