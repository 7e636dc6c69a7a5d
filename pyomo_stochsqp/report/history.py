r"""The history of a run: one row of numbers per iteration, in arrays that double when full."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


class History:
    """Columns by name: ``history["violation"]`` is an array over iterations.

    >>> h = History(["iteration", "violation"])
    >>> h.append((1, 0.5))
    >>> h["violation"]
    array([0.5])
    """

    def __init__(self, columns: Sequence[str]):
        self.columns = tuple(columns)
        self._table = np.empty((256, len(self.columns)))
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def append(self, row: tuple[float, ...]) -> None:
        """Keep one iteration's numbers."""
        if self._length == len(self._table):
            self._table = np.concatenate([self._table, np.empty_like(self._table)])
        self._table[self._length] = row
        self._length += 1

    def __getitem__(self, column: str) -> NDArray[np.float64]:
        if column not in self.columns:
            raise KeyError(f"no column '{column}'; there are {', '.join(self.columns)}")
        return self._table[: self._length, self.columns.index(column)]

    def as_dict(self) -> dict[str, NDArray[np.float64]]:
        """All columns (pandas.DataFrame(history.as_dict()) makes a table)."""
        return {c: self[c].copy() for c in self.columns}
