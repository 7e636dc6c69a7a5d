r"""A two-stage program with smooth functions, as one that depends on x and on prices.

Rows of the first stage may hold expectations of second-stage variables:

    min   f(x) + E q(x, y, w)     over x and all y(w) within the second stage's rows
    s.t.  rows of x,              e(x) + E r(x, y, w) <= b                            (*)

y(w) is chosen jointly, so it does not minimise q alone. With the multiplier of (*) as its price it
minimises q + price' r, scenario by scenario. So the price becomes a variable beside x,

    y(x, price, w) = argmin q + price' r,
    min  f(x) + E q(x, y(x, price, w), w)    over x and price,     (*) with y = y(x, price, w):

the policies of this family are all that can be optimal, and the best of them is. Its multiplier of
(*) equals the price (Everett). Rows that no second-stage variable enters need no price.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any

import numpy as np
from pyomo.core.base import ConcreteModel, Var
from pyomo.core.expr.numeric_expr import LinearExpression

from ..compile.each_scenario import EachScenario
from ..declare.program import Function, Row, StochasticProgram
from ..declare.randomness.random_param import RandomParam
from ..declare.reading.read import starting_value
from ..declare.recourse import MeanRow, TwoStage, bounds, row_bounds
from ..declare.scan import scan
from ..errors import ModelError
from ..given import real
from .cuts import Cut
from .stage_functions import StageFunctions


@dataclass(frozen=True, eq=False)
class SmoothTwoStage:
    """The record it was made from, its exact part in (x, prices), and its second stage."""

    origin: TwoStage
    #: f(x), the rows of the first stage and e(x); variables are x, then prices
    exact: StochasticProgram
    stage: StageFunctions
    #: variables of ``exact`` that the second stage depends on: some of x, then the prices
    linking: Sequence[int]
    #: rows of ``exact`` that E r is added to
    mean_rows: Sequence[int]
    #: which r have a price
    priced: Sequence[bool]

    @property
    def prices(self) -> Sequence[Any]:
        """The prices, as variables."""
        return self.exact.variables[len(self.origin.first) :]

    def with_cuts(self, cuts: Sequence[Cut]) -> SmoothTwoStage:
        """With conditions on x as rows, after the others."""
        x = [self.exact.variables[j] for j in self.linking[: self.stage.nx]]
        rows = []
        for number, cut in enumerate(cuts):
            name = Named(f"feasibility of second stages ({number + 1})")
            body = LinearExpression(constant=0.0, linear_coefs=cut.slope.tolist(), linear_vars=x)
            rows.append(Row(name, Function(body), -inf, cut.limit))
        return replace(self, exact=replace(self.exact, rows=[*self.exact.rows, *rows]))


@dataclass(frozen=True)
class Named:
    """What stands for the component of a row that the model does not have."""

    name: str


def smooth(program: TwoStage) -> SmoothTwoStage:
    """The program for the engines; integer variables are refused."""
    _check_continuous(program)
    rows = [
        Row(r.component, Function(r.body), *(_number(r.component, b, a) for b, a in
            ((r.lower, -inf), (r.upper, inf))))
        for r in program.first_rows
    ]  # fmt: skip
    rows += [Row(r.component, Function(r.exact), r.lower, r.upper) for r in program.mean_rows]
    first = len(program.first_rows)
    later = {id(v) for v in program.second}
    means = [_sum(r.expected) for r in program.mean_rows]
    priced = [any(key in later for key in scan(e).variables) for e in means]
    prices = [_price(r) for r, has in zip(program.mean_rows, priced, strict=True) if has]
    x = [v for v in program.first if id(v) in _variables(program)]
    place = {id(v): j for j, v in enumerate(program.first)}
    start = [starting_value(v) for v in program.first] + [0.0] * len(prices)
    exact = StochasticProgram(
        model=program.model,
        variables=[*program.first, *prices],
        start=np.array(start, dtype=float),
        objective=Function(program.exact),
        objective_component=program.objective_component,
        sign=program.sign,
        rows=rows,
        settled=(),
        sources=(program.source,),
        leaves=program.leaves,
    )
    return SmoothTwoStage(
        program,
        exact,
        _stage(program, means, x),
        [*(place[id(v)] for v in x), *range(len(program.first), len(start))],
        range(first, first + len(means)),
        priced,
    )


def _stage(program: TwoStage, means: Sequence[Any], x: Sequence[Any]) -> StageFunctions:
    where = program.objective_component
    cost = _sum(program.expected)
    functions = [(where.name, cost if program.sign > 0 else -cost)]
    functions += [(r.component.name, e) for r, e in zip(program.mean_rows, means, strict=True)]
    functions += [(row.component.name, row.body) for row in program.second_rows]
    random = [m for p in program.model.component_objects(RandomParam, descend_into=True)
              for m in p.values() if id(m) in program.leaves]  # fmt: skip
    return StageFunctions(
        EachScenario(functions, x, program.second, random),
        len(x),
        len(program.second),
        len(means),
        len(program.second_rows),
        random,
        *row_bounds(program.second_rows),
        *bounds(program.second),
        np.array([0.0 if v.value is None else real(("the value of", v), v.value)
                  for v in program.second], dtype=float),
        [v.name for v in program.second],
        [r.component.name for r in program.second_rows],
    )  # fmt: skip


def _sum(expected: Sequence[tuple[Any, Any]]) -> Any:
    total: Any = 0.0
    for multiplier, integrand in expected:
        total = total + multiplier * integrand
    return total


def _variables(program: TwoStage) -> set[int]:
    """Those that occur in the second stage, or under E."""
    found: set[int] = set()
    for multiplier, integrand in program.expected:
        found.update(scan(multiplier).variables, scan(integrand).variables)
    for row in program.mean_rows:
        for multiplier, integrand in row.expected:
            found.update(scan(multiplier).variables, scan(integrand).variables)
    for inside in program.second_rows:
        found.update(scan(inside.body).variables)
    return found


def _price(row: MeanRow) -> Any:
    """A variable for the multiplier of a row; one-sided rows have multipliers of one sign."""
    model = ConcreteModel()
    low = 0.0 if row.lower == -inf else None
    up = 0.0 if row.upper == inf else None
    name = price_name(row.component)
    model.add_component(name, Var(bounds=(low, up), initialize=0.0))
    return model.component(name)


def price_name(row: Any) -> str:
    """What the price of a row is called."""
    return f"price of {row.name}"


def _number(component: Any, bound: Any, absent: float) -> float:
    return absent if bound is None else real(("a bound of", component), bound, infinite=True)


def _check_continuous(program: TwoStage) -> None:
    for v in [*program.first, *program.second]:
        if not v.is_continuous():
            raise ModelError(
                f"Variable '{v.name}' is {'binary' if v.is_binary() else 'integer'}, and the model "
                "has nonlinear functions or bounds an expectation. Beside Recourse, integers "
                "need linear functions and no such bounds: fix the variable, or relax it with "
                "TransformationFactory('core.relax_integer_vars')."
            )
