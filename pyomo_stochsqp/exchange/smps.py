r"""SMPS files as a Pyomo model with Recourse.

m.x[column]               variables of the first stage, m.second.y[column] those of the second
m.row[row]                rows of the first stage, m.second.row[row] those of the second
m.random.w1, w2, ...      one RandomParam for whatever is drawn together
"""

from __future__ import annotations

from math import inf, sqrt
from typing import Any

import pyomo.environ as pyo
import scipy.stats as st
from pyomo.core.expr.numeric_expr import LinearExpression

from ..declare import E, RandomParam, Recourse
from ..errors import DataError
from .smps_files import Core, Entry, Outcomes, read_smps


def from_smps(path: Any) -> Any:
    """The two-stage model of SMPS files.

    ``path``: one of them, their common path without suffix, their directory, or a file with their
    names. Here capacities are bought before the loads are known:

    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> here = Path(mkdtemp())
    >>> _ = (here / "t.cor").write_text('''NAME t
    ... ROWS
    ...  N cost
    ...  G load
    ... COLUMNS
    ...     capacity cost 2 load 1
    ...     bought cost 7 load 1
    ... RHS
    ...     RHS load 3
    ... ENDATA
    ... ''')
    >>> _ = (here / "t.tim").write_text('''TIME t
    ... PERIODS
    ...     capacity cost first
    ...     bought load second
    ... ENDATA
    ... ''')
    >>> _ = (here / "t.sto").write_text('''STOCH t
    ... INDEP DISCRETE
    ...     RHS load 3 0.5
    ...     RHS load 5 0.5
    ... ENDATA
    ... ''')
    >>> m = from_smps(here / "t")
    >>> results = pyo.SolverFactory("stochsqp").solve(m)
    >>> m.x["capacity"].value, results.problem.upper_bound
    (5.0, 10.0)
    """
    files = read_smps(path)
    core = files.core
    m = pyo.ConcreteModel(files.name)
    m.random = pyo.Block()
    random: dict[Entry, Any] = {}
    for k, outcomes in enumerate(files.random, 1):
        member = _declared(outcomes)
        m.random.add_component(f"w{k}", member)
        for i, at in enumerate(outcomes.entries):
            random[at] = member[i] if member.is_indexed() else member
    early, first = set(files.first_columns), set(files.first_rows)
    later = [c for c in core.columns if c not in early]
    m.x = pyo.Var(files.first_columns)
    rows = [r for r, sense in core.senses.items() if sense != "N"]
    writer = _Writer(core, random)
    m.row = pyo.Constraint(files.first_rows)

    @Recourse(m)
    def second(b: Any) -> None:
        b.y = pyo.Var(later)
        b.row = pyo.Constraint([r for r in rows if r not in first])

    variables = {c: m.x[c] if c in early else m.second.y[c] for c in core.columns}
    for c, v in variables.items():
        low, up = core.bounds.get(c, (0.0, inf))
        v.setlb(None if low == -inf else low)
        v.setub(None if up == inf else up)
        if c in core.integer:
            v.domain = pyo.Integers
    bodies = writer.bodies(variables)
    for r in rows:
        (m.row if r in first else m.second.row)[r] = writer.row(r, bodies.get(r, 0.0))
    cost = writer.costs({c: v for c, v in variables.items() if c in early})
    m.second.cost = pyo.Expression(
        expr=writer.costs({c: v for c, v in variables.items() if c not in early})
    )
    sense = pyo.maximize if core.maximise else pyo.minimize
    constant = -core.entries.get(("", core.objective), 0.0)
    m.obj = pyo.Objective(expr=cost + constant + E(m.second.cost), sense=sense)
    return m


def _declared(outcomes: Outcomes) -> Any:
    if not outcomes.law:
        if len(outcomes.entries) == 1:
            return RandomParam(data=outcomes.values[:, 0], weights=outcomes.probabilities)
        index = range(len(outcomes.entries))
        return RandomParam(index, data=outcomes.values, weights=outcomes.probabilities)
    a, b = outcomes.parameters
    laws = {
        "NORMAL": lambda: st.norm(a, sqrt(b)),
        "UNIFORM": lambda: st.uniform(a, b - a),
        "LOGNORM": lambda: st.lognorm(sqrt(b), scale=pyo.exp(a)),
    }
    if outcomes.law not in laws:
        raise DataError(f"INDEP {outcomes.law} is not supported; {', '.join(laws)} are.")
    return RandomParam(distribution=laws[outcomes.law]())


class _Writer:
    """Writes rows with numbers, and RandomParams where they are random."""

    def __init__(self, core: Core, random: dict[Entry, Any]):
        self._core, self._random = core, random
        #: entries that are random and not in the core file count as 0 there
        self._entries = {**dict.fromkeys(random, 0.0), **core.entries}

    def bodies(self, variables: dict[str, Any]) -> dict[str, Any]:
        """The left-hand side of every row but the objective."""
        numbers: dict[str, tuple[list[float], list[Any]]] = {}
        drawn: dict[str, Any] = {}
        for (column, row), number in self._entries.items():
            if not column or row == self._core.objective:
                continue
            member = self._random.get((column, row))
            if member is not None:
                drawn[row] = drawn.get(row, 0.0) + member * variables[column]
            else:
                coefs, vs = numbers.setdefault(row, ([], []))
                coefs.append(number)
                vs.append(variables[column])
        bodies = {
            row: LinearExpression(constant=0.0, linear_coefs=coefs, linear_vars=vs)
            for row, (coefs, vs) in numbers.items()
        }
        for row, e in drawn.items():
            bodies[row] = bodies.get(row, 0.0) + e
        return bodies

    def row(self, row: str, body: Any) -> Any:
        """The row as a relation."""
        limit = self._random.get(("", row), self._core.entries.get(("", row), 0.0))
        sense, width = self._core.senses[row], self._core.ranges.get(row)
        if body.__class__ is float:
            return pyo.Constraint.Feasible
        if width is None:
            if sense == "E":
                return body == limit
            return body <= limit if sense == "L" else body >= limit
        if sense == "E":
            return (limit, body, limit + width) if width >= 0 else (limit + width, body, limit)
        return (
            (limit - abs(width), body, limit) if sense == "L" else (limit, body, limit + abs(width))
        )

    def costs(self, variables: dict[str, Any]) -> Any:
        """Their part of the objective."""
        objective = self._core.objective
        total: Any = 0.0
        for c, v in variables.items():
            coefficient = self._random.get((c, objective), self._core.entries.get((c, objective)))
            if coefficient is not None:
                total = total + coefficient * v
        return total
