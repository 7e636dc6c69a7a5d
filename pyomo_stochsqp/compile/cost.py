r"""Estimated work of one evaluation, from the plan alone.

    seconds = overhead * statements + rate * (fixed + B * per_row)

in units of one elementary array operation; a transcendental function counts as several. The numbers
are rough (within a factor of two or so): they are for reports, and to decide when compiling pays.
"""

from __future__ import annotations

from dataclasses import dataclass

from .plan import Plan, StreamPlan

#: seconds for one array statement, and for one operation on one element
OVERHEAD, RATE = 0.6e-6, 1.0e-9
#: elementary operations in one transcendental function
TRANSCENDENTAL = 8

_CHEAP = frozenset(("x", "k", "d", "num", "lit", "add", "mul", "mix", "raise", "recip", "share"))


@dataclass
class Cost:
    """Work of one stream (or of the exact part): see the formula above."""

    statements: int = 0
    fixed: int = 0
    per_row: int = 0

    def seconds(self, rows: int) -> float:
        return OVERHEAD * self.statements + RATE * (self.fixed + rows * self.per_row)


def stream_cost(plan: Plan, part: StreamPlan) -> Cost:
    """The work behind one part of the plan."""
    cost = Cost()
    fields: dict[int, int] = {}

    def read(field: int | None) -> None:
        if field is not None:
            fields[field] = plan.streams.fields[field].width

    for block in part.blocks:
        size = max(block.size, 1)
        for v in block.graph.values():
            cost.statements += 1
            if v.op == "d":
                read(v.payload.field)
            if v.op == "affine":
                read(v.payload.field)
                work = 4 * v.payload.indices.size
            else:
                work = (size if v.grouped else 1) * (1 if v.op in _CHEAP else TRANSCENDENTAL)
            if v.batched or v.op == "mean":
                cost.per_row += work
            elif v.grouped or v.op == "affine":
                cost.fixed += work
    for average in part.averages:
        read(average.field)
        cost.statements += 3
        cost.per_row += average.indices.size
        cost.fixed += 3 * average.indices.size
    for product in part.products:
        read(product.field)
        cost.statements += 4
        cost.per_row += 2 * product.indices.size * len(product.factors)
    for number, width in fields.items():
        info = plan.streams.fields[number]
        cost.statements += 1
        cost.per_row += info.matrix.nnz // max(info.matrix.shape[0], 1) if info.sparse else width
    return cost
