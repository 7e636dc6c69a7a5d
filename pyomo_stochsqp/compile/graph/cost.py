r"""Estimated work of one evaluation, counted while its code is written.

    seconds = OVERHEAD * statements + RATE * (fixed + B * per_row)

in units of one elementary operation on one element of an array; a transcendental function counts as
several. The numbers are rough (within a factor of two or so): they are for reports, and to decide
when compiling pays.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .values import Val

#: seconds for one array statement, and for one operation on one element
OVERHEAD, RATE = 0.6e-6, 0.5e-9
#: elementary operations in one transcendental function, and in reading one number of a table
TRANSCENDENTAL, READ = 10, 2

_LEAVES = frozenset(("x", "k", "d", "num", "share", "one"))
_CHEAP = frozenset(("lit", "add", "mul", "mix", "raise", "recip", "sqrt", "mean"))


@dataclass
class Cost:
    """Work of one stream (or of the exact part): see the formula above."""

    statements: int = 0
    fixed: int = 0
    per_row: int = 0

    def seconds(self, rows: int) -> float:
        return OVERHEAD * self.statements + RATE * (self.fixed + rows * self.per_row)

    def count(self, values: Iterable[Val], size: int) -> None:
        """Adds the values of a block of ``size`` instances."""
        for v in values:
            if v.op in _LEAVES:
                continue
            if v.op == "affine":
                work = 2 * v.payload.indices.size
            elif v.op == "ell":
                work = READ
            elif v.op == "inner":
                work = v.payload.block.size
            else:
                work = max(size, 1) if v.grouped else 1
                work *= 1 if v.op in _CHEAP else TRANSCENDENTAL
            if v.batched or v.op == "mean":
                self.statements += 1
                self.per_row += work
            elif v.grouped or v.op in ("affine", "inner"):
                self.statements += 1
                self.fixed += work
