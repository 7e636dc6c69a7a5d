r"""Calls of users' samplers: functions that may be simulators and take milliseconds a row.

A call is known by the name of its random stream, so whoever makes it gets the same rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..declare.program import Draw
from .streams import generator

#: what a part's draw returns: one (size, width) array per field
Fields = tuple[NDArray[np.float64], ...]


class Call(NamedTuple):
    """``size`` rows from the random stream of these names."""

    stream: int
    source: int
    part: int
    block: int
    batch: int
    chunk: int
    size: int


class Caller(Protocol):
    """Makes calls; the answers are in the order of the calls."""

    def __call__(self, draw: Draw, seed: int, calls: Sequence[Call]) -> list[Fields]: ...


def one_by_one(draw: Draw, seed: int, calls: Sequence[Call]) -> list[Fields]:
    """The caller that makes all calls itself."""
    return [draw(generator(seed, *call[:-1]), call.size) for call in calls]
