r"""The template of scenarios of one structure, and the data columns it needs.

Numbers that are the same in all scenarios stay numbers, the others become columns. The affine part
of a sub-expression is stored as

    sum_j w_sj x_j  +  sum_k coef[s, k] x[index[s, k]] :

a column for every variable that many scenarios share, index arrays for the variables of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import ModelError
from ..algebra.affine_parts import LONG
from ..algebra.form import Form
from ..algebra.node import KINKED, Coef
from ..algebra.normal_form import Algebra
from .reader import Group, Named, Structure
from .row_classes import EllInfo, Ints, Streams

#: A support is stored with one column per variable up to this many times its average length.
DENSE_RATIO = 16
#: Variables in at least this fraction of the scenarios get a column in any case.
COMMON = 0.25

Floats = NDArray[np.float64]


@dataclass(eq=False)
class Table:
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
class MutablePlaces:
    """Scenarios of one structure in one function: where their mutable numbers were stored."""

    rows: Ints
    table: Table | None
    #: (position in numbers, column)
    numbers: list[tuple[int, int]] = field(default_factory=list)
    #: (position in supports, variable, column)
    supports: list[tuple[int, int, int]] = field(default_factory=list)
    #: (position in supports, number of the ell)
    ells: list[tuple[int, int]] = field(default_factory=list)

    @property
    def mutable(self) -> bool:
        return bool(self.numbers or self.supports or self.ells)


class Template:
    """The template of one class of scenarios."""

    def __init__(
        self,
        algebra: Algebra,
        streams: Streams,
        table_of: Callable[[int], Table],
        stream: int,
        structure: Structure,
        group: Group,
        named: Named,
    ):
        self._algebra = algebra
        self._streams = streams
        self._table_of = table_of
        self._stream = stream
        self._size = len(group.rows)
        self._supports = group.supports
        self._named = named
        self._rows = group.rows
        self._numbers = np.array(group.numbers, dtype=float).T.copy()
        self._check_finite(self._numbers, np.arange(self._size))
        self._mutable = group.mutable
        self._filed: list[Form] = []
        self._position = 0
        self.mutable_places = MutablePlaces(np.array(group.rows), None)
        self.form = self._build(structure)

    def _check_finite(self, numbers: Floats, rows: Ints) -> None:
        """The last axis runs over scenarios, or entries of them."""
        bad = np.flatnonzero(~np.isfinite(numbers).reshape(-1, rows.size).all(axis=0))
        if bad.size:
            raise ModelError(
                f"{self._named(self._rows[rows[bad[0]]])}: a number in the expression is NaN or "
                "infinite. Give it a finite number."
            )

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
                f"{self._named(self._rows[0])}: {op}(...) of variables is not smooth, and the "
                "method needs derivatives. Use smooth_abs, smooth_max, smooth_min with a width, or "
                "an epigraph."
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
            self.mutable_places.numbers.append((position, column))
        return self._algebra.make("data", payload=(table.number, column))

    def _table(self) -> Table:
        table = self.mutable_places.table = self._table_of(self._stream)
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
        self._check_finite(coefs, rows)
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
                self.mutable_places.ells.append((position, number))
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
                    self.mutable_places.supports.append((position, j, columns[i]))
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
