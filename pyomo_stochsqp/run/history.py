r"""The history of a run: one row of numbers per iteration, in arrays that double when full."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import MissingLibraryError


class History:
    """Columns by name: ``history["violation"]`` is an array over iterations.

    >>> h = History(["iteration", "violation"])
    >>> h.append((1, 0.5))
    >>> h["violation"]
    array([0.5])
    >>> h
    History(1 row of iteration, violation)
    """

    def __init__(self, columns: Sequence[str], table: NDArray[np.float64] | None = None):
        self.columns = tuple(columns)
        self._table = np.empty((256, len(self.columns))) if table is None else table
        self._length = 0 if table is None else len(table)

    def __reduce__(self) -> Any:
        return History, (self.columns, self.table.copy())  # without the room for more

    def __len__(self) -> int:
        return self._length

    def __repr__(self) -> str:
        rows = "1 row" if self._length == 1 else f"{self._length} rows"
        return f"History({rows} of {', '.join(self.columns)})"

    def append(self, row: tuple[float, ...]) -> None:
        """Keep one iteration's numbers."""
        if self._length == len(self._table):
            more = np.empty((max(256, self._length), len(self.columns)))
            self._table = np.concatenate([self._table, more])
        self._table[self._length] = row
        self._length += 1

    def __getitem__(self, column: str) -> NDArray[np.float64]:
        if column not in self.columns:
            raise KeyError(f"no column '{column}'; there are {', '.join(self.columns)}")
        return self._table[: self._length, self.columns.index(column)]

    @property
    def table(self) -> NDArray[np.float64]:
        """All rows, one column per name."""
        return self._table[: self._length]

    def copy(self) -> History:
        """An independent copy."""
        return History(self.columns, self.table.copy())

    def as_dict(self) -> dict[str, NDArray[np.float64]]:
        """All columns as arrays."""
        return {c: self[c].copy() for c in self.columns}

    def to_pandas(self) -> Any:
        """A pandas.DataFrame indexed by the first column."""
        try:
            import pandas
        except ImportError:
            raise MissingLibraryError(
                "history.to_pandas() needs pandas (pip install pandas); history.as_dict() and "
                "history['violation'] give arrays without it."
            ) from None
        return pandas.DataFrame(self.as_dict()).set_index(self.columns[0])
