r"""NumPy statements for the linear parts of functions.

constant rows    F_t += sum_j A_tj x_j                  derivatives are constants of ``out``
averages         F_t += sum_e k_e mean(W_c(e)) x_e      the means are the derivatives
products         F_t += sum_e k_e mean(f W_c(e)) x_e    one matrix product for all factors f
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra.node import Coef
from ..graph.layout import Pattern
from ..plan import ColumnAverage, ProductAverage
from .block_code import BlockWriter
from .inputs import Inputs
from .output import Results
from .statement import Statements

#: shape of an array with one entry per derivative
_FLAT = (False, True)


class LinearCode:
    """Writes the linear parts; values of the objective only if ``objective``."""

    def __init__(
        self,
        inputs: Inputs,
        body: Statements,
        results: Results,
        pattern: Pattern,
        objective: bool,
    ):
        self.inputs = inputs
        self.body = body
        self.results = results
        self.pattern = pattern
        self.objective = objective

    def average(self, average: ColumnAverage) -> None:
        """Linear rows whose coefficients are means of columns."""
        inputs = self.inputs
        v = inputs.data.mean_of_columns(average.field, average.columns)
        if not _plain(average.scales):
            scales = inputs.constant(average.scales, scalar=False)
            v = self.body.infix("*", v, scales, shape=_FLAT)
        self.results.add(v, self.pattern.derivatives(average.targets, average.indices), True)
        self._row_sums(v, average.targets, average.indices)

    def _row_sums(self, v: str, targets: Any, indices: Any) -> None:
        """Adds sum_e v_e x_e over the entries of each function (entries sorted by function)."""
        skip = 0 if self.objective else int(np.searchsorted(targets, 1))
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

    def product(self, product: ProductAverage, writer: BlockWriter) -> None:
        """Linear rows whose coefficients are means of a factor times columns."""
        inputs, put, s = self.inputs, self.body.set, writer.block.stream
        writer.compute(product.factors)
        names = [writer.name(f) for f in product.factors]
        count, width = len(names), product.indices.size
        shape = _FLAT if count == 1 else (True, True)
        weights = inputs.weights(s)
        matrix_of_factors = None if count == 1 else self._columns_of(product)
        if self.inputs.plan.streams.fields[product.field].sparse:
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
        if self.objective or (product.targets > 0).any():
            value = put("{0}.dot({1})", v, inputs.array_x(product.indices))
            self.results.add(value, self.pattern.values(product.targets), count > 1)

    def _sparse_product(self, product: ProductAverage, factor: str) -> str:
        inputs = self.inputs
        width = self.inputs.plan.streams.fields[product.field].width
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

    def constant_rows(self) -> None:
        """Values of the constant linear rows; their derivatives are part of ``base``."""
        rows, columns, coefs = self.inputs.plan.linear
        order = np.argsort(rows, kind="stable")
        targets = np.array(rows, dtype=np.intp)[order]
        indices = np.array(columns, dtype=np.intp)[order]
        skip = 0 if self.objective else int(np.searchsorted(targets, 1))
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
