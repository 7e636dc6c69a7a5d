r"""From Pyomo's expression objects to normal forms (see normal_form.py).

The walk is iterative and remembers every expression object it has seen, so a named Expression (or
any expression object used twice) is read once and deep expressions cannot exhaust the stack.
Leaves become: numbers; ``var`` (unfixed variables); ``par`` (fixed variables, mutable Params);
``data`` (RandomParam members).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyomo.core.expr import numeric_expr as ne
from pyomo.core.expr import relational_expr as re
from pyomo.core.expr.numvalue import native_numeric_types

from ...deadline import check_time
from ...errors import ModelError
from ...given import real
from .form import Form
from .node import KINKED, SMOOTH
from .normal_form import Algebra

#: (field number, column) of a RandomParam member, by the id of the member
DataIndex = dict[int, tuple[int, int]]


class Lowering:
    """Reads expressions of one program into normal forms."""

    def __init__(self, algebra: Algebra, variables: dict[int, int], data: DataIndex):
        self._algebra = algebra
        #: the node of every variable, by the id of the variable
        self._variables = {key: algebra.make("var", payload=j) for key, j in variables.items()}
        self._data = data
        self._known: dict[int, Form] = {}
        self._kept: list[Any] = []
        self._where = ""

    def __call__(self, expr: Any, where: str) -> Form:
        """The normal form of an expression that belongs to the component named ``where``."""
        self._where = where
        # An id stands for an expression only as long as the expression lives.
        self._kept.append(expr)
        return self._walk(expr)

    def _walk(self, expr: Any) -> Form:
        if expr.__class__ in native_numeric_types:
            return Form(self._literal(expr))
        known = self._known
        stack = [expr]
        while stack:
            e = stack.pop()
            if e is None:
                # Its arguments are known by now.
                e = stack.pop()
                handler = _HANDLERS.get(e.__class__)
                known[id(e)] = self._operation(e) if handler is None else handler(self, e)
                continue
            key = id(e)
            if key in known:
                continue
            cls = e.__class__
            if cls in _LINEAR:
                known[key] = self._linear(e)
            elif cls not in _HANDLERS and not e.is_expression_type():
                known[key] = self._leaf(e)
            else:
                stack.append(e)
                stack.append(None)
                for a in e._args_ if cls in _TWO_ARGUMENTS else e.args:
                    if a.__class__ not in native_numeric_types and id(a) not in known:
                        stack.append(a)
        return known[id(expr)]

    def _get(self, e: Any) -> Form:
        if e.__class__ in native_numeric_types:
            return Form(self._literal(e))
        return self._known[id(e)]

    def _literal(self, number: Any) -> float:
        """A number that stands in an expression."""
        if number.__class__ is float and number - number == 0.0:
            return number
        return real(f"'{self._where}': a number in the expression", number)

    def _leaf(self, e: Any) -> Form:
        make = self._algebra.make
        variable = self._variables.get(id(e))
        if variable is not None:
            return Form(0.0, {variable: 1.0})
        place = self._data.get(id(e))
        if place is not None:
            return Form(0.0, {make("data", payload=place): 1.0})
        if e.is_variable_type() and not e.fixed:
            raise ModelError(
                f"'{self._where}': variable '{e.name}' is not fixed, but it was when the model was "
                "read. Read and compile the model again after changing what is fixed."
            )
        return Form(make("par", payload=_ById(e)))

    def _linear(self, e: Any) -> Form:
        """Sums of coefficient * variable, the bulk of most models, without the general walk."""
        total = Form()
        terms, variables, data = total.terms, self._variables, self._data
        algebra = self._algebra
        make = algebra.make
        for arg in e.args if e.__class__ is ne.LinearExpression else (e,):
            cls = arg.__class__
            scale: Any = 1.0
            if cls is ne.MonomialTermExpression:
                coef, arg = arg._args_
                if coef.__class__ in native_numeric_types:
                    scale = self._literal(coef)
                elif id(coef) in data:
                    scale = make("data", payload=data[id(coef)])
                else:
                    scale = algebra.coefficient(self._walk(coef))
            elif cls is ne.NPV_NegationExpression:
                arg, scale = arg._args_[0], -1.0
            node = variables.get(id(arg))
            if node is None:
                if id(arg) not in data or scale.__class__ is not float:
                    form = algebra.multiply(algebra.form(scale), self._walk(arg))
                    algebra.accumulate(total, form)
                    continue
                node = make("data", payload=data[id(arg)])
            if node in terms or (scale.__class__ is float and scale == 0.0):
                algebra.accumulate(total, Form(0.0, {node: scale}))
            else:
                terms[node] = scale
        return total

    def _operation(self, e: Any) -> Form:
        """An expression of a class that has no handler of its own."""
        if e.is_named_expression_type():
            return self._algebra.kept(self._get(e.args[0]))
        for cls, handler in _HANDLERS.items():
            if isinstance(e, cls):
                return handler(self, e)
        raise self._unsupported(type(e).__name__)

    def _sum(self, e: Any) -> Form:
        check_time()
        total = Form()
        for arg in e.args:
            self._algebra.accumulate(total, self._get(arg))
        return total

    def _product(self, e: Any) -> Form:
        a, b = e._args_
        return self._algebra.multiply(self._get(a), self._get(b))

    def _division(self, e: Any) -> Form:
        a, b = e._args_
        return self._algebra.divide(self._get(a), self._get(b))

    def _negation(self, e: Any) -> Form:
        return self._algebra.scale(self._get(e._args_[0]), -1.0)

    def _power(self, e: Any) -> Form:
        a, b = e._args_
        base = self._get(a)
        if base.terms and b.__class__ in native_numeric_types:
            return self._algebra.literal_power(base, self._literal(b))
        return self._algebra.power(base, self._get(b))

    def _unary(self, e: Any) -> Form:
        name = e.getname()
        form = self._get(e._args_[0])
        if name not in SMOOTH:
            self._need_data_only(name, form)
        return self._algebra.function(name, form)

    def _extremum(self, e: Any) -> Form:
        name = "max" if isinstance(e, ne.MaxExpression) else "min"
        forms = [self._get(a) for a in e.args]
        self._need_data_only(name, *forms)
        return self._algebra.function(name, *forms)

    def _choice(self, e: Any) -> Form:
        test, yes, no = e.args
        forms = [self._get(test), self._get(yes), self._get(no)]
        self._need_data_only("Expr_if", *forms)
        return self._algebra.function("where_lt", Form(0.0), *forms)

    def _relation(self, e: Any) -> Form:
        """A relation of data as 1 or 0, for Expr_if."""
        forms = [self._get(a) for a in e.args]
        self._need_data_only("Expr_if", *forms)
        one, zero = Form(1.0), Form(0.0)
        if isinstance(e, re.EqualityExpression):
            return self._algebra.function("where_eq", *forms, one, zero)
        strict = e.strict if isinstance(e.strict, tuple) else (e.strict,) * (len(forms) - 1)
        result = one
        for left, right, is_strict in zip(forms, forms[1:], strict, strict=False):
            name = "where_lt" if is_strict else "where_le"
            holds = self._algebra.function(name, left, right, one, zero)
            result = self._algebra.multiply(result, holds)
        return result

    def _external(self, e: Any) -> Form:
        raise ModelError(
            f"'{self._where}': the external function in {e} cannot be evaluated for many scenarios "
            "at once or differentiated here. Write it with Pyomo's own functions."
        )

    def _need_data_only(self, name: str, *forms: Form) -> None:
        if any(f.x for f in forms):
            raise self._unsupported(name)

    def _unsupported(self, name: str) -> ModelError:
        if name in KINKED or name == "Expr_if":
            return ModelError(
                f"'{self._where}': {name}(...) of variables is not smooth, and the method needs "
                "derivatives. Use smooth_abs, smooth_max, smooth_min with a width, or an epigraph "
                "(a new variable t >= z, t >= -z instead of abs(z)). Of data alone it is allowed."
            )
        return ModelError(
            f"'{self._where}': the expression type or function '{name}' is not supported. Rewrite "
            "it with +, -, *, /, ** and the functions " + ", ".join(SMOOTH) + "."
        )


class _ById:
    """A model object as a key: equal only to itself (Pyomo overloads ==)."""

    __slots__ = ("item",)

    def __init__(self, item: Any):
        self.item = item

    def __hash__(self) -> int:
        return id(self.item)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ById) and other.item is self.item


_LINEAR = {ne.LinearExpression, ne.MonomialTermExpression}
#: classes whose arguments need no more than a look
_TWO_ARGUMENTS = {ne.PowExpression, ne.ProductExpression, ne.DivisionExpression}

_HANDLERS: dict[type, Callable[[Lowering, Any], Form]] = {
    ne.MaxExpression: Lowering._extremum,
    ne.MinExpression: Lowering._extremum,
    ne.Expr_ifExpression: Lowering._choice,
    ne.ExternalFunctionExpression: Lowering._external,
    ne.UnaryFunctionExpression: Lowering._unary,
    ne.PowExpression: Lowering._power,
    ne.DivisionExpression: Lowering._division,
    ne.NegationExpression: Lowering._negation,
    ne.ProductExpression: Lowering._product,
    ne.SumExpression: Lowering._sum,
    re.EqualityExpression: Lowering._relation,
    re.InequalityExpression: Lowering._relation,
    re.RangedExpression: Lowering._relation,
}
for _cls in list(_HANDLERS):
    _npv = getattr(ne, f"NPV_{_cls.__name__}", None)
    if _npv is not None:
        _HANDLERS[_npv] = _HANDLERS[_cls]
_HANDLERS[ne.AbsExpression] = _HANDLERS[ne.NPV_AbsExpression] = Lowering._unary
