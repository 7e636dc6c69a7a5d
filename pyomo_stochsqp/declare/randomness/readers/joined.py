"""Several tables, one after the other: files that were written by several processes, or per day."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....errors import DataError
from .stored import Stored


class JoinedRows:
    """The rows of all of them; columns by name, or by number where there are no names."""

    def __init__(self, tables: Sequence[Stored]):
        self._tables = list(tables)
        self._starts = np.concatenate(([0], np.cumsum([t.shape[0] for t in self._tables])))
        self.shape = (int(self._starts[-1]), self._tables[0].shape[1])
        self.columns = self._tables[0].labels
        self.scans = any(t.scans for t in self._tables)
        self.files = [stamp.path for t in self._tables for stamp in t.stamps()]

    def only(self, columns: Sequence[int]) -> JoinedRows:
        """Some columns of all."""
        return JoinedRows([t.only(columns) for t in self._tables])

    def read(self, start: int, stop: int) -> NDArray[Any]:
        """Consecutive rows."""
        parts = []
        for table, first in zip(self._tables, self._starts.tolist(), strict=False):
            a, b = max(start - first, 0), min(stop - first, table.shape[0])
            if a < b:
                parts.append(table.rows(slice(a, b)))
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def take(self, rows: NDArray[np.intp]) -> NDArray[Any]:
        """Rows with these numbers, which increase."""
        bounds = np.searchsorted(rows, self._starts)
        parts = [
            table.rows(rows[a:b] - first)
            for table, first, a, b in zip(
                self._tables, self._starts.tolist(), bounds[:-1], bounds[1:], strict=False
            )
            if a < b
        ]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)


def joined(name: str, tables: Sequence[Stored]) -> JoinedRows:
    """Tables with the same columns."""
    labels = tables[0].labels
    ordered = []
    for table in tables:
        if labels is not None and table.labels is not None and set(labels) <= set(table.labels):
            table = table.only([table.labels.index(label) for label in labels])
        if table.labels != labels or table.shape[1] != tables[0].shape[1]:
            raise DataError(
                f"{name}: '{table.name}' has other columns than '{tables[0].name}'. Files that are "
                "given together need the same columns."
            )
        ordered.append(table)
    return JoinedRows(ordered)
