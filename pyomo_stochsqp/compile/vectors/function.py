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

from ..graph.block import Block
from ..graph.cost import READ, Cost
from ..graph.layout import Pattern, entries, inner_entries
from ..plan import Plan, StreamPlan
from . import kernels
from .block_code import BlockWriter
from .inputs import Inputs
from .linear_code import LinearCode
from .namespace import Space
from .output import Results
from .statement import Statements, scheduled, written

#: (x, batches) -> (out, a number that is finite only if all of out is)
Evaluate = Callable[[NDArray[np.float64], Any], tuple[NDArray[np.float64], float]]

FUNCTIONS: dict[str, Any] = {
    **{f"a_{name}": f for name, f in kernels.ARRAY_FUNCTIONS.items()},
    **{f"s_{name}": f for name, f in kernels.SCALAR_FUNCTIONS.items()},
    # numbers as Python writes them
    "inf": np.inf,
    "nan": np.nan,
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
        self.linear = LinearCode(self.inputs, self.body, self.results, pattern, variant.objective)

    def lines(self) -> list[str]:
        for part in self.plan.parts:
            if part.stream not in self.variant.parts:
                continue
            writers = [self._block(block) for block in part.blocks]
            for average in part.averages:
                self.linear.average(average)
            for product in part.products:
                self.linear.product(product, writers[0])
            self._count(part, writers)
        if -1 in self.variant.parts:
            self.linear.constant_rows()
        opening, closing = self.results.lines(self.body)
        inputs = [*self.inputs.data.fetches(), *self.inputs.statements.items]
        preamble = self.inputs.preamble()
        statements = scheduled(inputs, self.body.items)
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
