r"""The normal form  const + sum_k coef_k * node_k  and its arithmetic.

Adding and scaling stay inside the form. Everything else makes a new node of it:

    (k1 t1) * (k2 t2)      =  (k1 k2) * prod(t1, t2)
    (k t) ** p             =  k**p * pow(t, p)              for small whole p
    f(c + sum k t)         =  f(sum node)                   for any other function

so that coefficients always stand outside, where means can be pushed down to them. Combinations of
exponentials that could overflow are recognised on the way (stable_functions.py).
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any

from . import stable_functions as safeforms
from .form import Form
from .node import Coef, Node, Nodes, constant_value, is_number, is_one, is_zero


class Algebra:
    """Arithmetic of normal forms over one table of nodes."""

    def __init__(self, nodes: Nodes):
        self.nodes = nodes
        self.make = nodes.make

    # -- coefficients ---------------------------------------------------------------------------

    def coef_add(self, a: Coef, b: Coef) -> Coef:
        if a.__class__ is float and b.__class__ is float:
            return a + b
        if a.__class__ is float and a == 0.0:
            return b
        if b.__class__ is float and b == 0.0:
            return a
        if _constant(a) and _constant(b):
            return self.make("add", (a, b))
        total = Form()
        self.accumulate(total, self.form(a))
        self.accumulate(total, self.form(b))
        return self.coefficient(total)

    def coef_mul(self, a: Coef, b: Coef) -> Coef:
        if a.__class__ is float and b.__class__ is float:
            return a * b
        if a.__class__ is float and a == 1.0:
            return b
        if b.__class__ is float and b == 1.0:
            return a
        if _constant(a) and _constant(b):
            return self.make("mul", (a, b))
        if is_zero(a) or is_zero(b):
            return 0.0
        return self.coefficient(self.multiply(self.form(a), self.form(b)))

    def coefficient(self, form: Form) -> Coef:
        """A form free of variables as one coefficient."""
        return form.const if not form.terms else self.node(form)

    # -- between forms and nodes ----------------------------------------------------------------

    def form(self, c: Coef) -> Form:
        """A number or node as a form (a sum node is opened)."""
        if c.__class__ is not Node:
            return Form(c)
        assert isinstance(c, Node)
        if c.constant:
            return Form(c)
        if c.op == "sum":
            return Form(c.args[0], dict(zip(c.args[2::2], c.args[1::2], strict=True)))
        return Form(0.0, {c: 1.0})

    def node(self, form: Form) -> Node:
        """A form with at least one term as one node."""
        scale, node = self.split(form)
        if scale.__class__ is float and scale == 1.0:
            return node
        return self.make("sum", (0.0, scale, node))

    def split(self, form: Form) -> tuple[Coef, Node]:
        """A form with at least one term as coefficient * node."""
        if len(form.terms) == 1 and form.const.__class__ is float and form.const == 0.0:
            ((node, coef),) = form.terms.items()
            return coef, node
        args: list[Any] = [form.const]
        for node, coef in form.terms.items():
            args.append(coef)
            args.append(node)
        return 1.0, self.make("sum", tuple(args))

    def kept(self, form: Form) -> Form:
        """A form that will be used again (a named Expression), as one term if it is long: copying
        its terms into every user would make chains of named Expressions grow quadratically."""
        nonlinear = any(t.x and t.op != "var" for t in form.terms)
        if len(form.terms) < 2 or not nonlinear:
            return form
        return Form(0.0, {self.node(form): 1.0})

    def looked_into(self, form: Form) -> Form:
        """The terms behind :meth:`kept`."""
        if len(form.terms) == 1 and is_zero(form.const):
            ((node, coef),) = form.terms.items()
            if node.op == "sum" and is_one(coef):
                return self.form(node)
        return form

    def opened(self, form: Form, may_open: Callable[[Node, Coef], bool]) -> Form:
        """A form with sums among its terms replaced by their terms, again and again."""
        result = Form(form.const)
        waiting: dict[Node, Coef] = {}
        heap: list[tuple[int, Node]] = []

        def file(terms: dict[Node, Coef], factor: Coef) -> None:
            for node, k in terms.items():
                coef = self.coef_mul(factor, k)
                if node.op != "sum":
                    self.accumulate(result, Form(0.0, {node: coef}))
                elif node in waiting:
                    waiting[node] = self.coef_add(waiting[node], coef)
                else:
                    waiting[node] = coef
                    heappush(heap, (-node.index, node))

        file(form.terms, 1.0)
        while heap:
            # A sum is opened after all sums that hold it, so that it is opened once.
            node = heappop(heap)[1]
            coef = waiting.pop(node)
            if may_open(node, coef):
                inner = self.form(node)
                self.accumulate(result, self.form(self.coef_mul(coef, inner.const)))
                file(inner.terms, coef)
            else:
                self.accumulate(result, Form(0.0, {node: coef}))
        return result

    # -- arithmetic -----------------------------------------------------------------------------

    def accumulate(self, total: Form, form: Form, scale: Coef = 1.0) -> None:
        """total += scale * form, for a constant scale."""
        plain = scale.__class__ is float and scale == 1.0
        total.const = self.coef_add(
            total.const, form.const if plain else self.coef_mul(scale, form.const)
        )
        terms = total.terms
        for node, coef in form.terms.items():
            if not plain:
                coef = self.coef_mul(scale, coef)
            known = node in terms
            if known:
                coef = self.coef_add(terms[node], coef)
            if coef.__class__ is float and coef == 0.0:
                terms.pop(node, None)
                if known and node.partial and node.op != "zero":
                    # what cancels has to be defined, too
                    terms[self.make("zero", (node,))] = 1.0
            else:
                terms[node] = coef

    def scale(self, form: Form, factor: Coef) -> Form:
        """factor * form, for a constant factor."""
        if factor.__class__ is float and factor == 1.0:
            return form
        result = Form()
        self.accumulate(result, form, factor)
        return result

    def nothing(self, form: Form) -> Form:
        """0 * form: 0 where the form is defined."""
        result = Form()
        for node, coef in form.terms.items():
            if node.partial or not (is_number(coef) or (coef.__class__ is Node and coef.total)):
                term = self.node(Form(0.0, {node: coef}))
                result.terms[self.make("zero", (term,))] = 1.0
        return result

    def multiply(self, a: Form, b: Form) -> Form:
        for one, other in ((a, b), (b, a)):
            if not one.terms and is_zero(one.const):
                return Form(self.coef_mul(0.0, other.const), self.nothing(other).terms)
        if not a.terms:
            return self.scale(b, a.const)
        if not b.terms:
            return self.scale(a, b.const)
        if b.x and not a.x:
            return self._times_data(b, self.node(a))
        if a.x and not b.x:
            return self._times_data(a, self.node(b))
        scale_a, node_a = self.split(a)
        scale_b, node_b = self.split(b)
        node = safeforms.product(self, node_a, node_b)
        if node is None:
            node = self.make("prod", (node_a, node_b))
        return Form(0.0, {node: self.coef_mul(scale_a, scale_b)})

    def _times_data(self, form: Form, data: Node) -> Form:
        """A sum times data stays a product, so that the data multiply once and not each term."""
        scale, node = self.split(form)
        return Form(0.0, {node: self.coef_mul(scale, data)})

    def divide(self, a: Form, b: Form) -> Form:
        return self.multiply(a, self.power(b, Form(-1.0)))

    def power(self, base: Form, exponent: Form) -> Form:
        if not exponent.terms:
            p = exponent.const
            if not base.terms:
                return Form(self._on_constants("pow", base.const, p))
            if p.__class__ is float:
                return self.literal_power(base, p)
            return self._pow(self.node(base), p)
        left = self.node(base) if base.terms else base.const
        return self._pow(left, self.node(exponent))

    def _pow(self, a: Coef, p: Coef, factor: Coef = 1.0) -> Form:
        form = Form(0.0, {self.make("pow", (a, p)): factor})
        return self._kept_finite(form, "pow", (a, p))

    def literal_power(self, base: Form, p: float) -> Form:
        """A form with at least one term to the power of a number."""
        base = self.looked_into(base)
        if p == 0.0:
            one = self.coef_add(1.0, self.coef_mul(0.0, base.const))
            return Form(one, self.nothing(base).terms)
        if p == 1.0:
            return base
        safe = safeforms.inverse(self, base) if p == -1.0 else None
        if safe is not None:
            return safe
        scale, node = self.split(base)
        if is_one(scale):
            return self._pow(node, p)
        # Not for high powers, whose factors may overflow where their product does not.
        if p.is_integer() and abs(p) <= 4.0:
            outside = self.coefficient(self.power(self.form(scale), Form(p)))
            return self._pow(node, p, outside)
        return self._pow(self.node(base), p)

    def function(self, name: str, *args: Form) -> Form:
        """A named function of forms."""
        if not any(a.terms for a in args):
            return Form(self._on_constants(name, *(a.const for a in args)))
        if name == "log":
            safe = safeforms.log(self, self.looked_into(args[0]))
            if safe is not None:
                return safe
        inner = tuple(self.node(a) if a.terms else a.const for a in args)
        return self._kept_finite(Form(0.0, {self.make(name, inner): 1.0}), name, inner)

    def _kept_finite(self, form: Form, op: str, args: tuple[Any, ...]) -> Form:
        """The same, but undefined where an argument is infinite and the result would not be. Where
        variables have made it so, the derivative is undefined, and that is enough."""
        if op in _BOUNDED:
            for a in args:
                if a.__class__ is Node and a.partial_data:
                    self.accumulate(form, Form(0.0, {self.make("zero", (a,)): 1.0}))
        return form

    def _on_constants(self, op: str, *args: Coef) -> Coef:
        numbers = tuple(a for a in args if isinstance(a, float))
        if len(numbers) == len(args):
            return constant_value(op, numbers)
        return self.make(op, args)


#: operations that may turn infinity into a finite number
_BOUNDED = frozenset(("exp", "tanh", "atan", "expit", "softplus", "lse", "pow"))


def _constant(c: Coef) -> bool:
    return not isinstance(c, Node) or c.constant
