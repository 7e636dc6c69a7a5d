r"""A two-stage program with affine functions, as matrices.

    min  c(w)'x + q(w)'y + constant(w)         averaged over w, minimised (the sign is inside)
    s.t. row_lower <= A x <= row_upper
         lower(w) <= T(w) x + W(w) y <= upper(w)
         x_lower <= x <= x_upper,    y_lower(w) <= y <= y_upper(w)

Coefficients may be any functions of the random numbers. Integer variables are marked; they are
possible in both stages.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyomo.core.expr.numvalue import native_numeric_types
from pyomo.repn import generate_standard_repn

from ...deadline import check_time
from ...errors import ModelError
from ...given import asked, real
from ..reading.terms import shortened
from ..scan import scan
from .two_stage import RandomMatrix, RandomNumbers, TwoStage, TwoStageRow

Array = NDArray[np.float64]


class NotAffineError(ModelError):
    """A function of the program is not affine in the variables, or scenarios are not decided one
    by one."""


@dataclass(frozen=True, eq=False)
class AffineTwoStage:
    """The matrices of a two-stage program, and the record they were made from."""

    origin: TwoStage
    c: RandomNumbers
    q: RandomNumbers
    constant: RandomNumbers
    A: RandomMatrix
    row_lower: Array
    row_upper: Array
    T: RandomMatrix
    W: RandomMatrix
    lower: RandomNumbers
    upper: RandomNumbers
    x_lower: Array
    x_upper: Array
    y_lower: RandomNumbers
    y_upper: RandomNumbers
    x_integer: NDArray[np.bool_]
    y_integer: NDArray[np.bool_]


def affine(program: TwoStage) -> AffineTwoStage:
    """The matrices; raises NotAffineError for any other function."""
    return _Reader(program).read()


class _Reader:
    def __init__(self, program: TwoStage):
        self._p = program
        self._x = {id(v): j for j, v in enumerate(program.first)}
        self._y = {id(v): j for j, v in enumerate(program.second)}

    def read(self) -> AffineTwoStage:
        p = self._p
        c, q, constant = self._objective()
        A = _Matrix(len(p.first_rows), len(p.first))
        low1, up1 = self._rows(p.first_rows, A, None)
        T = _Matrix(len(p.second_rows), len(p.first))
        W = _Matrix(len(p.second_rows), len(p.second))
        low2, up2 = self._rows(p.second_rows, T, W)
        x_lower, x_upper = bounds(p.first)
        y_lower, y_upper = bounds(p.second)
        for row in p.mean_rows:
            raise NotAffineError(
                f"Constraint '{row.component.name}' bounds an expectation, so that the second "
                "stages of different scenarios depend on each other."
            )
        return AffineTwoStage(
            p, c, q, constant, A.made(), low1.base, up1.base, T.made(), W.made(), low2, up2,
            x_lower.base, x_upper.base, y_lower, y_upper, _integer(p.first), _integer(p.second),
        )  # fmt: skip

    def _objective(self) -> tuple[RandomNumbers, RandomNumbers, RandomNumbers]:
        where = self._p.objective_component
        c, q, constant = _Sums(len(self._x)), _Sums(len(self._y)), _Sums(1)
        for multiplier, expr in [(1.0, self._p.exact), *self._p.expected]:
            if scan(multiplier).variables:
                raise NotAffineError(
                    f"'{where.name}': an expectation is multiplied by {shortened(multiplier)}, "
                    "which is not a number."
                )
            factor = self._p.sign * real(("a factor in", where), multiplier)
            self._spread(expr, where, factor, c, q, constant)
        return c.made(), q.made(), constant.made()

    def _spread(
        self, expr: Any, where: Any, factor: float, c: _Sums, q: _Sums, constant: _Sums
    ) -> None:
        repn = _affine_form(expr, where)
        constant.add(0, repn.constant, factor, where)
        for coefficient, variable in zip(repn.linear_coefs, repn.linear_vars, strict=True):
            j = self._x.get(id(variable))
            if j is not None:
                c.add(j, coefficient, factor, where)
            else:
                q.add(self._y[id(variable)], coefficient, factor, where)

    def _rows(
        self, rows: Sequence[TwoStageRow], of_x: _Matrix, of_y: _Matrix | None
    ) -> tuple[RandomNumbers, RandomNumbers]:
        """Fills the matrices; the bounds of the rows."""
        lower, upper = _Sums(len(rows)), _Sums(len(rows))
        for i, row in enumerate(rows):
            check_time()
            repn = _affine_form(row.body, row.component)
            for bound, sums, absent in ((row.lower, lower, -inf), (row.upper, upper, inf)):
                if bound is None:
                    sums.base[i] = absent
                else:
                    sums.add(i, bound, 1.0, row.component, infinite=True)
                    sums.add(i, repn.constant, -1.0, row.component)
            for coefficient, variable in zip(repn.linear_coefs, repn.linear_vars, strict=True):
                j = self._x.get(id(variable))
                if j is not None:
                    of_x.add(i, j, coefficient, row.component)
                else:
                    assert of_y is not None
                    of_y.add(i, self._y[id(variable)], coefficient, row.component)
        return lower.made(), upper.made()


class _Sums:
    """Numbers that are added up, position by position; random ones as expressions."""

    def __init__(self, size: int):
        self.base = np.zeros(size)
        self._random: dict[int, Any] = {}

    def add(self, at: int, item: Any, factor: float, where: Any, infinite: bool = False) -> None:
        number = _number(item, where, infinite)
        if number is not None:
            self.base[at] += factor * number
            return
        term = item if factor == 1.0 else factor * item
        self._random[at] = term if at not in self._random else self._random[at] + term

    def made(self) -> RandomNumbers:
        random = {at: e + self.base[at] if self.base[at] else e for at, e in self._random.items()}
        self.base[list(random)] = 0.0
        return RandomNumbers(self.base, random)


class _Matrix:
    """Entries of a sparse matrix as they are met."""

    def __init__(self, rows: int, columns: int):
        self._shape = (rows, columns)
        self._rows: list[int] = []
        self._columns: list[int] = []
        self._numbers: list[float] = []
        self._random: dict[int, Any] = {}

    def add(self, i: int, j: int, item: Any, where: Any) -> None:
        number = _number(item, where)
        if number is None:
            self._random[len(self._numbers)] = item
        self._rows.append(i)
        self._columns.append(j)
        self._numbers.append(0.0 if number is None else number)

    def made(self) -> RandomMatrix:
        return RandomMatrix(
            self._shape,
            np.array(self._rows, dtype=np.intp),
            np.array(self._columns, dtype=np.intp),
            RandomNumbers(np.array(self._numbers, dtype=float), self._random),
        )


def _affine_form(expr: Any, where: Any) -> Any:
    """Pyomo's linear representation, with expressions in random numbers as coefficients."""
    make: Callable[..., Any] = generate_standard_repn
    repn = asked(
        where, lambda: make(expr, compute_values=False, quadratic=False), raises=ModelError
    )
    if repn.nonlinear_expr is not None:
        raise NotAffineError(
            f"'{where.name}': {shortened(repn.nonlinear_expr)} is not linear in the variables."
        )
    return repn


def _number(item: Any, where: Any, infinite: bool = False) -> float | None:
    """The number behind it; None if it is random."""
    if item.__class__ not in native_numeric_types and scan(item).random:
        return None
    return real(("a number in", where), item, infinite)


def bounds(variables: Sequence[Any]) -> tuple[RandomNumbers, RandomNumbers]:
    """Those of variables, which may be random."""
    lower, upper = _Sums(len(variables)), _Sums(len(variables))
    for j, v in enumerate(variables):
        for bound, sums, absent in ((v.lower, lower, -inf), (v.upper, upper, inf)):
            if bound is None:
                sums.base[j] = absent
            else:
                sums.add(j, bound, 1.0, v, infinite=True)
    return lower.made(), upper.made()


def row_bounds(rows: Sequence[TwoStageRow]) -> tuple[RandomNumbers, RandomNumbers]:
    """Those of rows as they are written."""
    lower, upper = _Sums(len(rows)), _Sums(len(rows))
    for i, row in enumerate(rows):
        for bound, sums, absent in ((row.lower, lower, -inf), (row.upper, upper, inf)):
            if bound is None:
                sums.base[i] = absent
            else:
                sums.add(i, bound, 1.0, row.component, infinite=True)
    return lower.made(), upper.made()


def _integer(variables: Sequence[Any]) -> NDArray[np.bool_]:
    for v in variables:
        if not (v.is_continuous() or v.is_integer() or v.is_binary()):
            raise ModelError(
                f"Variable '{v.name}' takes neither all numbers between its bounds nor all whole "
                "ones. Write its domain with binary variables."
            )
    return np.array([not v.is_continuous() for v in variables], dtype=bool)
