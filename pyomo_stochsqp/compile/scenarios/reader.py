r"""Reading one explicit scenario as  structure + numbers + affine supports.

Pyomo folds 1*x to x, drops 0*x and adds numbers up, so scenarios that differ only in their data
have differently shaped trees. The reader therefore writes every sub-expression as

    const + sum_j coef_j x_j + sum_k coef_k N_k(...)

and returns

    structure   the nested tuple of the nonlinear N_k, with exponents
    numbers     const and the coef_k of every sub-expression, in the order they are finished
    supports    the affine part (variable -> coefficient) of every sub-expression, in that order

Equal structures then differ only in data. This is the hot path of set-up for models with thousands
of scenario blocks, which is why it does not build nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pyomo.core.expr import numeric_expr as ne
from pyomo.core.expr.numvalue import native_numeric_types

from ...deadline import check_time
from ...errors import ModelError
from ...given import asked, real
from ..algebra.node import SMOOTH
from .fast_reader import Match, matcher

Structure = tuple[Any, ...]
#: the name of a scenario, for messages
Named = Callable[[int], str]

#: Shapes of scenarios, per function, for which a matcher is generated.
MATCHERS = 4


class Reading:
    """What was read of one scenario."""

    __slots__ = ("mutable", "named", "numbers", "supports")

    def __init__(self) -> None:
        self.numbers: list[float] = []
        self.supports: list[dict[int, float]] = []
        #: positions in ``numbers`` (>= 0) and supports (-1 - position) that mutable values enter
        self.mutable: set[int] = set()
        self.named: dict[int, tuple[int, Any]] = {}


class _Sum:
    __slots__ = ("coefs", "const", "linear", "mutable", "nonlinear")

    def __init__(self) -> None:
        self.const = 0.0
        self.linear: dict[int, float] = {}
        self.nonlinear: list[Any] = []
        self.coefs: list[float] = []
        self.mutable = False


class Group:
    """Scenarios of one structure: their rows, and what was read of each."""

    __slots__ = ("mutable", "numbers", "rows", "supports")

    def __init__(self) -> None:
        self.rows: list[int] = []
        self.numbers: list[list[float]] = []
        self.supports: list[list[dict[int, float]]] = []
        self.mutable: set[int] = set()


class ScenarioReader:
    """Reads scenarios; ``variables`` maps id(variable) to its index."""

    def __init__(self, variables: dict[int, int]):
        self._variables = variables
        self._where = ""

    def read_all(self, scenarios: Sequence[Any], where: Named) -> dict[Structure, Group]:
        """All scenarios, by structure; ``where`` names them in messages."""
        groups: dict[Structure, Group] = {}
        matchers: list[tuple[Match, Group]] = []
        for s, expr in enumerate(scenarios):
            check_time()
            for match, group in matchers:
                found = match(expr)
                if found is not None:
                    group.rows.append(s)
                    group.numbers.append(found[0])
                    group.supports.append(found[1])
                    break
            else:
                structure, reading = self.read(expr, where(s))
                group = groups.setdefault(structure, Group())
                group.rows.append(s)
                group.numbers.append(reading.numbers)
                group.supports.append(reading.supports)
                group.mutable |= reading.mutable
                if len(matchers) < MATCHERS and expr.__class__ not in native_numeric_types:
                    match_new = matcher(expr, self._variables)
                    if match_new is not None:
                        matchers.append((match_new, group))
        return groups

    def read(self, expr: Any, where: str) -> tuple[Structure, Reading]:
        """One scenario, whatever its shape."""
        self._where = where
        reading = Reading()
        structure = asked(where, self._form, expr, reading, raises=ModelError)
        return structure, reading

    def _form(self, e: Any, reading: Reading) -> Structure:
        """Reads a sub-expression and files its numbers; () if it is affine."""
        total = _Sum()
        self._collect(e, 1.0, total, reading)
        return self._file(total, reading)

    def _file(self, total: _Sum, reading: Reading) -> Structure:
        numbers = reading.numbers
        if total.mutable:
            reading.mutable.update(range(len(numbers), len(numbers) + 1 + len(total.coefs)))
            reading.mutable.add(-1 - len(reading.supports))
        numbers.append(total.const)
        numbers += total.coefs
        reading.supports.append(total.linear)
        return tuple(total.nonlinear)

    def _collect(self, e: Any, scale: float, total: _Sum, reading: Reading) -> None:
        """total += scale * e."""
        cls = e.__class__
        if cls in _PLAIN:
            total.const += scale * e
        elif cls in native_numeric_types:
            total.const += scale * self._number(e, total)
        elif cls in _SUMS:
            variables, linear = self._variables, total.linear
            for arg in e.args:
                if arg.__class__ is ne.MonomialTermExpression:
                    coef, v = arg._args_
                    j = variables.get(id(v))
                    if j is not None and coef.__class__ in _PLAIN:
                        linear[j] = linear.get(j, 0.0) + scale * coef
                        continue
                self._collect(arg, scale, total, reading)
        elif cls is ne.MonomialTermExpression:
            coef, v = e._args_
            self._collect(v, scale * self._number(coef, total), total, reading)
        elif cls is ne.ProductExpression:
            a, b = e._args_
            if _is_number(a):
                self._collect(b, scale * self._number(a, total), total, reading)
            elif _is_number(b):
                self._collect(a, scale * self._number(b, total), total, reading)
            else:
                self._nonlinear("*", (a, b), scale, total, reading)
        elif cls is ne.NegationExpression:
            self._collect(e._args_[0], -scale, total, reading)
        elif cls is ne.DivisionExpression:
            a, b = e._args_
            if _is_number(b):
                self._collect(a, scale / self._number(b, total), total, reading)
            elif _is_number(a):
                self._nonlinear("inverse", (b,), scale * self._number(a, total), total, reading)
            else:
                self._nonlinear("/", (a, b), scale, total, reading)
        elif cls is ne.PowExpression:
            self._power(e, scale, total, reading)
        elif cls is ne.UnaryFunctionExpression or cls is ne.AbsExpression:
            self._nonlinear(e.getname(), e._args_[:1], scale, total, reading)
        else:
            self._other(e, scale, total, reading)

    def _power(self, e: Any, scale: float, total: _Sum, reading: Reading) -> None:
        base, exponent = e._args_
        if exponent.__class__ in native_numeric_types:
            self._nonlinear(("^", self._number(exponent, total)), (base,), scale, total, reading)
        else:
            self._nonlinear("^", (base, exponent), scale, total, reading)

    def _nonlinear(
        self, op: Any, args: tuple[Any, ...], scale: float, total: _Sum, reading: Reading
    ) -> None:
        inner = [self._form(a, reading) for a in args]
        total.nonlinear.append((op, *inner))
        total.coefs.append(scale)

    def _other(self, e: Any, scale: float, total: _Sum, reading: Reading) -> None:
        j = self._variables.get(id(e))
        if j is not None:
            total.linear[j] = total.linear.get(j, 0.0) + scale
        elif not e.is_expression_type() or not e.is_potentially_variable():
            total.const += scale * self._number(e, total)
        elif e.is_named_expression_type():
            self._named(e, scale, total, reading)
        elif isinstance(e, ne.SumExpression):
            for arg in e.args:
                self._collect(arg, scale, total, reading)
        else:
            raise ModelError(
                f"{self._where}: {type(e).__name__} is not supported in explicit scenarios. "
                "Use smooth functions (" + ", ".join(SMOOTH) + ") and an epigraph form for "
                "maxima, absolute values and case distinctions."
            )

    def _named(self, e: Any, scale: float, total: _Sum, reading: Reading) -> None:
        """A named Expression: read where it is first used; later uses refer to that place."""
        known = reading.named.get(id(e))
        if known is None:
            own = _Sum()
            self._collect(e.args[0], 1.0, own, reading)
            if not own.nonlinear:
                reading.named[id(e)] = (-1, own)
                known = (-1, own)
            else:
                structure = self._file(own, reading)
                reading.named[id(e)] = (len(reading.supports) - 1, None)
                total.nonlinear.append(("named", structure))
                total.coefs.append(scale)
                return
        place, affine = known
        if place < 0:
            total.const += scale * affine.const
            total.mutable |= affine.mutable
            for j, coef in affine.linear.items():
                total.linear[j] = total.linear.get(j, 0.0) + scale * coef
        else:
            total.nonlinear.append(("again", place))
            total.coefs.append(scale)

    def _number(self, e: Any, total: _Sum) -> float:
        if e.__class__ in native_numeric_types:
            return real(f"{self._where}: a number in the expression", e)
        total.mutable = True
        return real((f"{self._where}:", e), e)


def _is_number(e: Any) -> bool:
    return e.__class__ in native_numeric_types or not e.is_potentially_variable()


#: numbers that need no further look; whether they are finite is asked of all at once
_PLAIN: frozenset[Any] = frozenset((float, int))
_SUMS = {ne.LinearExpression, ne.SumExpression}
