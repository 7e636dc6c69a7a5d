r"""NumPy expressions for affine forms and for derivatives through them.

    forward    z_i = sum_e K_e W_{c(e)} x_{j(e)}       over the entries e of instance i
    backward   D_e = K_e u_i mean(p_i W_{c(e)})        the derivative with respect to x_{j(e)}

W are columns of the drawn rows (absent for constant coefficients); the adjoint of z_i was split
into a factor u that is the same for all rows and a factor p that is not. With W (B x k):

    one support                     z = W x             D = p W / B
    G supports, the same columns    Z = W X             D = P' W / B      (G x k)
    G supports in general           Z = reduceat(W o x) D = sum_b P o W / B
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..graph.block import AffineSlot, Ints
from .inputs import Inputs
from .statement import Statements

_VECTOR, _FLAT, _TABLE = (True, False), (False, True), (True, True)


@dataclass(eq=False)
class Adjoint:
    """number * u * p as names: unbatched and batched factor, with their shapes."""

    number: float = 1.0
    u: str | None = None
    u_grouped: bool = False
    p: str | None = None
    p_grouped: bool = False


class AffineCode:
    """Statements for the affine slots of the blocks of one stream."""

    def __init__(self, inputs: Inputs, stream: int, body: Statements):
        self._in = inputs
        self._stream = stream
        self._body = body

    # -- forward ----------------------------------------------------------------------------------

    def forward(self, slot: AffineSlot, name: str) -> None:
        """Sets ``name`` to the values of the form."""
        inputs, put = self._in, self._body.set
        if slot.field is None and slot.single:
            x = inputs.array_x(slot.indices)
            if slot.plain:
                put("float(add_reduce({0}))", x, name=name)
            else:
                put("float({0}.dot({1}))", self._scales(slot), x, name=name)
            return
        x = inputs.array_x(slot.indices)
        if not slot.plain:
            k = self._scales(slot)
            x = inputs.once(("kx", x, k), "{0}*{1}", k, x)
        starts = inputs.array(slot.pointers[:-1])
        if slot.field is None:
            put(f"reduceat({{0}}, {starts})", x, shape=_FLAT, name=name)
        elif slot.single:
            self._product(slot, x, name)
        elif (shared := slot.shared_columns) is not None:
            matrix = inputs.data.columns(slot.field, shared)
            form = f"{{0}}.dot({{1}}.reshape(-1, {shared.size}).T)"
            put(form, matrix, x, shape=_TABLE, name=name)
        else:
            matrix = inputs.data.columns(slot.field, slot.columns)
            put(f"reduceat({{0}}*{{1}}, {starts}, 1)", matrix, x, shape=_TABLE, name=name)

    def _scales(self, slot: AffineSlot) -> str:
        return self._in.constant(slot.scales, scalar=False)

    def _product(self, slot: AffineSlot, x: str, name: str) -> None:
        inputs, put = self._in, self._body.set
        assert slot.field is not None
        info = inputs.plan.streams.fields[slot.field]
        if not info.sparse:
            matrix = inputs.data.columns(slot.field, slot.columns)
            put("{0}.dot({1})", matrix, x, shape=_VECTOR, name=name)
            return
        if not np.array_equal(slot.columns, np.arange(info.width)):
            columns = inputs.array(slot.columns)
            x = put(f"spread({{0}}, {columns}, {info.width})", x)
        rows = inputs.data.sparse(slot.field)
        put(f"sparse_dot({rows}, {{0}})", x, shape=_VECTOR, name=name)

    # -- backward ---------------------------------------------------------------------------------

    def backward(self, slot: AffineSlot, e: Adjoint, size: int) -> str:
        """The derivatives with respect to all entries, flat; ``size`` is G (0: not grouped)."""
        put = self._body.set
        table = False
        if slot.field is None:
            name, table = self._constant(slot, e, size)
        else:
            name, table = self._random(slot, e, size)
        if not slot.plain:
            name = self._times(name, self._scales(slot), _TABLE if table else _FLAT)
        return put("{0}.ravel()", name) if table else name

    def _times(self, name: str, factor: str, shape: tuple[bool, bool] | None) -> str:
        return self._body.infix("*", name, factor, shape=shape)

    def _constant(self, slot: AffineSlot, e: Adjoint, size: int) -> tuple[str, bool]:
        """Constant coefficients: the (mean) adjoint of each entry's instance."""
        assert e.p is None
        inputs, put = self._in, self._body.set
        ones = inputs.array(np.ones(slot.indices.size))
        u = repr(e.number)
        if e.u is not None:
            u = e.u if e.number == 1.0 else put(f"{e.number!r}*{{0}}", e.u)
        if not slot.single and e.u_grouped:
            return put(f"{{0}}.take({inputs.array(slot.owners)})", u, shape=_FLAT), False
        if size and slot.single:
            if not e.u_grouped:
                u = put(f"{{0}}*{inputs.array(np.ones(size))}", u)
            return put(f"{{0}}[:, None]*{ones}", u, shape=_TABLE), True
        return put(f"{{0}}*{ones}", u, shape=_FLAT), False

    def _random(self, slot: AffineSlot, e: Adjoint, size: int) -> tuple[str, bool]:
        """Random coefficients: means of the adjoint times columns."""
        inputs = self._in
        field = slot.field
        assert field is not None
        shared = slot.columns if slot.single else slot.shared_columns
        table = bool(size) and shared is not None
        shape = _TABLE if table and e.p_grouped else _FLAT
        if shared is None:
            name = self._entrywise(slot, e)
        elif e.p is None:
            name = inputs.data.mean_of_columns(field, shared)
        elif e.p_grouped:
            matrix = inputs.data.columns(field, shared)
            name = self._body.set("{0}.T.dot({1})", self._weighted(e), matrix, shape=shape)
        else:
            name = self._vector_product(field, shared, self._weighted(e))
        if e.number == -1.0:
            name = self._body.set("-{0}", name, shape=shape, ufunc="negative")
        elif e.number != 1.0:
            name = self._times(name, repr(e.number), shape)
        if e.u_grouped:
            assert e.u is not None
            if table:
                name = self._body.infix("*", name, f"{e.u}[:, None]")
            else:
                owners = inputs.array(slot.owners)
                name = self._body.set(f"{{0}}*{{1}}.take({owners})", name, e.u, shape=_FLAT)
        elif e.u is not None:
            name = self._times(name, e.u, shape)
        if table and not (e.u_grouped or e.p_grouped):
            name = self._body.infix("*", name, inputs.array(np.ones((size, 1))))
        return name, table

    def _weighted(self, e: Adjoint) -> str:
        """p times the weights of the rows (cheaper than times a float, and fit for any weights)."""
        assert e.p is not None
        weights = self._in.weights(self._stream)
        if e.p_grouped:
            return self._body.infix("*", e.p, f"{weights}[:, None]", shape=_TABLE)
        return self._body.infix("*", e.p, weights, shape=_VECTOR)

    def _vector_product(self, field: int, columns: Ints, p: str) -> str:
        inputs, put = self._in, self._body.set
        info = inputs.plan.streams.fields[field]
        if not info.sparse:
            matrix = inputs.data.columns(field, columns)
            return put("{0}.dot({1})", p, matrix, shape=_FLAT, ufunc="dot")
        rows = inputs.data.sparse(field)
        name = put(f"dot_sparse({{0}}, {rows}, {info.width})", p, shape=_FLAT)
        if np.array_equal(columns, np.arange(info.width)):
            return name
        return put(f"{{0}}.take({inputs.array(columns)})", name, shape=_FLAT)

    def _entrywise(self, slot: AffineSlot, e: Adjoint) -> str:
        inputs, put = self._in, self._body.set
        assert slot.field is not None
        if e.p is None:
            return inputs.data.mean_of_columns(slot.field, slot.columns)
        matrix = inputs.data.columns(slot.field, slot.columns)
        p = self._weighted(e)
        if not e.p_grouped:
            return put("{0}.dot({1})", p, matrix, shape=_FLAT, ufunc="dot")
        owners = inputs.array(slot.owners)
        form = f"einsum('be,be->e', {{0}}.take({owners}, 1), {{1}})"
        return put(form, p, matrix, shape=_FLAT)
