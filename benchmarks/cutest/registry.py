"""One declaration per problem: a name, a starting point, and the functions f and c.

A problem of the collection reads

    min_x f(x)   subject to   c_j(x) := body_j(x) - rhs_j = 0,  j = 1..m,   x in R^n free,

and is declared by a function that receives the variables x_1..x_n in the order of the SIF file
and returns the objective and the list of equations ``body == rhs``, in the order of the SIF file::

    @problem("MYNAME", start=[1.1, 0.1])
    def myname(x):
        x1, x2 = x
        return -x1, [x1**2 + x2**2 == 1]

The SIF rules that matter when a file is read: the constant of a group is subtracted, so it is the
right-hand side of a constraint and is taken off an objective; the entry 'SCALE' of a group divides
the whole group, after its group function.
"""

from collections.abc import Callable, Sequence

from pyomo.environ import ConcreteModel, Constraint, Objective, RangeSet, Var, minimize

Functions = Callable[[list], tuple]

PROBLEMS: dict[str, Callable[[], ConcreteModel]] = {}


def problem(name: str, start: Sequence[float]) -> Callable[[Functions], Functions]:
    """Register under ``name`` the problem that the decorated function states."""

    def register(functions: Functions) -> Functions:
        if name in PROBLEMS:
            raise ValueError(f"problem {name!r} is declared twice")

        def make() -> ConcreteModel:
            return _assemble(name, start, functions)

        make.__doc__ = functions.__doc__
        PROBLEMS[name] = make
        return functions

    return register


def _assemble(name: str, start: Sequence[float], functions: Functions) -> ConcreteModel:
    """The model with components x[1..n], objective and c[1..m]."""
    model = ConcreteModel(name=name)
    values = dict(enumerate((float(value) for value in start), 1))
    model.x = Var(RangeSet(len(values)), initialize=values)
    objective, equations = functions(list(model.x.values()))
    model.objective = Objective(expr=objective, sense=minimize)
    rows = dict(enumerate(equations, 1))
    model.c = Constraint(RangeSet(len(rows)), rule=lambda _, j: rows[j])
    return model
