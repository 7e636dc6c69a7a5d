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

from ..graph.block import Block
from ..graph.values import Val
from .affine_code import Adjoint, AffineCode
from .inner_code import InnerCode
from .inputs import Inputs
from .statement import UFUNCS, Statements

_PRODUCTS = ("mul", "mix", "raise")

#: Operands of one written-out sum.
LONGEST_SUM = 50


class BlockWriter:
    """Writes the statements of one block."""

    def __init__(self, block: Block, inputs: Inputs, body: Statements):
        self.block = block
        self.inputs = inputs
        self.body = body
        self._prefix = inputs.new_prefix()
        self._names: dict[Val, str] = {}
        #: all values for which statements were written
        self.computed: set[Val] = set()
        self._fused: set[Val] = set()
        self._inner: dict[Val, InnerCode] = {}
        self._affine = AffineCode(inputs, block.stream, body)

    # -- what has to be computed ------------------------------------------------------------------

    def compute(self, outputs: list[Val]) -> None:
        """Statements for the given values and all they need, in order of evaluation."""
        needed: set[Val] = set()
        stack = list(outputs)
        while stack:
            v = stack.pop()
            if v not in needed and v not in self._names:
                needed.add(v)
                stack.extend(self._operands(v))
        self.computed |= needed
        self._fused -= needed  # what was a divisor only may be needed by itself now
        self._fuse_divisions(needed, outputs)
        for v in sorted(needed, key=lambda v: v.index):
            if v not in self._fused:
                self._write(v)

    def _fuse_divisions(self, needed: set[Val], outputs: list[Val]) -> None:
        """a * (1/b) is written a/b where 1/b serves nothing else."""
        uses: dict[Val, list[Val]] = {v: [v] for v in outputs}
        for v in needed:
            for a in self._operands(v):
                if a.op == "recip":
                    uses.setdefault(a, []).append(v)
        for v in needed:
            if v.op == "recip" and v.batched and len(uses.get(v, [])) == 1:
                (user,) = uses[v]
                product = user.args[0] if user.op == "mean" else user
                if product.op == "mul" and sum(a.op == "recip" for a in product.args) == 1:
                    self._fused.add(v)

    def _operands(self, v: Val) -> tuple[Val, ...]:
        if v.op == "add":
            return tuple(_without_sign(a)[1] for a in v.args)
        if v.op == "mean":
            p = v.args[0]
            if p.op == "d":
                return ()
            return p.args if p.op == "mul" and not self.inputs.weighted else v.args
        return v.args

    def name(self, v: Val) -> str:
        """The name of a computed value."""
        return repr(v.payload) if v.op == "num" else self._names[v]

    def _operand(self, a: Val, v: Val) -> str:
        """An operand of v, shaped to meet the others."""
        if a.op == "num":
            return f"({a.payload!r})" if a.payload < 0 else repr(a.payload)
        return self.name(a) + ("[:, None]" if a.batched and not a.grouped and v.grouped else "")

    # -- values -----------------------------------------------------------------------------------

    def _write(self, v: Val) -> None:
        op, inputs = v.op, self.inputs
        if op == "num":
            return
        if op == "x":
            index = v.payload.index
            x = inputs.scalar_x(index) if isinstance(index, int) else inputs.array_x(index)
            self._names[v] = x
        elif op == "k":
            self._names[v] = inputs.constant(v.payload.values, scalar=not v.grouped)
        elif op == "d":
            field, column = v.payload.field, v.payload.column
            single = isinstance(column, int)
            self._names[v] = (inputs.data.column if single else inputs.data.columns)(field, column)
        elif op == "share":
            inputs.stream(self.block.stream)
            self._names[v] = f"h{self.block.stream}"
        elif op == "y":
            targets = v.payload.targets
            if v.grouped:
                self._names[v] = inputs.once(("y", v), f"y.take({inputs.array(targets)})")
            else:
                self._names[v] = inputs.once(("y", v), f"float(y[{int(targets[0])}])")
        elif op == "mean":
            self._mean(v, v.args[0])
        else:
            name = self._names[v] = f"{self._prefix}{v.index}"
            self._compute(v, name)

    def _compute(self, v: Val, name: str) -> None:
        op, put = v.op, self.body.set
        shape = (v.batched, v.grouped)
        scalar = not any(shape)
        if op == "affine":
            self._affine.forward(v.payload, name)
        elif op == "ell":
            self._ell(v.payload, name)
        elif op == "inner":
            self.inner(v).forward(name)
        elif op == "lit":
            a = self._operand(v.args[0], v)
            if v.payload == -1.0:
                put("-{0}", a, shape=shape, ufunc="negative", name=name)
            else:
                self.body.infix("*", repr(v.payload), a, shape=shape, name=name)
        elif op == "add":
            self._sum(v, name, scalar)
        elif op in _PRODUCTS:
            self._product(v, name)
        elif op == "recip":
            self.body.infix("/", "1.0", self._operand(v.args[0], v), shape=shape, name=name)
        else:
            function = f"{'s' if scalar else 'a'}_{op}"
            args = [self._operand(a, v) for a in v.args]
            form = f"{function}({', '.join(f'{{{i}}}' for i in range(len(args)))})"
            ufunc = function if op in UFUNCS else None
            put(form, *args, shape=shape, ufunc=ufunc, name=name)

    def _product(self, v: Val, name: str) -> None:
        a, b = v.args
        sign = "*"
        if a in self._fused:
            a, b = b, a
        if b in self._fused:
            sign, b = "/", b.args[0]
        shape = (v.batched, v.grouped)
        self.body.infix(sign, self._operand(a, v), self._operand(b, v), shape=shape, name=name)

    def _sum(self, v: Val, name: str, scalar: bool) -> None:
        terms = [_without_sign(a) for a in v.args]
        operands = [self._operand(a, v) for _, a in terms]
        # A positive term goes first, where there is one.
        first = next((i for i, (sign, _) in enumerate(terms) if sign == "+"), 0)
        terms.insert(0, terms.pop(first))
        operands.insert(0, operands.pop(first))
        if scalar or terms[0][0] == "-":
            form = "-{0}" if terms[0][0] == "-" else "{0}"
            # Not all in one statement: Python's parser nests with the number of operands.
            for start in range(0, len(terms), LONGEST_SUM):
                some = operands[start : start + LONGEST_SUM]
                signs = [sign for sign, _ in terms[start : start + LONGEST_SUM]]
                if start:
                    some, signs, form = [name, *some], ["+", *signs], "{0}"
                form += "".join(f"{s}{{{i}}}" for i, s in enumerate(signs) if i)
                self.body.set(form, *some, shape=(v.batched, v.grouped), name=name)
            return
        total, batched, grouped = operands[0], terms[0][1].batched, terms[0][1].grouped
        for i, (sign, a) in enumerate(terms[1:], start=1):
            batched, grouped = batched or a.batched, grouped or a.grouped
            last = i == len(terms) - 1
            part = name if last else f"{name}_{i}"
            shape = (batched, grouped)
            # (B, 1) + (B, 1) in a grouped block has no shape of its own.
            known = shape if last or v.grouped == grouped or not batched else None
            total = self.body.infix(sign, total, operands[i], shape=known, name=part)

    def _mean(self, v: Val, p: Val) -> None:
        inputs, put, s = self.inputs, self.body.set, self.block.stream
        if p.op == "d":
            column = p.payload.column
            if isinstance(column, int):
                self._names[v] = inputs.data.mean_of_column(p.payload.field, column)
            else:
                self._names[v] = inputs.data.mean_of_columns(p.payload.field, column)
            return
        name = self._names[v] = f"{self._prefix}{v.index}"
        shape = (False, v.grouped)
        divided = any(a in self._fused for a in p.args)
        if p.op != "mul" or inputs.weighted or divided:
            if divided and p not in self._names:
                self._names[p] = f"{self._prefix}{p.index}"
                self._product(p, self._names[p])
            weights, values = inputs.weights(s), self.name(p)
            put("{0}.dot({1})", weights, values, shape=shape, ufunc="dot", name=name)
            return
        scale = inputs.inverse_size(s)
        a, b = p.args
        if a.grouped and b.grouped:
            total = put("einsum('bg,bg->g', {0}, {1})", self.name(a), self.name(b), shape=shape)
        else:
            if a.grouped:
                a, b = b, a
            if not b.grouped:
                put(f"{{0}}.dot({{1}})*{scale}", self.name(a), self.name(b), name=name)
                return
            total = put("{0}.dot({1})", self.name(a), self.name(b), shape=shape)
        self.body.infix("*", total, scale, shape=shape, name=name)

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
        return self._affine.backward(leaf.payload, self.adjoint(e), self.block.size)

    def inner(self, leaf: Val) -> InnerCode:
        """The writer of an inner sum."""
        code = self._inner.get(leaf)
        if code is None:
            members = BlockWriter(leaf.payload.block, self.inputs, self.body)
            code = self._inner[leaf] = InnerCode(leaf.payload, members)
        return code

    def inner_sums(self) -> list[InnerCode]:
        return list(self._inner.values())

    def ell_gradient(self, leaf: Val, e: Val) -> str:
        """Derivatives (B, k) with respect to the variables of the drawn scenarios."""
        inputs, put, s = self.inputs, self.body.set, self.block.stream
        adjoint = self.adjoint(e)
        scalars = [repr(adjoint.number)]
        if adjoint.u is not None:
            scalars.append(adjoint.u)
        vector = put(f"{'*'.join(scalars)}*{{0}}", inputs.weights(s))
        if adjoint.p is not None:
            vector = put("{0}*{1}", vector, adjoint.p)
        return put("{0}[:, None]*{1}", vector, self.ell_coefs(leaf.payload))

    def ell_coefs(self, number: int) -> str:
        """The coefficients (B, k) of an ``ell`` in the drawn rows."""
        inputs = self.inputs
        rows = inputs.rows(self.block.stream)
        name = inputs.space.shared(("ell", number), inputs.plan.streams.ells[number].coefs)
        return inputs.once(("ell coefs", number), f"{name}[{rows}]")

    def _ell(self, number: int, name: str) -> None:
        inputs = self.inputs
        indices = inputs.array(inputs.plan.streams.ells[number].indices)
        rows = inputs.rows(self.block.stream)
        taken = inputs.once(("ell x", number), f"x.take({indices}[{rows}])")
        form = "einsum('bk,bk->b', {0}, {1})"
        self.body.set(form, taken, self.ell_coefs(number), shape=(True, False), name=name)


def _without_sign(a: Val) -> tuple[str, Val]:
    """A summand as (sign, value): a + (-b) is written a - b."""
    return ("-", a.args[0]) if a.op == "lit" and a.payload == -1.0 else ("+", a)
