r"""The generated function: one pass over all blocks, all results into one flat vector.

    def evaluate(x, batches):
        ...rows of the fields, entries of x, batch means...
        ...values and derivatives of every block...
        ...out = [g | c | J | f | spare]...

A function is written for what is asked: with or without weights, with or without the objective's
value, for all parts of the program or for the exact part or one source only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import kernels
from .access import Inputs
from .assemble import Results
from .block import Block
from .blockcode import BlockWriter
from .cost import READ, Cost
from .node import Coef
from .pattern import Pattern, entries, inner_entries
from .plan import ColumnAverage, Plan, ProductAverage, StreamPlan
from .space import Space
from .statement import Statements, written

#: (x, batches) -> (out, a number that is finite only if all of out is)
Evaluate = Callable[[NDArray[np.float64], Any], tuple[NDArray[np.float64], float]]

#: shape of an array with one entry per derivative
_FLAT = (False, True)

FUNCTIONS: dict[str, Any] = {
    **{f"a_{name}": f for name, f in kernels.ARRAY_FUNCTIONS.items()},
    **{f"s_{name}": f for name, f in kernels.SCALAR_FUNCTIONS.items()},
    "ndarray": np.ndarray,
    "array": np.array,
    "einsum": np.einsum,
    "dot": np.dot,
    "multiply": np.multiply,
    "add": np.add,
    "subtract": np.subtract,
    "divide": np.divide,
    "negative": np.negative,
    "concatenate": np.concatenate,
    "add_at": np.add.at,
    "add_reduce": np.add.reduce,
    "reduceat": np.add.reduceat,
    "empty": np.empty,
    "zeros": np.zeros,
    "broadcast_to": np.broadcast_to,
    "uniform": kernels.uniform,
    "sparse_rows": kernels.sparse_rows,
    "sparse_dot": kernels.sparse_dot,
    "dot_sparse": kernels.dot_sparse,
    "sparse_dense": kernels.sparse_dense,
    "spread": kernels.spread,
    "assemble": kernels.assemble,
}


@dataclass(frozen=True)
class Variant:
    """What a generated function is for. ``parts``: streams, with -1 for the exact part."""

    parts: frozenset[int]
    weighted: bool = False
    objective: bool = False


@dataclass(frozen=True, eq=False)
class Generated:
    """A generated function, its source, and the estimated work of each stream."""

    source: str
    function: Evaluate
    costs: dict[int, Cost]


def generate(plan: Plan, pattern: Pattern, space: Space, variant: Variant) -> Generated:
    """Writes and compiles the code of a variant."""
    writer = _Function(plan, pattern, space, variant)
    lines = writer.lines()
    name = f"evaluate_{len(space.names)}"
    text = f"def {name}(x, batches):\n" + "".join(f"    {line}\n" for line in lines)
    exec(compile(text, f"<stochsqp {name}>", "exec"), space.names)
    return Generated(text, space.names[name], writer.costs)


class _Function:
    def __init__(self, plan: Plan, pattern: Pattern, space: Space, variant: Variant):
        self.plan = plan
        self.pattern = pattern
        self.variant = variant
        self.inputs = Inputs(plan, space, variant.weighted)
        self.body = Statements("p")
        self.costs: dict[int, Cost] = {}
        self.results = Results(pattern.size, self.inputs, -1 in variant.parts)

    def lines(self) -> list[str]:
        for part in self.plan.parts:
            if part.stream not in self.variant.parts:
                continue
            writers = [self._block(block) for block in part.blocks]
            for average in part.averages:
                self._average(average)
            for product in part.products:
                self._product(product, writers[0])
            self._count(part, writers)
        if -1 in self.variant.parts:
            self._linear()
        opening, closing = self.results.lines(self.body)
        preamble = self.inputs.preamble()
        statements = [*self.inputs.statements.items, *self.body.items]
        middle, closing = written(statements, self.results.places, self.results.kept, closing)
        # The sum of squares is finite only if all results are (the converse is checked if not).
        return [
            *opening,
            *preamble,
            *middle,
            *closing,
            "return out, out.dot(out)",
        ]

    def _wanted(self, targets: NDArray[Any]) -> bool:
        """Values are written for constraints, and for the objective only when asked."""
        return self.variant.objective or bool((targets > 0).any())

    def _count(self, part: StreamPlan, writers: list[BlockWriter]) -> None:
        """The estimated work of a part."""
        cost = self.costs[part.stream] = Cost()
        for writer in writers:
            cost.count(writer.computed, writer.block.size)
            for code in writer.inner_sums():
                cost.count(code.members.computed, code.members.block.size)
            for root in writer.block.roots:
                affine = [leaf for leaf in root.gradient if leaf.op == "affine"]
                cost.count(affine, writer.block.size)
        for product in part.products:
            cost.statements += 4
            cost.per_row += 2 * product.indices.size * len(product.factors)
        for f in self.inputs.data.fields():
            info = self.plan.streams.fields[f]
            if info.stream == part.stream:
                width = info.width
                if info.sparse:
                    width = info.matrix.nnz // max(info.matrix.shape[0], 1)
                cost.statements += 2
                cost.per_row += READ * width

    # -- blocks -----------------------------------------------------------------------------------

    def _block(self, block: Block) -> BlockWriter:
        writer = BlockWriter(block, self.inputs, self.body)
        outputs = []
        for root in block.roots:
            if self._wanted(root.targets):
                outputs.append(root.value)
            for leaf, e in root.gradient.items():
                outputs += [e] if leaf.op == "x" else writer.adjoint_operands(e)
        writer.compute(outputs)
        for root in block.roots:
            if self._wanted(root.targets):
                positions = self.pattern.values(root.targets)
                self.results.add(writer.name(root.value), positions, root.value.grouped)
            for leaf, e in root.gradient.items():
                self._derivative(writer, root.targets, leaf, e)
        return writer

    def _derivative(self, writer: BlockWriter, targets: Any, leaf: Any, e: Any) -> None:
        if leaf.op == "ell":
            self._ell(writer, targets, leaf, e)
            return
        if leaf.op == "inner":
            for member in leaf.payload.gradient:
                positions = self.pattern.derivatives(*inner_entries(targets, leaf.payload, member))
                name = writer.inner(leaf).backward(member, writer.adjoint(e), writer.block.size)
                self.results.add(name, positions, True)
            return
        positions = self.pattern.derivatives(*entries(targets, leaf, self.plan.streams))
        if leaf.op == "x":
            self.results.add(writer.name(e), positions, e.grouped)
        else:
            self.results.add(writer.affine_gradient(leaf, e), positions, True)

    def _ell(self, writer: BlockWriter, targets: Any, leaf: Any, e: Any) -> None:
        ell = self.plan.streams.ells[leaf.payload]
        for t in targets:
            place = self.pattern.derivatives(np.full_like(ell.indices, t), ell.indices)
            place = np.where(ell.used, place, self.pattern.spare)
            rows = self.inputs.rows(writer.block.stream)
            values = writer.ell_gradient(leaf, e)
            self.results.scatter(f"{self.inputs.array(place)}[{rows}]", values)

    # -- linear parts -----------------------------------------------------------------------------

    def _average(self, average: ColumnAverage) -> None:
        inputs = self.inputs
        v = inputs.data.mean_of_columns(average.field, average.columns)
        if not _plain(average.scales):
            scales = inputs.constant(average.scales, scalar=False)
            v = self.body.infix("*", v, scales, shape=_FLAT)
        self.results.add(v, self.pattern.derivatives(average.targets, average.indices), True)
        self._row_sums(v, average.targets, average.indices)

    def _row_sums(self, v: str, targets: Any, indices: Any) -> None:
        """Adds sum_e v_e x_e over the entries of each function (entries sorted by function)."""
        skip = 0 if self.variant.objective else int(np.searchsorted(targets, 1))
        if skip:
            v = self.body.set(f"{{0}}[{skip}:]", v)
            targets, indices = targets[skip:], indices[skip:]
        if targets.size == 0:
            return
        rows, starts = np.unique(targets, return_index=True)
        width = targets.size // rows.size
        table = indices[: rows.size * width].reshape(rows.size, width)
        if width > 1 and table.size == indices.size and (table == table[0]).all():
            x = self.inputs.array_x(table[0])
            form = f"{{0}}.reshape({rows.size}, {width}).dot({{1}})"
            total = self.body.set(form, v, x, shape=_FLAT)
        else:
            total = self._weighted_rows(v, indices, starts)
        self.results.add(total, self.pattern.values(rows), True)

    def _weighted_rows(self, v: str, indices: Any, starts: Any) -> str:
        """Sums of v * x over stretches of entries."""
        total = self.body.infix("*", v, self.inputs.array_x(indices), shape=_FLAT)
        if starts.size < indices.size:
            form = f"reduceat({{0}}, {self.inputs.array(starts)})"
            total = self.body.set(form, total, shape=_FLAT)
        return total

    def _product(self, product: ProductAverage, writer: BlockWriter) -> None:
        inputs, put, s = self.inputs, self.body.set, writer.block.stream
        writer.compute(product.factors)
        names = [writer.name(f) for f in product.factors]
        count, width = len(names), product.indices.size
        shape = _FLAT if count == 1 else (True, True)
        weights = inputs.weights(s)
        matrix_of_factors = None if count == 1 else self._columns_of(product)
        if self.plan.streams.fields[product.field].sparse:
            names = [put("{0}*{1}", n, weights) for n in names]
            rows = [self._sparse_product(product, n) for n in names]
            listed = ", ".join(f"{{{i}}}" for i in range(count))
            v = rows[0] if count == 1 else put(f"array(({listed}))", *rows, shape=shape)
        else:
            matrix = inputs.data.columns(product.field, product.columns)
            if matrix_of_factors is not None:
                left = put(f"{matrix_of_factors}.T*{{0}}", weights)
            elif count > 1:
                listed = ", ".join(f"{{{i}}}" for i in range(count))
                left = put(f"array(({listed}))*{{{count}}}", *names, weights)
            else:
                left = put("{0}*{1}", names[0], weights)
            v = put("{0}.dot({1})", left, matrix, shape=shape, ufunc="dot" if count == 1 else None)
        if not _plain(product.scales):
            v = self.body.infix("*", v, inputs.constant(product.scales, scalar=False), shape=shape)
        targets = np.repeat(product.targets, width)
        indices = np.tile(product.indices, count)
        flat = v if count == 1 else put("{0}.ravel()", v)
        self.results.add(flat, self.pattern.derivatives(targets, indices), True)
        if self._wanted(product.targets):
            value = put("{0}.dot({1})", v, inputs.array_x(product.indices))
            self.results.add(value, self.pattern.values(product.targets), count > 1)

    def _sparse_product(self, product: ProductAverage, factor: str) -> str:
        inputs = self.inputs
        width = self.plan.streams.fields[product.field].width
        rows = inputs.data.sparse(product.field)
        columns = inputs.array(product.columns)
        return self.body.set(f"dot_sparse({{0}}, {rows}, {width}).take({columns})", factor)

    def _columns_of(self, product: ProductAverage) -> str | None:
        """All factors as one table, if they are columns of one field."""
        slots = [f.payload for f in product.factors if f.op == "d"]
        if len(slots) < len(product.factors) or len({s.field for s in slots}) > 1:
            return None
        columns = np.array([s.column for s in slots], dtype=np.intp)
        return self.inputs.data.columns(slots[0].field, columns)

    def _linear(self) -> None:
        """Values of the constant linear rows; their derivatives are part of ``base``."""
        rows, columns, coefs = self.plan.linear
        order = np.argsort(rows, kind="stable")
        targets = np.array(rows, dtype=np.intp)[order]
        indices = np.array(columns, dtype=np.intp)[order]
        skip = 0 if self.variant.objective else int(np.searchsorted(targets, 1))
        scales = [coefs[i] for i in order[skip:]]
        targets, indices = targets[skip:], indices[skip:]
        if targets.size > 16:
            k = self.inputs.constant(scales, scalar=False)
            unique, starts = np.unique(targets, return_index=True)
            total = self._weighted_rows(k, indices, starts)
            self.results.add(total, self.pattern.values(unique), True)
            return
        for t, j, coef in zip(targets.tolist(), indices.tolist(), scales, strict=True):
            k = self.inputs.constant([coef], scalar=True)
            text = f"{k}*{self.inputs.scalar_x(j)}"
            self.results.add(text, self.pattern.values(np.array([t])), False)


def _plain(scales: list[Coef]) -> bool:
    return all(k.__class__ is float and k == 1.0 for k in scales)
