r"""Explicit scenarios collapsed to templates and data.

    E over s of expr_s(x)   ->   mean of template(x, w_s),   w_s = the numbers of scenario s.

Scenarios of one structure (see reader.py) become one template. Whatever differs between them
becomes a column of data; whatever is the same in all of them stays a number. The affine part of a
sub-expression has one column for each variable that many scenarios share, and index and coefficient
arrays (``ell``) for variables of their own, as in two-stage models:

    sum_j w_sj x_j  +  sum_k coef[s, k] x[index[s, k]] .

Structures that differ split the scenarios into classes, one stream each.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ...declare.program import Source
from ..algebra.form import Form
from ..algebra.normal_form import Algebra
from .data_columns import MutablePlaces, Table, Template
from .reader import Named, ScenarioReader
from .row_classes import FieldInfo, Streams


class Collapse:
    """Collapses the scenario terms of a program, and reads their mutable numbers again."""

    def __init__(
        self,
        algebra: Algebra,
        streams: Streams,
        sources: Sequence[Source],
        variables: dict[int, int],
    ):
        self._algebra = algebra
        self._streams = streams
        self._sources = sources
        self._reader = ScenarioReader(variables)
        self._tables: dict[int, Table] = {}
        self._partitions: dict[Any, list[int]] = {}
        self._again: list[tuple[Sequence[Any], Named, MutablePlaces]] = []
        self.classes = 0

    def __call__(self, source: int, scenarios: Sequence[Any], where: str) -> list[tuple[int, Form]]:
        """(stream, template) for each structure among the scenarios."""
        part = self._sources[source].parts[0]

        def named(s: int) -> str:
            assert part.scenario_keys is not None
            return f"'{where}': scenario {part.scenario_keys[s]!r} of '{part.name}'"

        with _deep():
            groups = self._reader.read_all(scenarios, named)
            self.classes += len(groups)
            streams = self._partition(source, [g.rows for g in groups.values()], len(scenarios))
            result = []
            for stream, (structure, group) in zip(streams, groups.items(), strict=True):
                template = Template(
                    self._algebra, self._streams, self.table, stream, structure, group, named
                )
                result.append((stream, template.form))
                if template.mutable_places.mutable:
                    self._again.append((scenarios, named, template.mutable_places))
        return result

    def refresh(self) -> None:
        """Read the numbers of mutable scenarios again, into the same columns."""
        with _deep():
            for scenarios, named, mine in self._again:
                readings = [self._reader.read(scenarios[s], named(s))[1] for s in mine.rows]
                for position, column in mine.numbers:
                    assert mine.table is not None
                    mine.table.columns[column][:] = [r.numbers[position] for r in readings]
                for position, j, column in mine.supports:
                    assert mine.table is not None
                    values = [r.supports[position].get(j, 0.0) for r in readings]
                    mine.table.columns[column][:] = values
                for position, number in mine.ells:
                    ell = self._streams.ells[number]
                    for r, reading in enumerate(readings):
                        support = reading.supports[position]
                        used = ell.used[r]
                        ell.coefs[r, used] = [support[j] for j in ell.indices[r, used].tolist()]
        self.finish()

    def _partition(self, source: int, groups: list[list[int]], size: int) -> list[int]:
        if len(groups) == 1:
            return [source]
        labels = np.empty(size, dtype=np.intp)
        for g, rows in enumerate(groups):
            labels[rows] = g
        key = (source, labels.tobytes())
        if key not in self._partitions:
            self._partitions[key] = [
                self._streams.add_class(source, np.array(rows), size) for rows in groups
            ]
        return self._partitions[key]

    def table(self, stream: int) -> Table:
        if stream not in self._tables:
            source = self._sources[self._streams.streams[stream].source]
            self._tables[stream] = Table(len(self._streams.fields))
            self._streams.fields.append(FieldInfo(source.name, stream, 0, -1, 0))
        return self._tables[stream]

    def finish(self) -> None:
        """Put the columns of each table together (again in the same place after a refresh)."""
        for table in self._tables.values():
            info = self._streams.fields[table.number]
            if info.matrix is not None and info.width == len(table.columns):
                info.matrix[:] = np.stack(table.columns, axis=1)
            else:
                info.matrix = np.ascontiguousarray(np.stack(table.columns, axis=1))
                info.width = len(table.columns)


@contextmanager
def _deep() -> Iterator[None]:
    """Room for deeply nested scenario expressions (the readers recurse)."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, 20_000))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
