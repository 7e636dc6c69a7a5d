r"""NumPy expressions for affine forms and for derivatives through them.

    forward    z_i = sum_e K_e W_{c(e)} x_{j(e)}       over the entries e of instance i
    backward   D_e = K_e u_i mean(p_i W_{c(e)})        the derivative with respect to x_{j(e)}

W are columns of the drawn rows (absent for constant coefficients); the adjoint of z_i was split into
a factor u that is the same for all rows and a factor p that is not. With W (B x k):

    one support                     z = W x             D = p W / B
    G supports, the same columns    Z = W X             D = P' W / B      (G x k)
    G supports in general           Z = reduceat(W o x) D = sum_b P o W / B
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .access import Inputs
from .block import AffineSlot, Ints


@dataclass(eq=False)
class Adjoint:
    """c * u * p as names: number, unbatched and batched factor, with their shapes."""

    number: float = 1.0
    u: str | None = None
    u_grouped: bool = False
    p: str | None = None
    p_grouped: bool = False


class AffineCode:
    """Expressions for the affine slots of the blocks of one stream."""

    def __init__(self, inputs: Inputs, stream: int):
        self._in = inputs
        self._stream = stream

    # -- forward ----------------------------------------------------------------------------------

    def forward(self, slot: AffineSlot) -> str:
        inputs = self._in
        if slot.field is None and slot.single:
            x = inputs.array_x(slot.indices)
            if slot.plain:
                return f"float(add_reduce({x}))"
            return f"float({inputs.constant(slot.scales, scalar=False)}.dot({x}))"
        x = self._scaled_x(slot)
        if slot.field is None:
            return f"reduceat({x}, {inputs.array(slot.pointers[:-1])})"
        if slot.single:
            return self._product(slot, x)
        shared = slot.shared_columns
        if shared is not None:
            matrix = inputs.columns(slot.field, shared)
            return f"{matrix}.dot({x}.reshape(-1, {shared.size}).T)"
        matrix = inputs.columns(slot.field, slot.columns)
        return f"reduceat({matrix}*{x}, {inputs.array(slot.pointers[:-1])}, 1)"

    def _scaled_x(self, slot: AffineSlot) -> str:
        x = self._in.array_x(slot.indices)
        if slot.plain:
            return x
        k = self._in.constant(slot.scales, scalar=False)
        return self._in.line(("kx", x, k), "v", f"{k}*{x}")

    def _product(self, slot: AffineSlot, x: str) -> str:
        inputs = self._in
        assert slot.field is not None
        info = inputs.plan.streams.fields[slot.field]
        if not info.sparse:
            return f"{inputs.columns(slot.field, slot.columns)}.dot({x})"
        if not np.array_equal(slot.columns, np.arange(info.width)):
            x = f"spread({x}, {inputs.array(slot.columns)}, {info.width})"
        return f"sparse_dot({inputs.sparse_field(slot.field)}, {x})"

    # -- backward ---------------------------------------------------------------------------------

    def backward(self, slot: AffineSlot, e: Adjoint, size: int) -> str:
        """The derivatives with respect to all entries, flat; ``size`` is G (0: not grouped)."""
        if slot.field is None:
            text, table = self._constant(slot, e, size)
        else:
            text, table = self._random(slot, e, size)
        if not slot.plain:
            text = f"{text}*{self._in.constant(slot.scales, scalar=False)}"
        return f"({text}).ravel()" if table else text

    def _constant(self, slot: AffineSlot, e: Adjoint, size: int) -> tuple[str, bool]:
        assert e.p is None
        u = f"{e.number!r}*{e.u}" if e.u is not None else repr(e.number)
        if not slot.single and e.u_grouped:
            return f"({u}).take({self._in.array(slot.owners)})", False
        ones = np.ones(slot.indices.size)
        if size and slot.single:
            u = f"({u})[:, None]" if e.u_grouped else f"{u}*{self._in.array(np.ones((size, 1)))}"
            return f"{u}*{self._in.array(ones)}", True
        return f"{u}*{self._in.array(ones)}", False

    def _random(self, slot: AffineSlot, e: Adjoint, size: int) -> tuple[str, bool]:
        inputs = self._in
        field = slot.field
        assert field is not None
        shared = slot.columns if slot.single else slot.shared_columns
        outside = [] if e.number == 1.0 else [repr(e.number)]
        table = bool(size) and shared is not None
        if shared is None:
            text = self._entrywise(slot, e)
        elif e.p is None:
            text = inputs.mean_of_columns(field, shared)
        elif e.p_grouped:
            text = f"{self._weighted(e)}.T.dot({inputs.columns(field, shared)})"
        else:
            text = self._vector_product(field, shared, self._weighted(e))
        if not inputs.weighted and e.p is not None:
            outside.append(inputs.inverse_size(self._stream))
        if e.u is not None and not e.u_grouped:
            outside.append(e.u)
        if outside:
            text = f"{text}*({'*'.join(outside)})"
        if e.u_grouped:
            text += f"*{e.u}[:, None]" if table else f"*{e.u}.take({inputs.array(slot.owners)})"
        elif table and not e.p_grouped:
            text += f"*{inputs.array(np.ones((size, 1)))}"
        return text, table

    def _weighted(self, e: Adjoint) -> str:
        assert e.p is not None
        if not self._in.weighted:
            return e.p
        weights = self._in.ones(self._stream)
        return f"({e.p}*{weights}[:, None])" if e.p_grouped else f"({e.p}*{weights})"

    def _vector_product(self, field: int, columns: Ints, p: str) -> str:
        inputs = self._in
        info = inputs.plan.streams.fields[field]
        if not info.sparse:
            return f"{p}.dot({inputs.columns(field, columns)})"
        text = f"dot_sparse({p}, {inputs.sparse_field(field)}, {info.width})"
        if not np.array_equal(columns, np.arange(info.width)):
            text += f".take({inputs.array(columns)})"
        return text

    def _entrywise(self, slot: AffineSlot, e: Adjoint) -> str:
        inputs = self._in
        assert slot.field is not None
        if e.p is None:
            return inputs.mean_of_columns(slot.field, slot.columns)
        matrix = inputs.columns(slot.field, slot.columns)
        p = self._weighted(e)
        if not e.p_grouped:
            return f"{p}.dot({matrix})"
        owners = inputs.array(slot.owners)
        return f"einsum('be,be->e', {p}.take({owners}, 1), {matrix})"
