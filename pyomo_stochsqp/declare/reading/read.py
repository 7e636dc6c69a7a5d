r"""From a Pyomo model to a StochasticProgram: collect, validate, organise the randomness."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from pyomo.core.base import Constraint, Objective, minimize
from pyomo.core.expr.numvalue import native_numeric_types

from ...deadline import check_time
from ...errors import ModelError
from ...given import asked, real
from ..expectation import ExpectationData
from ..formula_node import RandomFormula
from ..functionals.chance import by_quantile
from ..functionals.kinks import has_kinks, smoothed, smoothed_scenarios
from ..program import Definition, Function, Row, StochasticProgram, Term
from ..randomness.numbering import Randomness
from ..recourse_block import recourse_blocks, with_recourse
from ..scan import Contents, scan
from .checks import (
    bounds_of,
    check_components,
    check_constructed,
    check_contents,
    check_every_source_is_used,
    check_interval,
    check_row_can_hold,
    check_variables,
)
from .definitions import Definitions
from .summands import summands
from .terms import split


class Asked(NamedTuple):
    """An expression that somebody wants to know, as if it were a row without bounds."""

    name: str
    expr: Any


def read_model(
    model: Any, as_written: bool = False, asked: Sequence[Asked] = ()
) -> StochasticProgram:
    """Read and validate a constructed model.

    Chance constraints are rewritten for a solver, unless their values are wanted, ``as_written``.
    ``asked`` are further expressions, whose rows follow those of the constraints.

    >>> import pyomo.environ as pyo, scipy.stats as st
    >>> from pyomo_stochsqp import E, RandomParam
    >>> from pyomo_stochsqp.declare import read_model
    >>> m = pyo.ConcreteModel()
    >>> m.x = pyo.Var(initialize=1.0)
    >>> m.w = RandomParam(distribution=st.norm())
    >>> m.obj = pyo.Objective(expr=E((m.w - m.x) ** 2) + m.x)
    >>> program = read_model(m)
    >>> [s.name for s in program.sources], len(program.objective.terms)
    (['w'], 1)
    """
    check_constructed(model)
    check_components(model)
    _refuse_recourse(model)
    reader = _Reader(as_written)
    objective = _single_objective(model)
    target, _ = reader.function(0.0 if objective is None else objective.expr, objective)
    rows, settled = [], []
    for constraint in model.component_data_objects(Constraint, active=True, descend_into=True):
        lower, body, upper = reader.bounded(constraint)
        if lower == -math.inf and upper == math.inf:
            continue
        if body is not None:
            rows.append(Row(constraint, body, lower, upper))
        else:
            settled.append(constraint)
    if objective is None and any(row.body.sampled for row in rows):
        raise ModelError(
            f"Model '{model.name}' has expectation constraints but no active objective. Add one; "
            "if any feasible point will do, add Objective(expr=0)."
        )
    for one in asked:
        rows.append(Row(one, reader.function(one.expr, one)[0], -math.inf, math.inf))
    check_every_source_is_used(model, reader.randomness.used_sources())
    variables = check_variables(model, reader.variables)
    sources, leaves = reader.randomness.organise()
    place = reader.randomness.source_number
    return StochasticProgram(
        model=model,
        variables=variables,
        start=np.array([starting_value(v) for v in variables], dtype=float),
        objective=_renumbered(target, place),
        objective_component=objective,
        sign=1 if objective is None or objective.sense == minimize else -1,
        rows=[Row(r.component, _renumbered(r.body, place), r.lower, r.upper) for r in rows],
        settled=settled,
        sources=sources,
        leaves=leaves,
        random_params=list(reader.random_params.values()),
        named=list(reader.named.values()),
        definitions=reader.numbered_definitions(),
        rounded=reader.rounded,
    )


def _refuse_recourse(model: Any) -> None:
    if with_recourse(model):
        raise ModelError(
            f"Recourse '{recourse_blocks(model)[0].name}' depends on random numbers, and what is "
            "asked for here looks at models without recourse. Write its scenarios out first, with "
            "TransformationFactory('stochsqp.extensive_form').create_using(model, n_scenarios=...)."
        )


def read_formula(node: RandomFormula) -> StochasticProgram:
    """One expectation or quantile as a program of its own: its minimum, without rows."""
    reader = _Reader(as_written=True)
    target, _ = reader.function(node, node)
    sources, leaves = reader.randomness.organise()
    variables = list(reader.variables.values())
    return StochasticProgram(
        model=None,
        variables=variables,
        start=np.array([starting_value(v) for v in variables], dtype=float),
        objective=_renumbered(target, reader.randomness.source_number),
        objective_component=node,
        sign=1,
        rows=(),
        settled=(),
        sources=sources,
        leaves=leaves,
        random_params=list(reader.random_params.values()),
        named=list(reader.named.values()),
        definitions=reader.numbered_definitions(),
        rounded=reader.rounded,
    )


def starting_value(variable: Any) -> float:
    """The variable's value, or, as other solvers have it, 0 within its bounds."""
    number = variable.value
    if number is not None:
        return real(("the starting value of", variable), number)
    lower, upper = bounds_of(variable)
    return min(max(0.0, lower), upper)


def _single_objective(model: Any) -> Any:
    objectives = list(model.component_data_objects(Objective, active=True, descend_into=True))
    if len(objectives) > 1:
        names = ", ".join(o.name for o in objectives[:5])
        raise ModelError(
            f"Model '{model.name}' has {len(objectives)} active objectives ({names}). Deactivate "
            "all but one, for example with m.obj.deactivate()."
        )
    return objectives[0] if objectives else None


def _renumbered(function: Function, source_number: list[int]) -> Function:
    """While a model is read, a term names a part; now parts have become sources."""
    if not function.terms:
        return function
    terms = tuple(
        Term(source_number[t.source], t.multiplier, t.integrand, t.scenarios)
        for t in function.terms
    )
    return replace(function, terms=terms)


class _Reader:
    """Reads functions one by one and collects their variables and randomness.

    Components are passed along for messages only: making a name costs more than reading a row.
    """

    def __init__(self, as_written: bool) -> None:
        self._as_written = as_written
        self.variables: dict[int, Any] = {}
        self.random_params: dict[int, Any] = {}
        self.named: dict[int, Any] = {}
        self.randomness = Randomness()
        #: kinks were rounded off by their spread
        self.rounded = False
        self._definitions = Definitions(lambda node, where: self.function(node, where)[0])

    def numbered_definitions(self) -> list[Definition]:
        """The definitions of all formulas, once the randomness is organised."""
        place = self.randomness.source_number
        return [replace(d, body=_renumbered(d.body, place)) for d in self._definitions.ordered()]

    def bounded(self, constraint: Any) -> tuple[float, Function | None, float]:
        """(lower, body, upper) of a constraint; no body if it cannot depend on any variable."""
        lower, body, upper = asked(constraint, constraint.to_bounded_expression, raises=ModelError)
        low = _number(lower, constraint, -math.inf)
        high = _number(upper, constraint, math.inf)
        seen = scan(body)
        check_contents(seen, constraint, outside=True)
        wanted = body
        if seen.expectations and not self._as_written:
            wanted = asked(constraint, by_quantile, body, low, high, raises=ModelError)
        if wanted is not body:
            self.named.update(seen.named)
            seen = scan(wanted)
        function, depends = self.function(wanted, constraint, seen)
        check_interval(constraint, low, high)
        if not depends:
            check_row_can_hold(constraint.name, body, low, high)
            return low, None, high
        return low, function, high

    def function(
        self, expr: Any, where: Any, seen: Contents | None = None
    ) -> tuple[Function, bool]:
        """An expression as exact part and expectations, and whether it depends on variables."""
        return asked(where, self._function, expr, where, seen, raises=ModelError)

    def _function(self, expr: Any, where: Any, seen: Contents | None) -> tuple[Function, bool]:
        check_time()
        seen = scan(expr) if seen is None else seen
        check_contents(seen, where, outside=True)
        self._collect(seen)
        depends = bool(seen.variables)
        if not seen.expectations:
            return Function(expr, formula=bool(seen.symbols)), depends
        formulas = []

        def formula(e: Any) -> Any:
            formulas.append(e)
            return self._definitions.in_symbols(e, scan(e), where)

        known = len(self.variables)
        exact, found = split(expr, formula)
        terms: list[Term] = []
        symbols = bool(formulas or seen.symbols)
        for multiplier, node in found:
            if node.explicit is not None:
                term, inside = self._scenario_term(multiplier, node, where)
                terms.append(term)
            else:
                deterministic, random, inside = self._template_terms(multiplier, node, where)
                exact = exact + deterministic
                terms += random
            depends = depends or bool(inside.variables)
            symbols = symbols or bool(inside.symbols)
        depends = depends or symbols or len(self.variables) > known
        return Function(exact, tuple(terms), symbols), depends

    def _template_terms(
        self, multiplier: Any, node: ExpectationData, where: Any
    ) -> tuple[Any, list[Term], Contents]:
        integrand, seen = node.integrand, scan(node.integrand)
        if seen.kinked:
            self.named.update(seen.named)
            integrand = smoothed(integrand)
            seen = scan(integrand)
        integrand, seen = self._under_expectation(integrand, seen, where)
        deterministic: Any = 0.0
        terms = []
        for part in summands(integrand, seen):
            if part.sources:
                number = self.randomness.part_of(part.sources, part.random)
                terms.append(Term(number, multiplier, integrand=part.expression))
            else:
                deterministic = deterministic + multiplier * part.expression
        return deterministic, terms, seen

    def _scenario_term(
        self, multiplier: Any, node: ExpectationData, where: Any
    ) -> tuple[Term, Contents]:
        resolved = node.explicit.resolve()
        expressions, looks = resolved.expressions, _looks(resolved.expressions)
        if any(has_kinks(seen) for seen in looks):
            self.named.update((key, e) for look in looks if look for key, e in look.named.items())
            expressions = smoothed_scenarios(node.explicit, resolved)
            looks = _looks(expressions)
        read, all_of_them = [], Contents()
        for key, expression, seen in zip(resolved.keys, expressions, looks, strict=True):
            if seen is not None:
                expression, seen = self._under_expectation(expression, seen, where, key)
                all_of_them.variables.update(seen.variables)
                all_of_them.symbols.update(seen.symbols)
            read.append(expression)
        number = self.randomness.part_of_scenarios(node, resolved)
        return Term(number, multiplier, scenarios=read), all_of_them

    def _under_expectation(
        self, expr: Any, seen: Contents, where: Any, *scenario: Any
    ) -> tuple[Any, Contents]:
        """What stands under E, with symbols for expectations inside; ``scenario`` is the key of an
        explicit one."""
        check_contents(seen, where, False, *scenario)
        self._collect(seen)
        if not seen.expectations:
            return expr, seen
        expr = self._definitions.in_symbols(expr, seen, where)
        return expr, scan(expr)

    def _collect(self, seen: Contents) -> None:
        self.variables.update(seen.variables)
        self.named.update(seen.named)
        self.rounded = self.rounded or seen.rounded
        for member in (*seen.random.values(), *seen.pinned.values()):
            component = member.parent_component()
            self.random_params[id(component)] = component


def _looks(expressions: Sequence[Any]) -> list[Contents | None]:
    """What the expressions of scenarios contain; None for numbers."""
    return [None if e.__class__ in native_numeric_types else scan(e) for e in expressions]


def _number(bound: Any, where: Any, absent: float) -> float:
    if bound is None:
        return absent
    if bound.__class__ not in native_numeric_types:
        check_contents(scan(bound), where, outside=True)
    return real(("a bound of", where), bound, infinite=True)
