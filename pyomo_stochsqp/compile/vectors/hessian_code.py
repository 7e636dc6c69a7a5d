r"""NumPy code for the Hessian of the Lagrangian (see graph/hessian_plan.py).

    def hessian(x, y, batches): ...   ->   values of the upper triangle

with y[0] = 1 for the objective, y[i] the multiplier of constraint i. For one affine form z = W x of
a single block the contribution is W' diag(h w) W; groups are treated entry by entry.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..algebra.node import Coef
from ..graph.block import Block, Ints
from ..graph.hessian_plan import HessianPlan, Pairs, Second, pairs, row_variables
from ..graph.support import Support
from ..graph.values import Val
from ..plan import Plan
from .block_code import BlockWriter
from .inputs import Inputs
from .namespace import Space
from .output import Results
from .statement import Statements, scheduled, written

#: (x, y with a leading one, batches) -> values
Hessian = Callable[[NDArray[np.float64], NDArray[np.float64], Any], NDArray[np.float64]]

_FLAT = (False, True)


def generate_hessian(plan: Plan, second: HessianPlan, space: Space, weighted: bool) -> Hessian:
    """Writes and compiles the code."""
    lines = _Function(plan, second, space, weighted).lines()
    name = f"hessian_{len(space.names)}"
    text = f"def {name}(x, y, batches):\n" + "".join(f"    {line}\n" for line in lines)
    exec(compile(text, f"<stochsqp {name}>", "exec"), space.names)
    return space.names[name]


class _Function:
    def __init__(self, plan: Plan, second: HessianPlan, space: Space, weighted: bool):
        self.plan = plan
        self.second = second
        self.inputs = Inputs(plan, space, weighted)
        self.body = Statements("p")
        self.results = Results(second.size, self.inputs, base=False)

    def lines(self) -> list[str]:
        for block, seconds in self.second.blocks:
            writer = BlockWriter(block, self.inputs, self.body)
            needed: list[Val] = []
            for s in seconds:
                per_row = s.leaf.batched or s.other.batched
                needed += writer.adjoint_operands(s.value) if per_row else [s.value]
            writer.compute(needed)
            for s in seconds:
                self._add(writer, block, s)
        opening, closing = self.results.lines(self.body)
        inputs = [*self.inputs.data.fetches(), *self.inputs.statements.items]
        preamble = self.inputs.preamble()
        statements = scheduled(inputs, self.body.items)
        middle, closing = written(statements, self.results.places, self.results.kept, closing)
        return [*opening, *preamble, *middle, *closing, "return out"]

    def _add(self, writer: BlockWriter, block: Block, s: Second) -> None:
        if "ell" in (s.leaf.op, s.other.op):
            self._rows(writer, s)
            return
        left = Support.of(s.leaf, block.size)
        right = left if s.other is s.leaf else Support.of(s.other, block.size)
        p = pairs(left, right)
        if not (s.leaf.batched or s.other.batched):
            name = writer.name(s.value)
            if s.value.grouped:
                name = self.body.set(
                    f"{{0}}.take({self.inputs.array(p.owners)})", name, shape=_FLAT
                )
            self._finish(name, left, right, p, array=s.value.grouped)
        elif s.leaf.batched and s.other.batched and not block.size:
            self._product(writer, s, left, right, p)
        else:
            self._entrywise(writer, s, left, right, p)

    def _finish(
        self, name: str, left: Support, right: Support, p: Pairs, array: bool = True
    ) -> None:
        """Constant factors of the entries, then the places of the pairs."""
        for factors in (
            _chosen(left.scales, p.left),
            _chosen(right.scales, p.right),
            p.counts.tolist(),
        ):
            if any(k.__class__ is not float or k != 1.0 for k in factors):
                constant = self.inputs.constant(factors, scalar=False)
                name = self.body.infix("*", name, constant, shape=_FLAT)
                array = True
        positions = self.second.positions(left.indices[p.left], right.indices[p.right])
        self.results.add(name, positions, array)

    def _product(
        self, writer: BlockWriter, s: Second, left: Support, right: Support, p: Pairs
    ) -> None:
        """W' diag(h w) W, of which the wanted pairs are taken."""
        put, data = self.body.set, self.inputs.data
        adjoint = writer.adjoint(s.value)
        weights = self.inputs.weights(writer.block.stream)
        if adjoint.p is not None:
            weights = put("{0}*{1}", adjoint.p, weights)
        assert left.field is not None and right.field is not None
        assert left.columns is not None and right.columns is not None
        a = data.columns(left.field, left.columns)
        b = data.columns(right.field, right.columns)
        flat = self.inputs.array(p.left * right.indices.size + p.right)
        name = put(f"({{0}}*{{1}}[:, None]).T.dot({{2}}).take({flat})", a, weights, b, shape=_FLAT)
        self._finish(self._outside(adjoint, name, p), left, right, p)

    def _entrywise(
        self, writer: BlockWriter, s: Second, left: Support, right: Support, p: Pairs
    ) -> None:
        """mean(h W_c W_c') for every pair, as one sum over the rows."""
        put, inputs = self.body.set, self.inputs
        adjoint = writer.adjoint(s.value)
        operands, shapes = [inputs.weights(writer.block.stream)], ["b"]
        if adjoint.p is not None:
            name = adjoint.p
            if adjoint.p_grouped:
                name = put(f"{{0}}.take({inputs.array(p.owners)}, 1)", name)
            operands.append(name)
            shapes.append("be" if adjoint.p_grouped else "b")
        for support, chosen in ((left, p.left), (right, p.right)):
            if support.field is not None and support.columns is not None:
                operands.append(inputs.data.columns(support.field, support.columns[chosen]))
                shapes.append("be")
        arguments = ", ".join(f"{{{i}}}" for i in range(len(operands)))
        name = put(f"einsum('{','.join(shapes)}->e', {arguments})", *operands, shape=_FLAT)
        self._finish(self._outside(adjoint, name, p), left, right, p)

    def _outside(self, adjoint: Any, name: str, p: Pairs) -> str:
        """The factors of h that are the same for all rows."""
        if adjoint.number != 1.0:
            name = self.body.infix("*", name, repr(adjoint.number), shape=_FLAT)
        if adjoint.u is not None:
            take = f".take({self.inputs.array(p.owners)})" if adjoint.u_grouped else ""
            name = self.body.set(f"{{0}}*{{1}}{take}", name, adjoint.u, shape=_FLAT)
        return name

    def _rows(self, writer: BlockWriter, s: Second) -> None:
        """Pairs with variables that differ from row to row."""
        put, inputs = self.body.set, self.inputs
        stream = writer.block.stream
        adjoint = writer.adjoint(s.value)
        weights = put(f"{adjoint.number!r}*{{0}}", inputs.weights(stream))
        for factor in (adjoint.u, adjoint.p):
            if factor is not None:
                weights = put("{0}*{1}", weights, factor)
        a, b = self._entries(writer, s.leaf), self._entries(writer, s.other)
        values = put("einsum('b,bi,bj->bij', {0}, {1}, {2})", weights, a, b)
        i, j, used = row_variables(self.plan.streams, s)
        place = np.where(used, self.second.positions(i, j), self.second.spare)
        twice = (i == j) & used
        if s.leaf is s.other:
            count = int(np.sqrt(i.shape[1]))
            twice &= ~np.eye(count, dtype=bool).ravel()
        rows = inputs.rows(stream)
        if twice.any():
            factors = inputs.array(np.where(twice, 2.0, 1.0))
            values = put(f"{{0}}.reshape(-1, {i.shape[1]})*{factors}[{rows}]", values)
        self.results.scatter(f"{inputs.array(place)}[{rows}]", values)

    def _entries(self, writer: BlockWriter, leaf: Val) -> str:
        """The factors of a leaf's entries in every row, (B, entries)."""
        put, inputs = self.body.set, self.inputs
        if leaf.op == "ell":
            return writer.ell_coefs(leaf.payload)
        support = Support.of(leaf, 0)
        scales = inputs.constant(support.scales, scalar=False)
        if support.field is not None and support.columns is not None:
            return put("{0}*{1}", inputs.data.columns(support.field, support.columns), scales)
        ones = f"{inputs.weights(writer.block.stream)}.size"
        return put(f"broadcast_to({{0}}, ({ones}, {support.indices.size}))", scales)


def _chosen(scales: list[Coef], places: Ints) -> list[Coef]:
    return [scales[i] for i in places.tolist()]
