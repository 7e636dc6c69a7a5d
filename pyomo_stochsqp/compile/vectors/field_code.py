r"""Names for the data of the drawn rows: tables, columns, means of columns.

The body of the code asks for what it needs; the lines that fetch it are put in front. Of a wide
table only the columns that the model uses are taken, and a table that is read for nothing but its
means is not kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..graph.block import Ints
from ..plan import Plan
from .namespace import Space
from .statement import Statement, Statements

#: Tables at least this wide are narrowed to the used columns, if these are at most half of them.
WIDE = 16


class FieldCode:
    """What a function body reads of the fields."""

    def __init__(
        self,
        plan: Plan,
        space: Space,
        statements: Statements,
        use_stream: Callable[[int], None],
    ):
        self._plan = plan
        self._space = space
        self._statements = statements
        self._use_stream = use_stream
        self._tables: dict[int, None] = {}
        self._flat: dict[int, None] = {}
        self._sparse: dict[int, None] = {}
        self._means: dict[int, Statement] = {}
        self._known: dict[Any, str] = {}

    def _once(self, key: Any, form: str, *args: str, ufunc: str | None = None) -> str:
        name = self._known.get(key)
        if name is None:
            name = self._known[key] = self._statements.set(form, *args, ufunc=ufunc)
        return name

    def sparse(self, f: int) -> str:
        """The drawn rows of a sparse field."""
        self._sparse[f] = None
        self._use_stream(self._plan.streams.fields[f].stream)
        return f"S{f}"

    def _table(self, f: int) -> str:
        """The drawn rows of a field as an array (rows, used columns)."""
        self._tables[f] = None
        self._use_stream(self._plan.streams.fields[f].stream)
        return f"F{f}"

    def _local(self, f: int, columns: Ints) -> tuple[Ints, int]:
        """(columns of the taken table, its width)."""
        used = self._narrow(f)
        if used is None:
            return columns, self._plan.streams.fields[f].width
        return np.searchsorted(used, columns), used.size

    def _narrow(self, f: int) -> Ints | None:
        """The used columns of a wide table that is mostly not used."""
        info = self._plan.streams.fields[f]
        used = self._plan.used_columns[f]
        wide = info.matrix is not None and not info.sparse and info.width >= WIDE
        return used if wide and 2 * used.size <= info.width else None

    def columns(self, f: int, columns: Ints) -> str:
        """Columns of the drawn rows as an array (rows, number of columns)."""
        name = self._table(f)
        local, width = self._local(f, columns)
        cut = slice_text(local)
        if cut is not None and local.size == width:
            return name
        form = f"{name}.take({self._space.array(local)}, 1)" if cut is None else f"{name}[:, {cut}]"
        return self._once(("table", f, local.tobytes()), form)

    def column(self, f: int, c: int) -> str:
        """One column of the drawn rows."""
        info = self._plan.streams.fields[f]
        if info.width == 1 and not info.sparse and info.matrix is not None:
            # A field of one column is taken from a flat view.
            self._flat[f] = None
            self._use_stream(info.stream)
            flat = self._space.shared(("flat", f), info.matrix.reshape(-1))
            return self._once(("column", f, c), self._fetch(f, flat, ""))
        local, _ = self._local(f, np.array([c]))
        return self._once(("column", f, c), f"{self._table(f)}[:, {int(local[0])}]")

    def _fetch(self, f: int, matrix: str, axis: str) -> str:
        info = self._plan.streams.fields[f]
        rows = f"r{info.stream}_{info.part}"
        text = f"{matrix}.take({rows}{axis}) if {rows}.__class__ is ndarray else {matrix}[{rows}]"
        return text if info.matrix.dtype == np.float64 else f"({text}).astype(float)"

    def fields(self) -> list[int]:
        """The fields that are read."""
        return list(dict.fromkeys([*self._sparse, *self._tables, *self._means, *self._flat]))

    # -- means ------------------------------------------------------------------------------------

    def _mean_vector(self, f: int) -> str:
        """The batch means of all taken columns of a field."""
        info = self._plan.streams.fields[f]
        self._use_stream(info.stream)
        weights = f"w{info.stream}"
        if info.sparse:
            return self._once(("mean", f), f"dot_sparse({weights}, {self.sparse(f)}, {info.width})")
        known = ("mean", f) in self._known
        name = self._once(("mean", f), "{0}.dot({1})", weights, f"F{f}", ufunc="dot")
        if not known:
            self._means[f] = self._statements.items[-1]
        return name

    def mean_of_columns(self, f: int, columns: Ints) -> str:
        name = self._mean_vector(f)
        local, width = self._local(f, columns)
        cut = slice_text(local)
        if cut is not None and local.size == width:
            return name
        form = f"{{0}}.take({self._space.array(local)})" if cut is None else f"{{0}}[{cut}]"
        return self._once(("means", f, local.tobytes()), form, name)

    def mean_of_column(self, f: int, c: int) -> str:
        name = self._mean_vector(f)
        local, width = self._local(f, np.array([c]))
        if width > 64:
            return self._once(("mean", f, c), f"{{0}}.item({int(local[0])})", name)
        numbers = self._once(("numbers", f), "{0}.tolist()", name)
        return self._once(("mean", f, c), f"{{0}}[{int(local[0])}]", numbers)

    # -- fetching ---------------------------------------------------------------------------------

    def fetches(self) -> list[Statement]:
        """Statements that fetch what was asked for; to be called once, after the body."""
        for f, statement in self._means.items():
            if f not in self._tables:
                # Read for its means only: the rows need no name and can be forgotten at once.
                statement.args = (statement.args[0], f"({self._rows_text(f)})")
        result = []
        for f in dict.fromkeys([*self._sparse, *self._tables]):
            info = self._plan.streams.fields[f]
            if not info.sparse:
                result.append(Statement(f"F{f}", self._rows_text(f), ()))
                continue
            self._space.names[f"M{f}"] = info.matrix
            rows = f"r{info.stream}_{info.part}"
            result.append(Statement(f"S{f}", f"sparse_rows(M{f}, {rows})", ()))
            if f in self._tables:
                result.append(Statement(f"F{f}", f"sparse_dense(S{f}, {info.width})", ()))
        return result

    def _rows_text(self, f: int) -> str:
        info = self._plan.streams.fields[f]
        rows = f"r{info.stream}_{info.part}"
        if info.matrix is None:
            return f"{rows}[{info.position}]"
        self._space.names[f"M{f}"] = info.matrix
        used = self._narrow(f)
        if used is None:
            return self._fetch(f, f"M{f}", ", 0")
        columns = self._space.array(used)
        text = f"M{f}[{rows}[:, None], {columns}]"
        text = f"{text} if {rows}.__class__ is ndarray else M{f}[{rows}][:, {columns}]"
        return text if info.matrix.dtype == np.float64 else f"({text}).astype(float)"


def slice_text(indices: Ints) -> str | None:
    """Equally spaced indices as slice text."""
    if indices.size == 0:
        return None
    first = int(indices[0])
    if indices.size == 1:
        return f"{first}:{first + 1}"
    step = int(indices[1]) - first
    if step <= 0 or not np.array_equal(indices, first + step * np.arange(indices.size)):
        return None
    return f"{first}:{int(indices[-1]) + 1}" + (f":{step}" if step > 1 else "")
