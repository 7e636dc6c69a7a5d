r"""What a run belongs to: texts and digests that are equal where it may be continued."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Digests(NamedTuple):
    """One number for each of several things of a kind, with their names."""

    names: Sequence[str]
    numbers: NDArray[np.uint64]


@dataclass(frozen=True)
class Identity:
    """A problem as somebody sees it who must decide whether it is the same one."""

    #: what -> text, for messages; names are among them, so that those of digests need not be kept
    labels: Mapping[str, str] = field(default_factory=dict)
    #: what, with {} for the name -> digests
    digests: Mapping[str, Digests] = field(default_factory=dict)

    def difference(
        self, labels: Mapping[str, str], digests: Mapping[str, NDArray[np.uint64]]
    ) -> str | None:
        """What is not as it was when these labels and digests were made."""
        for what, here in self.labels.items():
            there = labels.get(what, "unknown")
            if there != here:
                return f"{what} was {there!r} then and is {here!r} now"
        for what, (names, here_numbers) in self.digests.items():
            there_numbers = digests.get(what)
            if there_numbers is None or there_numbers.shape != here_numbers.shape:
                return f"{what.format('the model')} cannot be compared with what it was then"
            changed = np.flatnonzero(there_numbers != here_numbers)
            if changed.size:
                more = f" (and {changed.size - 1} more)" if changed.size > 1 else ""
                named = what.format(f"'{names[int(changed[0])]}'")
                return f"{named}{more} changed since then"
        return None


def digest_of(*columns: NDArray[np.float64]) -> NDArray[np.uint64]:
    """One number for every row of some columns of floats.

    >>> a, b = np.array([0.0, 1.0, 1.0]), np.array([0.0, 2.0, 2.0])
    >>> first, second, third = digest_of(a, b)
    >>> bool(first != second), bool(second == third)
    (True, True)
    """
    total = np.zeros(columns[0].shape, dtype=np.uint64)
    for column in columns:
        # -0.0 is 0.0
        bits = np.ascontiguousarray(column + 0.0, dtype=np.float64).view(np.uint64)
        total = (total ^ bits) * np.uint64(0x9E3779B97F4A7C15)
        total ^= total >> np.uint64(29)
    return total
