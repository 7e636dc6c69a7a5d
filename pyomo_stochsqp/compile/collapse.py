r"""Explicit scenarios collapsed to templates and data.

    E over s of expr_s(x)   ->   mean of template(x, w_s),   w_s = the numbers of scenario s.

Scenarios of one structure (see :mod:`.scenario`) become one template. Whatever differs between them
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
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..declare.program import Source
from ..errors import ModelError
from .affine import LONG
from .node import KINKED, Coef
from .normal import Algebra, Form
from .scenario import Group, ScenarioReader, Structure
from .stream import EllInfo, FieldInfo, Ints, Streams

#: A support is stored with one column per variable up to this many times its average length.
DENSE_RATIO = 16
#: Variables in at least this fraction of the scenarios get a column in any case.
COMMON = 0.25

Floats = NDArray[np.float64]


@dataclass(eq=False)
class _Table:
    """The growing data matrix of one stream."""

    number: int
    columns: list[Floats] = field(default_factory=list)
    known: dict[bytes, int] = field(default_factory=dict)

    def add(self, block: Floats, unique: bool) -> int:
        """First column of a block of columns (rows of ``block``); equal blocks are stored once."""
        key = block.tobytes() + bytes([block.shape[0] % 256])
        if not unique and key in self.known:
            return self.known[key]
        start = len(self.columns)
        self.columns.extend(block)
        if not unique:
            self.known[key] = start
        return start


@dataclass(eq=False)
class _Class:
    """Scenarios of one structure in one function: where their mutable numbers were stored."""

    rows: Ints
    table: _Table | None
    #: (position in numbers, column)
    numbers: list[tuple[int, int]] = field(default_factory=list)
    #: (position in supports, variable, column)
    supports: list[tuple[int, int, int]] = field(default_factory=list)
    #: (position in supports, number of the ell)
    ells: list[tuple[int, int]] = field(default_factory=list)

    @property
    def mutable(self) -> bool:
        return bool(self.numbers or self.supports or self.ells)


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
        self._tables: dict[int, _Table] = {}
        self._partitions: dict[Any, list[int]] = {}
        self._again: list[tuple[Sequence[Any], str, _Class]] = []
        self.classes = 0

    def __call__(self, source: int, scenarios: Sequence[Any], where: str) -> list[tuple[int, Form]]:
        """(stream, template) for each structure among the scenarios."""
        with _deep():
            groups = self._reader.read_all(scenarios, where)
            self.classes += len(groups)
            streams = self._partition(source, [g.rows for g in groups.values()], len(scenarios))
            result = []
            for stream, (structure, group) in zip(streams, groups.items(), strict=True):
                builder = _Builder(self, stream, structure, group, where)
                result.append((stream, builder.form))
                if builder.mine.mutable:
                    self._again.append((scenarios, where, builder.mine))
        return result

    def refresh(self) -> None:
        """Read the numbers of mutable scenarios again, into the same columns."""
        with _deep():
            for scenarios, where, mine in self._again:
                readings = [self._reader.read(scenarios[s], where)[1] for s in mine.rows]
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

    def table(self, stream: int) -> _Table:
        if stream not in self._tables:
            source = self._sources[self._streams.streams[stream].source]
            self._tables[stream] = _Table(len(self._streams.fields))
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


class _Builder:
    """The template of one class of scenarios."""

    def __init__(
        self,
        collapse: Collapse,
        stream: int,
        structure: Structure,
        group: Group,
        where: str,
    ):
        self._collapse = collapse
        self._algebra = collapse._algebra
        self._streams = collapse._streams
        self._stream = stream
        self._size = len(group.rows)
        self._supports = group.supports
        self._where = where
        self._numbers = np.array(group.numbers, dtype=float).T.copy()
        self._mutable = group.mutable
        self._filed: list[Form] = []
        self._position = 0
        self.mine = _Class(np.array(group.rows), None)
        self.form = self._build(structure)

    def _build(self, structure: Structure) -> Form:
        """Mirrors ScenarioReader: nonlinear parts first, then the numbers and the affine part."""
        algebra = self._algebra
        inner = [self._nonlinear(*part) for part in structure]
        total = algebra.form(self._next_number())
        for part in inner:
            coef = algebra.form(self._next_number())
            algebra.accumulate(total, algebra.multiply(coef, part))
        algebra.accumulate(total, self._support(len(self._filed)))
        self._filed.append(total)
        return total

    def _nonlinear(self, op: Any, *inner: Any) -> Form:
        algebra = self._algebra
        if op == "again":
            return self._filed[inner[0]]
        args = [self._build(s) for s in inner]
        if op == "named":
            return algebra.kept(args[0])
        if op == "*":
            return algebra.multiply(*args)
        if op == "/":
            return algebra.divide(*args)
        if op == "inverse":
            return algebra.power(args[0], Form(-1.0))
        if op == "^":
            return algebra.power(*args)
        if isinstance(op, tuple):
            return algebra.power(args[0], Form(op[1]))
        if op in KINKED and args[0].x:
            raise ModelError(
                f"'{self._where}': {op}(...) of variables is not smooth, and the method needs "
                "derivatives. Use a smooth form (abs(z): sqrt(z**2 + eps)) or an epigraph form."
            )
        return algebra.function(op, *args)

    def _next_number(self) -> Coef:
        position = self._position
        self._position += 1
        column = self._numbers[position]
        mutable = position in self._mutable
        if not mutable and np.all(column == column[0]):
            return float(column[0])
        return self._column(column, mutable, position)

    def _column(self, values: Floats, mutable: bool, position: int) -> Coef:
        table = self._table()
        column = table.add(values[None, :].copy(), unique=mutable)
        if mutable:
            self.mine.numbers.append((position, column))
        return self._algebra.make("data", payload=(table.number, column))

    def _table(self) -> _Table:
        table = self.mine.table = self._collapse.table(self._stream)
        return table

    def _support(self, position: int) -> Form:
        """The affine part of the sub-expression that was finished at this position."""
        supports = [s[position] for s in self._supports]
        counts = np.fromiter(map(len, supports), dtype=np.intp, count=len(supports))
        if not counts.any():
            return Form()
        rows = np.repeat(np.arange(len(supports)), counts)
        indices = np.array([j for d in supports for j in d], dtype=np.intp)
        coefs = np.array([c for d in supports for c in d.values()], dtype=float)
        unique, inverse, often = np.unique(indices, return_inverse=True, return_counts=True)
        common = np.ones(unique.size, dtype=bool)
        if unique.size > DENSE_RATIO * counts.mean() + 64:
            common = often >= COMMON * len(supports)
        mutable = -1 - position in self._mutable
        form = self._dense_part(position, rows, coefs, unique, inverse, common, mutable)
        if not common.all():
            rare = ~common[inverse]
            number = self._ell_part(rows[rare], indices[rare], coefs[rare], len(supports), mutable)
            if mutable:
                self.mine.ells.append((position, number))
            form.terms[self._algebra.make("ell", payload=number)] = 1.0
        return form

    def _dense_part(
        self,
        position: int,
        rows: Ints,
        coefs: Floats,
        unique: Ints,
        inverse: Ints,
        common: NDArray[np.bool_],
        mutable: bool,
    ) -> Form:
        """One coefficient per variable that many scenarios share."""
        chosen = np.flatnonzero(common)
        if chosen.size == 0:
            return Form()
        place = np.cumsum(common) - 1
        dense = np.zeros((chosen.size, self._size))
        keep = common[inverse]
        dense[place[inverse[keep]], rows[keep]] = coefs[keep]
        constant = np.zeros(chosen.size, dtype=bool)
        if not mutable:
            constant = (dense == dense[:, :1]).all(axis=1)
        form = Form()
        make = self._algebra.make
        varying = np.flatnonzero(~constant)
        columns: dict[int, int] = {}
        if varying.size:
            table = self._table()
            # Long supports stay together, so that they are one matrix product.
            step = varying.size if varying.size >= LONG else 1
            for start in range(0, varying.size, step):
                chunk = varying[start : start + step]
                first = table.add(np.ascontiguousarray(dense[chunk]), unique=mutable)
                columns.update({int(i): first + k for k, i in enumerate(chunk)})
        for i, j in enumerate(unique[chosen].tolist()):
            if i in columns:
                coef: Coef = make("data", payload=(table.number, columns[i]))
                if mutable:
                    self.mine.supports.append((position, j, columns[i]))
            else:
                coef = float(dense[i, 0])
            form.terms[make("var", payload=j)] = coef
        return form

    def _ell_part(self, rows: Ints, indices: Ints, coefs: Floats, size: int, mutable: bool) -> int:
        """Variables of single scenarios, in the order in which they appear."""
        counts = np.bincount(rows, minlength=size)
        starts = np.concatenate(([0], np.cumsum(counts)))[:-1]
        place = np.arange(rows.size) - starts[rows]
        shape = (size, int(counts.max()))
        index = np.zeros(shape, dtype=np.intp)
        value = np.zeros(shape)
        used = np.zeros(shape, dtype=bool)
        index[rows, place] = indices
        value[rows, place] = coefs
        used[rows, place] = True
        for number, other in enumerate(self._streams.ells):
            if not mutable and other.same(self._stream, index, value):
                return number
        self._streams.ells.append(EllInfo(self._stream, index, value, used, mutable))
        return len(self._streams.ells) - 1


@contextmanager
def _deep() -> Iterator[None]:
    """Room for deeply nested scenario expressions (the readers recurse)."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, 20_000))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
