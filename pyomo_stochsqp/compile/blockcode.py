r"""NumPy statements for the values of one block.

Shapes:              not grouped        grouped
    not batched      Python float       (G,)
    batched          (B,)               (B, G)

so that everything that is the same for all rows costs a float operation, and what is the same for
all instances one vector operation. A mean of a product is an inner product,

    mean(a b) = a . b / B,

and a derivative through an affine form z = W x is the vector-matrix product  adjoint . W / B.
"""

from __future__ import annotations

from .access import Inputs
from .affinecode import Adjoint, AffineCode
from .block import Block, DataSlot, VariableSlot
from .graph import Val

_PRODUCTS = ("mul", "mix", "raise")


class BlockWriter:
    """Writes the statements of one block."""

    def __init__(self, block: Block, number: int, inputs: Inputs, lines: list[str]):
        self.block = block
        self.graph = block.graph
        self.inputs = inputs
        self.lines = lines
        self._prefix = f"t{number}_"
        self._names: dict[Val, str] = {}
        self._affine = AffineCode(inputs, block.stream)

    # -- what has to be computed ------------------------------------------------------------------

    def compute(self, outputs: list[Val]) -> None:
        """Statements for the given values and all they need, in order of evaluation."""
        needed: set[Val] = set()
        stack = list(outputs)
        while stack:
            v = stack.pop()
            if v in needed or v in self._names:
                continue
            needed.add(v)
            stack.extend(self._operands(v))
        for v in sorted(needed, key=lambda v: v.index):
            self._write(v)

    def _operands(self, v: Val) -> tuple[Val, ...]:
        if v.op == "add":
            # a + (-b) is written a - b.
            return tuple(
                a.args[0] if a.op == "lit" and a.payload == -1.0 else a for a in v.args
            )
        if v.op == "mean":
            p = v.args[0]
            if p.op == "d":
                return ()
            return p.args if p.op == "mul" and not self.inputs.weighted else v.args
        return v.args

    def name(self, v: Val) -> str:
        """The name of a computed value."""
        return repr(v.payload) if v.op == "num" else self._names[v]

    def _set(self, v: Val, text: str) -> None:
        name = f"{self._prefix}{v.index}"
        self.lines.append(f"{name} = {text}")
        self._names[v] = name

    def _operand(self, a: Val, v: Val) -> str:
        """An operand of v, shaped to meet the others."""
        name = self.name(a)
        if a.op == "num":
            return f"({name})" if a.payload < 0 else name
        if a.batched and not a.grouped and v.grouped:
            return f"{name}[:, None]"
        return name

    # -- values -----------------------------------------------------------------------------------

    def _write(self, v: Val) -> None:
        op = v.op
        if op == "num":
            return
        if op == "x":
            self._variable(v, v.payload)
        elif op == "k":
            self._names[v] = self.inputs.constant(v.payload.values, scalar=not v.grouped)
        elif op == "d":
            self._names[v] = self._data(v.payload)
        elif op == "share":
            self.inputs.stream(self.block.stream)
            self._names[v] = f"h{self.block.stream}"
        elif op == "affine":
            self._set(v, self._affine.forward(v.payload))
        elif op == "ell":
            self._set(v, self._ell_value(v.payload))
        elif op == "mean":
            self._mean(v, v.args[0])
        elif op == "lit":
            a = self._operand(v.args[0], v)
            self._set(v, f"-{a}" if v.payload == -1.0 else f"{v.payload!r}*{a}")
        elif op == "add":
            self._sum(v)
        elif op in _PRODUCTS:
            a, b = (self._operand(a, v) for a in v.args)
            self._set(v, f"{a}*{b}")
        elif op == "recip":
            self._set(v, f"1.0/{self._operand(v.args[0], v)}")
        else:
            scalar = not (v.batched or v.grouped)
            args = ", ".join(self._operand(a, v) for a in v.args)
            self._set(v, f"{'s_' if scalar else 'a_'}{op}({args})")

    def _variable(self, v: Val, slot: VariableSlot) -> None:
        if isinstance(slot.index, int):
            self._names[v] = self.inputs.scalar_x(slot.index)
        else:
            self._names[v] = self.inputs.array_x(slot.index)

    def _data(self, slot: DataSlot) -> str:
        if isinstance(slot.column, int):
            return self.inputs.column(slot.field, slot.column)
        return self.inputs.columns(slot.field, slot.column)

    def _sum(self, v: Val) -> None:
        text = ""
        for a in v.args:
            sign = "+"
            if a.op == "lit" and a.payload == -1.0:
                sign, a = "-", a.args[0]
            name = self._operand(a, v)
            text = f"{text}{sign}{name}" if text or sign == "-" else name
        self._set(v, text)

    def _mean(self, v: Val, p: Val) -> None:
        inputs, s = self.inputs, self.block.stream
        scale = "" if inputs.weighted else f"*{inputs.inverse_size(s)}"
        if p.op == "d":
            column = p.payload.column
            if isinstance(column, int):
                self._names[v] = inputs.mean_of_column(p.payload.field, column)
            else:
                self._names[v] = inputs.mean_of_columns(p.payload.field, column)
            return
        ones = inputs.ones(s)
        if p.op != "mul" or inputs.weighted:
            name = self.name(p)
            text = f"{ones}.dot({name})"
        else:
            a, b = p.args
            if a.grouped and b.grouped:
                text = f"einsum('bg,bg->g', {self.name(a)}, {self.name(b)})"
            else:
                if a.grouped:
                    a, b = b, a
                text = f"{self.name(a)}.dot({self.name(b)})"
        self._set(v, text + scale)

    # -- derivatives through leaves that differ from row to row ------------------------------------

    def adjoint_operands(self, e: Val) -> list[Val]:
        """The values behind :meth:`adjoint` of e."""
        e = e.args[0] if e.op == "lit" else e
        if e.op == "num":
            return []
        return list(e.args) if e.op == "mix" else [e]

    def adjoint(self, e: Val) -> Adjoint:
        """A derivative as number * unbatched * batched."""
        result = Adjoint()
        if e.op == "lit":
            result.number, e = e.payload, e.args[0]
        if e.op == "num":
            result.number = e.payload
            return result
        for a in e.args if e.op == "mix" else (e,):
            if a.batched:
                result.p, result.p_grouped = self.name(a), a.grouped
            else:
                result.u, result.u_grouped = self.name(a), a.grouped
        return result

    def affine_gradient(self, leaf: Val, e: Val) -> str:
        """Name of the flat array of derivatives with respect to the entries of an affine leaf."""
        return self._temporary(self._affine.backward(leaf.payload, self.adjoint(e), self.block.size))

    def ell_gradient(self, leaf: Val, e: Val) -> tuple[str, str]:
        """(rows, derivatives (B, k)) with respect to the variables of the drawn scenarios."""
        s = self.block.stream
        adjoint = self.adjoint(e)
        inputs = self.inputs
        factors = [] if adjoint.number == 1.0 else [repr(adjoint.number)]
        if not inputs.weighted:
            factors.append(inputs.inverse_size(s))
        if adjoint.u is not None:
            factors.append(adjoint.u)
        vectors = [v for v in (adjoint.p, inputs.ones(s) if inputs.weighted else None) if v]
        text = "*".join(factors + vectors)
        coefs = self._ell_coefs(leaf.payload)
        text = f"({text})[:, None]*{coefs}" if vectors else f"({text})*{coefs}"
        return inputs.rows(s), self._temporary(text)

    def _ell_coefs(self, number: int) -> str:
        inputs = self.inputs
        rows = inputs.rows(self.block.stream)
        name = inputs.space.shared(("coefs", number), inputs.plan.streams.ells[number].coefs)
        return inputs.line(("ellcoef", number), "e", f"{name}[{rows}]")

    def _ell_value(self, number: int) -> str:
        inputs = self.inputs
        ell = inputs.plan.streams.ells[number]
        rows = inputs.rows(self.block.stream)
        index = inputs.line(("ellindex", number), "e", f"{inputs.array(ell.indices)}[{rows}]")
        return f"einsum('bk,bk->b', x.take({index}), {self._ell_coefs(number)})"

    def _temporary(self, text: str) -> str:
        name = f"{self._prefix}g{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        return name
