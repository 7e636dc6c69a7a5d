r"""One declaration per problem with inequalities and bounds, and its published optimal value f*.

    min_x f(x)   subject to   rows of  body <= rhs,  body >= rhs,  body == rhs,   l <= x <= u.

    @problem("MYNAME", start=[1, 5], bounds=[(1, 4), (0, None)], value=-0.25)
    def myname(x):
        x1, x2 = x
        return -x1 / x2, [x1**2 + x2**2 <= 25]

A start outside the bounds is kept as published; solvers project it. ``local`` lists values of f at
other local solutions, each with its reason in the docstring of the problem.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pyomo.environ import ConcreteModel, Constraint, Objective, RangeSet, Var, minimize

Functions = Callable[[list], tuple]
Bounds = Sequence[tuple[float | None, float | None]]


@dataclass(frozen=True)
class Entry:
    """A problem of the collection."""

    name: str
    start: tuple[float, ...]
    bounds: Bounds
    #: f*, as published
    value: float
    functions: Functions
    #: f at other local solutions
    local: tuple[float, ...] = ()

    def build(self) -> ConcreteModel:
        """The model with components x[1..n], objective and c[1..m]."""
        model = ConcreteModel(name=self.name)
        values = dict(enumerate(self.start, 1))
        bounds = dict(enumerate(self.bounds, 1))
        model.x = Var(RangeSet(len(values)), bounds=lambda _, i: bounds[i])
        for i, value in values.items():
            # Some published starts violate their bounds, of which Pyomo would warn.
            model.x[i].set_value(value, skip_validation=True)
        objective, relations = self.functions(list(model.x.values()))
        model.objective = Objective(expr=objective, sense=minimize)
        rows = dict(enumerate(relations, 1))
        model.c = Constraint(RangeSet(len(rows)), rule=lambda _, j: rows[j])
        return model


Collection = dict[str, Entry]


def declare(collection: Collection) -> Callable[..., Callable[[Functions], Functions]]:
    """The decorator ``problem`` of one collection."""

    def problem(
        name: str,
        start: Sequence[float],
        value: float,
        bounds: Bounds | tuple[float | None, float | None] = (None, None),
        local: Sequence[float] = (),
    ) -> Callable[[Functions], Functions]:
        def register(functions: Functions) -> Functions:
            if name in collection:
                raise ValueError(f"problem {name!r} is declared twice")
            collection[name] = Entry(
                name,
                tuple(float(v) for v in start),
                _each(bounds, len(start)),
                value,
                functions,
                tuple(local),
            )
            return functions

        return register

    return problem


def _each(bounds: Bounds | tuple[float | None, float | None], n: int) -> Bounds:
    """One pair per variable; a single pair serves all."""
    if all(b is None or isinstance(b, (int, float)) for b in bounds):
        lower, upper = bounds
        return ((lower, upper),) * n  # type: ignore[return-value]
    if len(bounds) != n:
        raise ValueError(f"{len(bounds)} pairs of bounds for {n} variables")
    return bounds  # type: ignore[return-value]
