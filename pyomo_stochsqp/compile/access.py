r"""Names for inputs of the generated code: entries of x, batch rows of fields, constants.

The body of the code is written first and asks for what it needs; the lines that fetch it are then
put in front. Only columns that are used are taken from a wide table.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .block import Ints, constants
from .node import Coef
from .plan import Plan
from .statement import Statements

#: Programs up to this many results are listed entry by entry, if all results are floats.
SMALL = 200


class Space:
    """The namespace of the generated functions: constants by name, each stored once."""

    def __init__(self, functions: dict[str, Any]):
        self.names: dict[str, Any] = dict(functions)
        self._known: dict[Any, str] = {}
        self._reloadable: dict[str, list[Coef]] = {}
        #: positions of ``out`` with a constant contribution
        self.base_positions: set[int] = set()

    def set_base(self, base: NDArray[np.float64], positions: set[int]) -> None:
        """The constant contributions to ``out``, as an array and one by one."""
        self.base_positions = positions
        self.names["base"] = base
        if base.size <= SMALL:
            self.names.update({f"base{p}": float(base[p]) for p in positions})

    def array(self, values: NDArray[Any]) -> str:
        """A constant array."""
        return self.shared((values.dtype.str, values.shape, values.tobytes()), values)

    def shared(self, key: Any, values: Any) -> str:
        """An object known by a key; its contents may change at ``reload``."""
        name = self._known.get(key)
        if name is None:
            name = self._known[key] = f"A{len(self.names)}"
            self.names[name] = values
        return name

    def constant(self, values: list[Coef], scalar: bool) -> str:
        """A run-time constant (array), read again by ``reload``."""
        key = (scalar, *values)
        name = self._known.get(key)
        if name is None:
            name = self._known[key] = f"K{len(self.names)}"
            numbers = constants(values)
            self.names[name] = float(numbers[0]) if scalar else numbers
            self._reloadable[name] = values
        return name

    def reload(self) -> None:
        for name, values in self._reloadable.items():
            numbers = constants(values)
            self.names[name] = float(numbers[0]) if isinstance(self.names[name], float) else numbers


class Inputs:
    """Collects what a function body reads."""

    def __init__(self, plan: Plan, space: Space, weighted: bool):
        self.plan = plan
        self.space = space
        self.array = space.array
        self.constant = space.constant
        self.weighted = weighted
        self.statements = Statements("v")
        self._scalars: set[int] = set()
        self._streams: dict[int, None] = {}
        self._fields: dict[int, None] = {}
        self._dense: dict[int, None] = {}
        self._known: dict[Any, str] = {}

    def once(self, key: Any, form: str, *args: str, ufunc: str | None = None) -> str:
        """A statement before the body, written once for each key; returns the name it sets."""
        name = self._known.get(key)
        if name is None:
            name = self._known[key] = self.statements.set(form, *args, ufunc=ufunc)
        return name

    # -- variables --------------------------------------------------------------------------------

    def scalar_x(self, j: int) -> str:
        self._scalars.add(j)
        return f"x{j}"

    def array_x(self, indices: Ints) -> str:
        """x[indices] as an array."""
        cut = _slice(indices)
        if cut is not None and indices.size == self.plan.n:
            return "x"
        form = f"x[{cut}]" if cut is not None else f"x.take({self.array(indices)})"
        return self.once(("x", indices.tobytes()), form)

    # -- data -------------------------------------------------------------------------------------

    def stream(self, s: int) -> None:
        self._streams[s] = None

    def inverse_size(self, s: int) -> str:
        self.stream(s)
        return f"i{self.plan.streams.streams[s].source}"

    def weights(self, s: int) -> str:
        """The weight of every drawn row in a mean."""
        self.stream(s)
        return f"w{s}"

    def rows(self, s: int) -> str:
        """Row numbers of a stream with a single part."""
        self.stream(s)
        return f"r{s}_0"

    def field(self, f: int) -> str:
        """The drawn rows of a field as an array (rows, width)."""
        self._need(f)
        self._dense[f] = None
        return f"F{f}"

    def sparse_field(self, f: int) -> str:
        """The drawn rows of a sparse field."""
        self._need(f)
        return f"S{f}"

    def _need(self, f: int) -> None:
        self._fields[f] = None
        self.stream(self.plan.streams.fields[f].stream)

    def columns(self, f: int, columns: Ints) -> str:
        """Columns of the drawn rows as an array (rows, number of columns)."""
        name = self.field(f)
        cut = _slice(columns)
        if cut is None:
            form = f"{name}.take({self.array(columns)}, 1)"
        elif columns.size == self.plan.streams.fields[f].width:
            return name
        else:
            form = f"{name}[:, {cut}]"
        return self.once(("F", f, columns.tobytes()), form)

    def column(self, f: int, c: int) -> str:
        """One column of the drawn rows."""
        info = self.plan.streams.fields[f]
        if info.width == 1 and not info.sparse and info.matrix is not None:
            return self._only_column(f)
        return self.once(("F", f, c), f"{self.field(f)}[:, {c}]")

    def _only_column(self, f: int) -> str:
        """The column of a field of width one, taken from a flat view."""
        info = self.plan.streams.fields[f]
        self.stream(info.stream)
        name = self.space.shared(("flat", f), info.matrix.reshape(-1))
        rows = f"r{info.stream}_{info.part}"
        form = f"{name}.take({rows}) if {rows}.__class__ is ndarray else {name}[{rows}]"
        if info.matrix.dtype != np.float64:
            form = f"({form}).astype(float)"
        return self.once(("F", f, 0), form)

    def means(self, f: int) -> str:
        """The batch means of all columns of a field."""
        info = self.plan.streams.fields[f]
        weights = self.weights(info.stream)
        if info.sparse and f not in self._dense:
            form = f"dot_sparse({weights}, {self.sparse_field(f)}, {info.width})"
            return self.once(("mean", f), form)
        return self.once(("mean", f), "{0}.dot({1})", weights, self.field(f), ufunc="dot")

    def mean_of_columns(self, f: int, columns: Ints) -> str:
        name = self.means(f)
        cut = _slice(columns)
        if cut is not None and columns.size == self.plan.streams.fields[f].width:
            return name
        form = f"{{0}}.take({self.array(columns)})" if cut is None else f"{{0}}[{cut}]"
        return self.once(("means", f, columns.tobytes()), form, name)

    def mean_of_column(self, f: int, c: int) -> str:
        name = self.means(f)
        if self.plan.streams.fields[f].width > 64:
            return self.once(("mean", f, c), f"{{0}}.item({c})", name)
        numbers = self.once(("numbers", f), "{0}.tolist()", name)
        return self.once(("mean", f, c), f"{{0}}[{c}]", numbers)

    # -- preamble ---------------------------------------------------------------------------------

    def preamble(self) -> list[str]:
        """The lines that define what the statements read."""
        lines = self._x_lines()
        streams = self.plan.streams
        for s in sorted({streams.streams[s].source for s in self._streams}):
            lines += [f"b{s} = batches[{s}]", f"n{s} = b{s}.size", f"i{s} = 1.0/n{s}"]
        for s in self._streams:
            lines += self._stream_lines(s)
        for f in self._fields:
            lines += self._field_lines(f)
        return lines

    def _x_lines(self) -> list[str]:
        wanted = sorted(self._scalars)
        if not wanted:
            return []
        left = ", ".join(f"x{j}" for j in wanted) + ("," if len(wanted) == 1 else "")
        if len(wanted) == self.plan.n:
            return [f"{left} = x.tolist()"]
        return [f"{left} = x.take({self.array(np.array(wanted, dtype=np.intp))}).tolist()"]

    def _stream_lines(self, s: int) -> list[str]:
        stream = self.plan.streams.streams[s]
        source = stream.source
        weights = f"b{source}.weights" if self.weighted else f"uniform[n{source}]"
        if stream.lookup is None:
            count = len(self.plan.program.sources[source].parts)
            rows = [f"r{s}_{p} = b{source}.parts[{p}]" for p in range(count)]
            return [*rows, f"w{s} = {weights}"]
        chosen = f"{weights}[q{s} >= 0]" if self.weighted else f"{weights}[:r{s}_0.size]"
        return [
            f"q{s} = {self.array(stream.lookup)}[b{source}.parts[0]]",
            f"r{s}_0 = q{s}[q{s} >= 0]",
            f"w{s} = {chosen}",
            f"h{s} = float(w{s}.sum())",
        ]

    def _field_lines(self, f: int) -> list[str]:
        info = self.plan.streams.fields[f]
        rows = f"r{info.stream}_{info.part}"
        if info.matrix is None:
            return [f"F{f} = {rows}[{info.position}]"]
        self.space.names[f"M{f}"] = info.matrix
        if info.sparse:
            lines = [f"S{f} = sparse_rows(M{f}, {rows})"]
            if f in self._dense:
                lines.append(f"F{f} = sparse_dense(S{f}, {info.width})")
            return lines
        text = f"M{f}.take({rows}, 0) if {rows}.__class__ is ndarray else M{f}[{rows}]"
        if info.matrix.dtype != np.float64:
            text = f"({text}).astype(float)"
        return [f"F{f} = {text}"]


def _slice(indices: Ints) -> str | None:
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
