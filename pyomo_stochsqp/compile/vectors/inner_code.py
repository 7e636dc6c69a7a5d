r"""NumPy statements for sums of many equal terms inside a nonlinear expression.

    forward    z_i = sum_k v_k                            over the members k of instance i
    backward   D_e = k_e u_i mean(p_i dv_k W_c(e))        for the entries e of member k

dv is the derivative of a member with respect to one of its leaves, k_e W_c(e) the leaf's own entry;
u and p are the factors of the adjoint of z (the same for all rows, or not). With T_e = k_e dv_k W_c
for all entries, (E,) or (B, E):

    one instance                            D = u p T / B
    every instance has its own members      D = u_i(e) sum_b p_i(e) T_e / B
    all instances share the members         D = u_i sum_b p_i T_e / B         (G x E)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..graph.block import InnerSlot
from ..graph.support import Support
from ..graph.values import Val
from .affine_code import Adjoint, AffineCode

if TYPE_CHECKING:
    from .block_code import BlockWriter

_FLAT, _VECTOR, _TABLE = (False, True), (True, False), (True, True)


class InnerCode:
    """Statements for one inner sum; ``members`` writes the values of its terms."""

    def __init__(self, slot: InnerSlot, members: BlockWriter):
        self.members = members
        self._slot = slot
        self._in = members.inputs
        self._body = members.body
        self._stream = slot.block.stream

    def forward(self, name: str) -> None:
        """Sets ``name`` to the sums."""
        slot, put = self._slot, self._body.set
        self.members.compute([slot.value])
        values = self.members.name(slot.value)
        starts = self._in.array(slot.pointers[:-1])
        if slot.value.batched and slot.single:
            ones = self._in.array(np.ones(slot.block.size))
            put(f"{{0}}.dot({ones})", values, shape=_VECTOR, name=name)
        elif slot.value.batched:
            put(f"reduceat({{0}}, {starts}, 1)", values, shape=_TABLE, name=name)
        elif slot.single:
            put("float(add_reduce({0}))", values, name=name)
        else:
            put(f"reduceat({{0}}, {starts})", values, shape=_FLAT, name=name)

    def backward(self, leaf: Val, e: Adjoint, size: int) -> str:
        """Derivatives through one leaf of the members; ``size`` is G (0: not grouped)."""
        slot = self._slot
        d = slot.gradient[leaf]
        self.members.compute([d])
        if e.p is not None or d.batched or leaf.batched:
            name = self._random(leaf, d, e, size)
        else:
            name = self._entry_table(leaf, d)
        spread = bool(size) and slot.single
        grouped = e.p_grouped and spread
        name = self._outside(leaf, e, name, spread, grouped, size)
        return self._body.set("{0}.ravel()", name) if spread else name

    # -- the derivative of every entry ------------------------------------------------------------

    def _entry_table(self, leaf: Val, d: Val) -> str:
        """T: the derivative of the members with respect to every entry of a leaf."""
        body, support = self._body, Support.of(leaf, self._slot.block.size)
        batched = d.batched or leaf.batched
        shape = _TABLE if batched else _FLAT
        name = self.members.name(d)
        if d.grouped and leaf.op != "x":
            axis = ", 1" if d.batched else ""
            name = body.set(
                f"{{0}}.take({self._in.array(support.owners)}{axis})", name, shape=shape
            )
        elif not d.grouped:
            column = "[:, None]" if d.batched else ""
            ones = self._in.array(np.ones(support.indices.size))
            name = body.set(f"{{0}}{column}*{ones}", name, shape=shape)
        if support.field is not None and support.columns is not None:
            columns = self._in.data.columns(support.field, support.columns)
            name = body.infix("*", name, columns, shape=shape if d.batched else None)
        if any(k.__class__ is not float or k != 1.0 for k in support.scales):
            scales = self._in.constant(support.scales, scalar=False)
            name = body.infix("*", name, scales, shape=shape)
        return name

    # -- means ------------------------------------------------------------------------------------

    def _random(self, leaf: Val, d: Val, e: Adjoint, size: int) -> str:
        """mean(p T), by a matrix product where there is one."""
        body, put, slot = self._body, self._body.set, self._slot
        weights = self._in.weights(self._stream)
        if not size and leaf.op == "affine" and leaf.batched:
            return self._matrix_product(leaf, d, e)
        table = self._entry_table(leaf, d)
        batched = d.batched or leaf.batched
        if e.p is None:
            return put("{0}.dot({1})", weights, table, shape=_FLAT)
        if not e.p_grouped:
            p = put("{0}*{1}", e.p, weights)
            if batched:
                return put("{0}.dot({1})", p, table, shape=_FLAT)
            return put("float({0}.sum())*{1}", p, table, shape=_FLAT)
        p = body.infix("*", e.p, f"{weights}[:, None]")
        if slot.single:
            if not batched:
                return put("{0}.sum(0)[:, None]*{1}", p, table)
            return put("{0}.T.dot({1})", p, table)
        owners = slot.owners[Support.of(leaf, slot.block.size).owners]
        if not batched:
            return put(f"{{0}}.sum(0).take({self._in.array(owners)})*{{1}}", p, table, shape=_FLAT)
        form = f"einsum('be,be->e', {{0}}.take({self._in.array(owners)}, 1), {{1}})"
        return put(form, p, table, shape=_FLAT)

    def _matrix_product(self, leaf: Val, d: Val, e: Adjoint) -> str:
        """Members that are functions of affine forms (a hidden layer): P' W without a table."""
        body, name = self._body, self.members.name(d)
        p = Adjoint(p=name, p_grouped=d.grouped) if d.batched else Adjoint(u=name, u_grouped=True)
        if e.p is not None:
            if d.batched:
                column = "[:, None]" if d.grouped else ""
                p.p = body.infix("*", name, f"{e.p}{column}")
            else:
                p.p = e.p
        code = AffineCode(self._in, self._stream, body)
        return code.backward(leaf.payload, p, self._slot.block.size)

    def _outside(
        self, leaf: Val, e: Adjoint, name: str, spread: bool, grouped: bool, size: int
    ) -> str:
        """The factors that are the same for all rows; (G, E) if all instances share the members."""
        body = self._body
        if e.number != 1.0:
            name = body.infix("*", name, repr(e.number))
        if spread:
            if e.u_grouped:
                return body.set("{0}[:, None]*{1}", str(e.u), name)
            if e.u is not None:
                name = body.infix("*", name, e.u)
            return name if grouped else body.infix("*", name, self._in.array(np.ones((size, 1))))
        if e.u_grouped:
            owners = self._slot.owners[Support.of(leaf, self._slot.block.size).owners]
            return body.set(f"{{0}}*{{1}}.take({self._in.array(owners)})", name, str(e.u))
        return name if e.u is None else body.infix("*", name, e.u)
