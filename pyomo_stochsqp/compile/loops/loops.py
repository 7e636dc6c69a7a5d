r"""Lines and inputs of a function of loops, to be compiled by numba.

All index arrays are stretches of one integer array I, all run-time constants stretches of one array
K, so that the compiled function has few arguments:

    x, base, I, K,   w_s, r_s,p (weights and row numbers of stream s),   M_f (fields)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from ...declare.program import Part
from ..algebra.node import Coef
from ..graph.block import Ints
from ..plan import Plan


class NotCompilable(Exception):
    """Something that is left to the NumPy code."""


class Loops:
    """A function under construction."""

    def __init__(self, plan: Plan):
        self.plan = plan
        self.lines: list[str] = []
        #: lines before all others
        self.first: list[str] = []
        self.constants: list[Coef] = []
        self.streams: dict[int, None] = {}
        self.fields: dict[int, None] = {}
        self.ells: dict[int, None] = {}
        self.integers: list[NDArray[np.int64]] = []
        self._size = 0
        self._known: dict[bytes, int] = {}
        self._indent = 1
        self._prefixes = 0

    # -- lines ------------------------------------------------------------------------------------

    def put(self, line: str) -> None:
        self.lines.append("    " * self._indent + line)

    def ahead(self, line: str) -> None:
        self.first.append("    " + line)

    @contextmanager
    def loop(self, head: str) -> Iterator[None]:
        """Lines inside a loop."""
        self.put(head)
        self._indent += 1
        yield
        self._indent -= 1

    @contextmanager
    def over_batch(self, s: int) -> Iterator[None]:
        """A loop over the drawn rows: b, weight w, row number q of each part."""
        self.streams[s] = None
        with self.loop(f"for b in range(w{s}.size):"):
            self.put(f"w = w{s}[b]")
            for p, part in enumerate(self._parts(s)):
                drawn = part.size is None
                self.put(f"q{p} = b" if drawn else f"q{p} = r{s}_{p}[b]")
            yield

    def _parts(self, s: int) -> Sequence[Part]:
        return tuple(self.plan.program.sources[self.plan.streams.streams[s].source].parts)

    def prefix(self) -> str:
        self._prefixes += 1
        return f"t{self._prefixes}_"

    # -- inputs -----------------------------------------------------------------------------------

    def index(self, values: Ints, e: str) -> str:
        """Text of values[e]."""
        first = int(values[0]) if values.size else 0
        if np.array_equal(values, np.arange(first, first + values.size)):
            return f"{first}+{e}" if first else e
        return f"I[{self.stored(values)}+{e}]"

    def stored(self, values: Ints) -> int:
        """Start of a stretch of I."""
        flat = np.ascontiguousarray(values, dtype=np.int64).ravel()
        key = flat.tobytes()
        if key not in self._known:
            self._known[key] = self._size
            self.integers.append(flat)
            self._size += flat.size
        return self._known[key]

    def constant(self, values: list[Coef]) -> int:
        """Start of a stretch of K."""
        start = len(self.constants)
        self.constants += values
        return start

    def element(self, f: int, column: str) -> str:
        """Text of one number of the current row of a field."""
        info = self.plan.streams.fields[f]
        if info.sparse:
            raise NotCompilable
        self.fields[f] = None
        return f"M{f}[q{info.part}, {column}]"
