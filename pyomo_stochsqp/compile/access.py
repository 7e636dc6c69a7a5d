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
        for p in positions:
            self.names[f"base{p}"] = float(base[p])

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
        self._scalars: set[int] = set()
        self._streams: dict[int, None] = {}
        self._fields: dict[int, None] = {}
        self._dense: dict[int, None] = {}
        self._lines: list[str] = []
        self._known: dict[Any, str] = {}

    def line(self, key: Any, prefix: str, text: str) -> str:
        """A line of the preamble, written once for each key; returns the name it sets."""
        name = self._known.get(key)
        if name is None:
            name = self._known[key] = f"{prefix}{len(self._known)}"
            self._lines.append(f"{name} = {text}")
        return name

    # -- variables --------------------------------------------------------------------------------

    def scalar_x(self, j: int) -> str:
        self._scalars.add(j)
        return f"x{j}"

    def array_x(self, indices: Ints) -> str:
        """x[indices] as an array of the same shape."""
        cut = _slice(indices) if indices.ndim == 1 else None
        text = f"x[{cut}]" if cut is not None else f"x.take({self.array(indices)})"
        if cut is not None and indices.size == self.plan.n:
            return "x"
        return self.line(("x", indices.shape, indices.tobytes()), "v", text)

    # -- data -------------------------------------------------------------------------------------

    def stream(self, s: int) -> None:
        self._streams[s] = None

    def inverse_size(self, s: int) -> str:
        self.stream(s)
        return f"i{self.plan.streams.streams[s].source}"

    def ones(self, s: int) -> str:
        """The weights of a mean up to ``inverse_size``: ones, or the weights of the batch."""
        self.stream(s)
        return f"w{s}"

    def field(self, f: int) -> str:
        """The drawn rows of a field as an array (rows, width)."""
        self._need(f)
        self._dense[f] = None
        return f"F{f}"

    def sparse_field(self, f: int) -> str:
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
            text = f"{name}.take({self.array(columns)}, 1)"
        elif columns.size == self.plan.streams.fields[f].width:
            return name
        else:
            text = f"{name}[:, {cut}]"
        return self.line(("F", f, columns.tobytes()), "f", text)

    def column(self, f: int, c: int) -> str:
        """One column of the drawn rows."""
        return self.line(("F", f, c), "d", f"{self.field(f)}[:, {c}]")

    def means(self, f: int) -> str:
        """The batch means of all columns of a field."""
        info = self.plan.streams.fields[f]
        ones, scale = self.ones(info.stream), self.inverse_size(info.stream)
        if info.sparse and f not in self._dense:
            text = f"dot_sparse({ones}, {self.sparse_field(f)}, {info.width})"
        else:
            text = f"{ones}.dot({self.field(f)})"
        return self.line(("mean", f), "m", text if self.weighted else f"{text}*{scale}")

    def mean_of_columns(self, f: int, columns: Ints) -> str:
        name = self.means(f)
        cut = _slice(columns)
        if cut is None:
            text = f"{name}.take({self.array(columns)})"
        elif columns.size == self.plan.streams.fields[f].width:
            return name
        else:
            text = f"{name}[{cut}]"
        return self.line(("means", f, columns.tobytes()), "m", text)

    def mean_of_column(self, f: int, c: int) -> str:
        name = self.means(f)
        if self.plan.streams.fields[f].width > 64:
            return self.line(("mean", f, c), "m", f"{name}.item({c})")
        numbers = self.line(("meanlist", f), "l", f"{name}.tolist()")
        return f"{numbers}[{c}]"

    def rows(self, s: int, part: int = 0) -> str:
        self.stream(s)
        return f"r{s}_{part}"

    # -- preamble ---------------------------------------------------------------------------------

    def preamble(self) -> list[str]:
        """The lines that define everything asked for."""
        lines = self._x_lines()
        streams = self.plan.streams
        sources = sorted({streams.streams[s].source for s in self._streams})
        for s in sources:
            lines.append(f"b{s} = batches[{s}]")
            lines.append(f"i{s} = 1.0/b{s}.size")
        for s in self._streams:
            stream = streams.streams[s]
            source = stream.source
            if stream.lookup is None:
                for p in range(len(self.plan.program.sources[source].parts)):
                    lines.append(f"r{s}_{p} = b{source}.parts[{p}]")
                weights = f"b{source}.weights" if self.weighted else f"ones[:b{source}.size]"
                lines.append(f"w{s} = {weights}")
            else:
                lines.append(f"q{s} = {self.array(stream.lookup)}[b{source}.parts[0]]")
                lines.append(f"r{s}_0 = q{s}[q{s} >= 0]")
                if self.weighted:
                    lines.append(f"w{s} = b{source}.weights[q{s} >= 0]")
                    lines.append(f"h{s} = float(w{s}.sum())")
                else:
                    lines.append(f"w{s} = ones[:r{s}_0.size]")
                    lines.append(f"h{s} = r{s}_0.size*i{source}")
        for f in self._fields:
            lines += self._field_lines(f)
        return lines + self._lines

    def _x_lines(self) -> list[str]:
        wanted = sorted(self._scalars)
        if not wanted:
            return []
        n = self.plan.n
        left = ", ".join(f"x{j}" for j in wanted) + ("," if len(wanted) == 1 else "")
        if len(wanted) == n:
            return [f"{left} = x.tolist()"]
        return [f"{left} = x.take({self.array(np.array(wanted, dtype=np.intp))}).tolist()"]

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
