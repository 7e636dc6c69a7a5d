r"""Names for the inputs of the generated code: entries of x, weights and rows of the batches.

The body of the code is written first and asks for what it needs; the lines that define it are then
put in front.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..graph.block import Ints
from ..plan import Plan
from .field_code import FieldCode, slice_text
from .namespace import Space
from .statement import Statements


class Inputs:
    """Collects what a function body reads."""

    def __init__(self, plan: Plan, space: Space, weighted: bool):
        self.plan = plan
        self.space = space
        self.array = space.array
        self.constant = space.constant
        self.weighted = weighted
        self.statements = Statements("v")
        self.data = FieldCode(plan, space, self.statements, self.stream)
        self._scalars: set[int] = set()
        self._streams: dict[int, None] = {}
        self._inverses: set[int] = set()
        self._known: dict[Any, str] = {}
        self._prefixes = 0

    def new_prefix(self) -> str:
        """The beginning of the names of one block's values."""
        self._prefixes += 1
        return f"t{self._prefixes}_"

    def once(self, key: Any, form: str, *args: str) -> str:
        """A statement before the body, written once for each key; returns the name it sets."""
        name = self._known.get(key)
        if name is None:
            name = self._known[key] = self.statements.set(form, *args)
        return name

    # -- variables --------------------------------------------------------------------------------

    def scalar_x(self, j: int) -> str:
        self._scalars.add(j)
        return f"x{j}"

    def array_x(self, indices: Ints) -> str:
        """x[indices] as an array."""
        cut = slice_text(indices)
        if cut is not None and indices.size == self.plan.n:
            return "x"
        form = f"x[{cut}]" if cut is not None else f"x.take({self.array(indices)})"
        return self.once(("x", indices.tobytes()), form)

    # -- batches ----------------------------------------------------------------------------------

    def stream(self, s: int) -> None:
        self._streams[s] = None

    def inverse_size(self, s: int) -> str:
        self.stream(s)
        source = self.plan.streams.streams[s].source
        self._inverses.add(source)
        return f"i{source}"

    def weights(self, s: int) -> str:
        """The weight of every drawn row in a mean."""
        self.stream(s)
        return f"w{s}"

    def rows(self, s: int) -> str:
        """Row numbers of a stream with a single part."""
        self.stream(s)
        return f"r{s}_0"

    # -- preamble ---------------------------------------------------------------------------------

    def preamble(self) -> list[str]:
        """The lines that define what the statements read."""
        lines = self._x_lines()
        streams = self.plan.streams
        for s in sorted({streams.streams[s].source for s in self._streams}):
            lines += [f"b{s} = batches[{s}]", f"n{s} = b{s}.size"]
            if s in self._inverses:
                lines.append(f"i{s} = 1.0/n{s}")
        for s in self._streams:
            lines += self._stream_lines(s)
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
