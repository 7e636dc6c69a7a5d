r"""The frontier of two aims: solving a model again and again along a parameter.

    for p in values:   min f(x)  s.t.  the rows, one of them with p in it

Each solve starts from the solution before, with what was compiled for the first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyomo.environ as pyo

from ..errors import ModelError
from ..picture import BLUE, DARK, dress, new_figure, saved
from ..text_table import Printed, Shown, TextTable, shortened
from .parameters import is_mutable_param
from .solving import Unsolved, decisions_of, kept, numbers_of, objective_of, solve, values_of


@dataclass(frozen=True)
class Point:
    """One point of a frontier."""

    parameter: float
    objective: float
    #: the expressions that were asked for
    values: tuple[float, ...]
    decision: Mapping[str, float]
    #: why there is no solution; empty if there is one
    failure: str = ""


@dataclass(frozen=True, repr=False)
class Frontier(Printed):
    """Solutions along a parameter; prints as a table, and plots."""

    parameter: str
    objective: str
    expressions: tuple[str, ...]
    points: tuple[Point, ...]

    def __iter__(self) -> Iterator[Point]:
        return iter(self.points)

    def __len__(self) -> int:
        return len(self.points)

    def __getitem__(self, number: int) -> Point:
        return self.points[number]

    def to_pandas(self) -> Any:
        """A DataFrame with one row per point: parameter, objective, expressions, variables."""
        import pandas

        names = [self.parameter, self.objective, *self.expressions]
        rows = [
            {**dict(zip(names, (p.parameter, p.objective, *p.values), strict=True)), **p.decision}
            for p in self.points
        ]
        return pandas.DataFrame(rows)

    def plot(self, path: Any = None) -> Any:
        """The objective against the first expression, or the parameter (extra ``plot``)."""
        solved = [p for p in self.points if not p.failure]
        by = [p.values[0] if p.values else p.parameter for p in solved]
        figure = new_figure(5.5, 3.6)
        axes = figure.subplots()
        dress(axes)
        axes.plot(by, [p.objective for p in solved], color=BLUE, marker="o", markersize=4)
        axes.set_xlabel(self.expressions[0] if self.expressions else self.parameter, color=DARK)
        axes.set_ylabel(self.objective, color=DARK)
        return saved(figure, path)

    def table(self) -> TextTable:
        """The numbers, without the variables."""
        header = (self.parameter, self.objective, *map(shortened, self.expressions), "")
        rows = [
            (*(f"{v:.6g}" for v in (p.parameter, p.objective, *p.values)), p.failure)
            for p in self.points
        ]
        return TextTable(header, rows, left=(len(header) - 1,))

    def shown(self) -> list[Shown]:
        return [self.table()]


def pareto(
    model: Any,
    parameter: Any,
    values: Sequence[float],
    *expressions: Any,
    solver: Any = "stochsqp",
    options: Mapping[str, Any] | None = None,
) -> Frontier:
    """Solve the model for every value of a mutable Param.

    ``expressions`` are told at every solution, beside the objective. The Param and the variables
    are afterwards what they were before.

    >>> import pyomo.environ as pyo, numpy as np
    >>> from pyomo_stochsqp import E, RandomParam, pareto
    >>> m = pyo.ConcreteModel()
    >>> m.x = pyo.Var(initialize=1.0)
    >>> m.least = pyo.Param(initialize=0.0, mutable=True)
    >>> m.w = RandomParam(data=np.array([1.0, 3.0]))
    >>> m.cost = pyo.Objective(expr=E((m.x - m.w) ** 2))
    >>> m.row = pyo.Constraint(expr=m.x >= m.least)
    >>> print(pareto(m, m.least, [2.5, 3.0], m.x))
    least  cost    x
    ----------------
      2.5  1.25  2.5
        3     2    3
    """
    if not is_mutable_param(parameter):
        raise ModelError(
            f"pareto: '{parameter}' is no mutable Param, or more than one: give m.p[i] of an "
            "indexed one. Declare m.p = Param(initialize=..., mutable=True), and use it in a "
            "constraint or in the objective."
        )
    number = pyo.value(parameter)
    solver = pyo.SolverFactory(solver) if isinstance(solver, str) else solver
    variables = decisions_of(model)
    points = []
    with kept(model):
        try:
            for v in values:
                parameter.set_value(float(v))
                points.append(_point(model, float(v), expressions, variables, solver, options))
        finally:
            parameter.set_value(number)
    names = tuple(getattr(e, "name", None) or str(e) for e in expressions)
    return Frontier(parameter.name, objective_of(model).name, names, tuple(points))


def _point(
    model: Any, parameter: float, expressions: Sequence[Any], variables: Sequence[Any],
    solver: Any, options: Mapping[str, Any] | None,
) -> Point:  # fmt: skip
    try:
        objective = solve(model, solver, options or {})
    except Unsolved as error:
        nothing = (float(np.nan),) * len(expressions)
        return Point(parameter, float(np.nan), nothing, {}, str(error))
    told = numbers_of(model, expressions)
    return Point(parameter, objective, told, values_of(variables))
