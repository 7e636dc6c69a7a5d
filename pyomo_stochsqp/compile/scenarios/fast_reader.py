r"""Fast readers of scenarios, generated from a scenario that was already read.

Thousands of scenarios usually have trees of the same shape. For such a shape straight-line code is
written that follows exactly that tree, checks the class of every node on the way and returns

    numbers, supports      as :class:`.reader.ScenarioReader` would, or None if the shape differs.

Sums may have any number of affine summands. A scenario whose shape differs, or whose numbers cannot
be computed with, is read in the general way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyomo.core.expr import numeric_expr as ne
from pyomo.core.expr.numvalue import native_numeric_types

Match = Callable[[Any], tuple[list[float], list[dict[int, float]]] | None]


def _affine(
    e: Any, scale: float, linear: dict[int, float], others: list[Any] | None, index: dict[int, int]
) -> float:
    """Adds scale * the affine summands of a sum to ``linear``; returns their constant.

    Anything else goes to ``others``, or raises KeyError without it.
    """
    const = 0.0
    for a in e.args:
        cls = a.__class__
        if cls is ne.MonomialTermExpression:
            c, a = a._args_
            if c.__class__ not in native_numeric_types:
                raise KeyError
            j = index[id(a)]
            linear[j] = linear.get(j, 0.0) + scale * c
        elif cls in native_numeric_types:
            const += scale * a
        elif id(a) in index:
            j = index[id(a)]
            linear[j] = linear.get(j, 0.0) + scale
        elif cls is ne.LinearExpression:
            const += _affine(a, scale, linear, None, index)
        elif others is not None:
            others.append(a)
        else:
            raise KeyError
    return const


_SPACE: dict[str, Any] = {
    "affine": _affine,
    "numeric": frozenset(native_numeric_types),
    "Linear": ne.LinearExpression,
    "Sum": ne.SumExpression,
    "Monomial": ne.MonomialTermExpression,
    "Product": ne.ProductExpression,
    "Negation": ne.NegationExpression,
    "Division": ne.DivisionExpression,
    "Pow": ne.PowExpression,
    "Unary": ne.UnaryFunctionExpression,
}


class _CannotMatch(Exception):
    """The tree holds something that generated matchers leave to the general reader."""


class _Sum:
    """Texts of the parts of one sum."""

    def __init__(self) -> None:
        self.const: list[str] = []
        self.linear: list[tuple[str, str]] = []
        self.coefs: list[str] = []
        self.loop: str | None = None


def matcher(expr: Any, variables: dict[int, int]) -> Match | None:
    """A reader for scenarios of the shape of ``expr``."""
    writer = _Writer(variables)
    try:
        writer.form("e", expr)
    except _CannotMatch:
        return None
    lines = [*writer.lines, f"return [{', '.join(writer.numbers)}], [{', '.join(writer.supports)}]"]
    body = "".join(f"        {line}\n" for line in lines)
    text = (
        f"def match(e):\n    try:\n{body}    except (KeyError, ArithmeticError, TypeError):\n"
        "        return None\n"
    )
    space = {**_SPACE, **writer.classes, "index": variables}
    exec(compile(text, "<stochsqp matcher>", "exec"), space)
    return space["match"]


class _Writer:
    """Mirrors ScenarioReader, writing code instead of reading."""

    def __init__(self, variables: dict[int, int]):
        self._variables = variables
        self.lines: list[str] = []
        self.numbers: list[str] = []
        self.supports: list[str] = []
        self.classes: dict[str, type] = {}
        self._count = 0
        self._named: set[int] = set()

    def _new(self, text: str) -> str:
        self._count += 1
        self.lines.append(f"v{self._count} = {text}")
        return f"v{self._count}"

    def _check(self, condition: str) -> None:
        self.lines.append(f"if {condition}: return None")

    def form(self, name: str, e: Any) -> None:
        total = _Sum()
        self._collect(name, e, "", total)
        self._file(total)

    def _file(self, total: _Sum) -> None:
        self.numbers.append("+".join(total.const) or "0.0")
        self.numbers += [c or "1.0" for c in total.coefs]
        support = "{" + ", ".join(f"{j}: {c or '1.0'}" for j, c in total.linear) + "}"
        if total.loop is not None:
            support = total.loop
            for j, c in total.linear:
                self.lines.append(f"{support}[{j}] = {support}.get({j}, 0.0) + {c or '1.0'}")
        elif len(total.linear) > 1:
            support = self._new(support)
            # Equal variables are added up only in general.
            self._check(f"len({support}) != {len(total.linear)}")
        self.supports.append(support)

    def _collect(self, name: str, e: Any, scale: str, total: _Sum) -> None:
        cls = e.__class__
        if cls in native_numeric_types:
            self._check(f"{name}.__class__ not in numeric")
            total.const.append(_times(scale, name))
        elif cls is ne.LinearExpression:
            self._check(f"{name}.__class__ is not Linear")
            self._affine(name, scale, total, "None")
        elif cls is ne.SumExpression:
            self._check(f"{name}.__class__ is not Sum")
            others = self._new("[]")
            self._affine(name, scale, total, others)
            nonlinear = [a for a in e.args if not self._is_affine(a)]
            self._check(f"len({others}) != {len(nonlinear)}")
            for i, arg in enumerate(nonlinear):
                self._collect(self._new(f"{others}[{i}]"), arg, scale, total)
        elif cls is ne.MonomialTermExpression:
            self._check(f"{name}.__class__ is not Monomial")
            a, b = self._pair(name)
            self._collect(b, e.args[1], _times(scale, self._number(a, e.args[0])), total)
        elif cls is ne.ProductExpression:
            self._product(name, e, scale, total)
        elif cls is ne.NegationExpression:
            self._check(f"{name}.__class__ is not Negation")
            inner = self._new(f"{name}._args_[0]")
            self._collect(inner, e.args[0], _times(scale, "-1.0"), total)
        elif cls is ne.DivisionExpression:
            self._division(name, e, scale, total)
        elif cls is ne.PowExpression:
            self._power(name, e, scale, total)
        elif cls is ne.UnaryFunctionExpression:
            self._check(f"{name}.__class__ is not Unary or {name}._name != {e.getname()!r}")
            self._nonlinear([(f"{name}._args_[0]", e.args[0])], scale, total)
        elif id(e) in self._variables:
            total.linear.append((self._new(f"index[id({name})]"), scale))
        elif e.is_expression_type() and e.is_named_expression_type():
            self._named_expression(name, e, scale, total)
        else:
            raise _CannotMatch

    def _is_affine(self, e: Any) -> bool:
        """Whether the helper ``affine`` takes up a summand."""
        return (
            e.__class__ in (ne.MonomialTermExpression, ne.LinearExpression)
            or e.__class__ in native_numeric_types
            or id(e) in self._variables
        )

    def _affine(self, name: str, scale: str, total: _Sum, others: str) -> None:
        """The affine summands of a sum of any length; the others go to a list."""
        if total.loop is None:
            total.loop = self._new("{}")
        call = f"affine({name}, {scale or '1.0'}, {total.loop}, {others}, index)"
        total.const.append(self._new(call))

    def _pair(self, name: str) -> tuple[str, str]:
        self._count += 2
        a, b = f"v{self._count - 1}", f"v{self._count}"
        self.lines.append(f"{a}, {b} = {name}._args_")
        return a, b

    def _number(self, name: str, e: Any) -> str:
        if e.__class__ not in native_numeric_types:
            raise _CannotMatch
        self._check(f"{name}.__class__ not in numeric")
        return name

    def _product(self, name: str, e: Any, scale: str, total: _Sum) -> None:
        self._check(f"{name}.__class__ is not Product")
        a, b = self._pair(name)
        first, second = e.args
        if _is_number(first):
            self._collect(b, second, _times(scale, self._number(a, first)), total)
        elif _is_number(second):
            self._collect(a, first, _times(scale, self._number(b, second)), total)
        else:
            self._must_vary(a)
            self._must_vary(b)
            self._nonlinear([(a, first), (b, second)], scale, total)

    def _must_vary(self, name: str) -> None:
        self._check(f"{name}.__class__ in numeric or not {name}.is_potentially_variable()")

    def _division(self, name: str, e: Any, scale: str, total: _Sum) -> None:
        self._check(f"{name}.__class__ is not Division")
        a, b = self._pair(name)
        first, second = e.args
        if _is_number(second):
            number = self._number(b, second)
            self._collect(a, first, f"{scale or '1.0'}/{number}", total)
        elif _is_number(first):
            self._must_vary(b)
            self._nonlinear([(b, second)], _times(scale, self._number(a, first)), total)
        else:
            self._must_vary(a)
            self._must_vary(b)
            self._nonlinear([(a, first), (b, second)], scale, total)

    def _power(self, name: str, e: Any, scale: str, total: _Sum) -> None:
        self._check(f"{name}.__class__ is not Pow")
        a, b = self._pair(name)
        base, exponent = e.args
        if exponent.__class__ not in native_numeric_types:
            raise _CannotMatch
        self._check(f"{b}.__class__ not in numeric or {b} != {float(exponent)!r}")
        self._nonlinear([(a, base)], scale, total)

    def _nonlinear(self, args: list[tuple[str, Any]], scale: str, total: _Sum) -> None:
        for name, e in args:
            self.form(name if name.isidentifier() else self._new(name), e)
        total.coefs.append(scale)

    def _named_expression(self, name: str, e: Any, scale: str, total: _Sum) -> None:
        if id(e) in self._named:
            # Used twice in this scenario; whether it is so in the others is left to the reader.
            raise _CannotMatch
        self._named.add(id(e))
        self._check(f"{name}.__class__ is not {self._class(e)}")
        inner = self._new(f"{name}._args_[0]")
        own, start = _Sum(), len(self.lines)
        self._collect(inner, e.args[0], "", own)
        if own.coefs:
            self._file(own)
            total.coefs.append(scale)
        else:
            del self.lines[start:]
            self._collect(inner, e.args[0], scale, total)

    def _class(self, e: Any) -> str:
        name = f"Named{len(self.classes)}"
        self.classes[name] = e.__class__
        return name


def _times(scale: str, factor: str) -> str:
    if scale in ("", "1.0"):
        return factor
    return scale if factor == "" else f"{scale}*{factor}"


def _is_number(e: Any) -> bool:
    return e.__class__ in native_numeric_types or not e.is_potentially_variable()
