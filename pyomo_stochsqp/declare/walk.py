r"""From a Pyomo model to a StochasticProgram: collect, validate, organise the randomness."""

from __future__ import annotations

import math
from typing import Any

from pyomo.core.base import Constraint, Objective, minimize
from pyomo.core.expr import numeric_expr as ne
from pyomo.core.expr.visitor import identify_variables

from ..errors import ModelError
from .affine import split
from .expectation import ExpectationData, random_members
from .program import Function, Leaf, Part, Row, Source, StochasticProgram, Term
from .source import probabilities


def read_model(model: Any) -> StochasticProgram:
    """Read and validate a constructed model."""
    objectives = list(model.component_data_objects(Objective, active=True, descend_into=True))
    if len(objectives) != 1:
        names = ", ".join(o.name for o in objectives) or "none"
        raise ModelError(
            f"Model '{model.name}' needs exactly one active objective; found {len(objectives)} "
            f"({names}). Deactivate the others or add an Objective."
        )
    objective = objectives[0]
    reader = _Reader()
    objective_function = reader.function(objective.expr, objective.name)
    rows = []
    for con in model.component_data_objects(Constraint, active=True, descend_into=True):
        body = reader.function(con.body, con.name)
        lower = -math.inf if con.lb is None else float(con.lb)
        upper = math.inf if con.ub is None else float(con.ub)
        rows.append(Row(con, body, lower, upper))
    sources, leaves = reader.organise()
    return StochasticProgram(
        model=model,
        variables=reader.variables(),
        objective=reader.finish(objective_function),
        objective_component=objective,
        sign=1 if objective.sense == minimize else -1,
        rows=[Row(r.component, reader.finish(r.body), r.lower, r.upper) for r in rows],
        sources=sources,
        leaves=leaves,
    )


class _Reader:
    """Collects the parts of randomness while functions are read, then numbers the sources.

    While reading, a Term's ``source`` is the number of one of its parts; parts that meet in one
    integrand are united, and :meth:`finish` renumbers the terms once all of the model was seen.
    """

    def __init__(self) -> None:
        self._parts: list[Part] = []
        self._part_of: dict[Any, int] = {}
        self._owner: list[int] = []  # union-find over parts
        self._members: dict[int, Any] = {}
        self._variables: dict[int, Any] = {}
        self._source_of_part: list[tuple[int, int]] = []

    def function(self, expr: Any, where: str) -> Function:
        exact, found = split(expr, where)
        terms: list[Term] = []
        for multiplier, node in found:
            if node.scenarios is not None:
                part = self._scenario_part(node, where)
                terms.append(Term(part, multiplier, scenarios=node.scenarios))
                for e in node.scenarios:
                    self._see(e)
            else:
                for summand in _summands(node.integrand):
                    members = random_members(summand)
                    if not members:
                        exact = exact + multiplier * summand
                        continue
                    parts = [self._random_part(r) for r in members]
                    for p in parts[1:]:
                        self._unite(parts[0], p)
                    terms.append(Term(parts[0], multiplier, integrand=summand))
                    self._see(summand)
            self._see(multiplier)
        outside = random_members(exact)
        if outside:
            raise ModelError(
                f"'{where}': RandomParam '{outside[0].name}' is used outside an expectation. Put "
                "the term that uses it under E(...)."
            )
        self._see(exact)
        return Function(exact, tuple(terms))

    def finish(self, function: Function) -> Function:
        terms = (
            Term(self._source_of_part[t.source][0], t.multiplier, t.integrand, t.scenarios)
            for t in function.terms
        )
        return Function(function.exact, tuple(terms))

    def variables(self) -> list[Any]:
        return list(self._variables.values())

    def organise(self) -> tuple[list[Source], dict[int, Leaf]]:
        groups: dict[int, list[int]] = {}
        for p in range(len(self._parts)):
            groups.setdefault(self._root(p), []).append(p)
        self._source_of_part = [(0, 0)] * len(self._parts)
        sources = []
        for members in groups.values():
            for position, p in enumerate(members):
                self._source_of_part[p] = (len(sources), position)
            parts = tuple(self._parts[p] for p in members)
            sources.append(Source(" x ".join(p.name for p in parts), parts))
        leaves = {}
        for key, (member, part) in self._members.items():
            s, position = self._source_of_part[part]
            component = member.parent_component()
            leaves[key] = Leaf(s, position, component.field, component.column(member.index()))
        return sources, leaves

    def _see(self, expr: Any) -> None:
        if hasattr(expr, "is_expression_type"):
            for v in identify_variables(expr, include_fixed=False):
                self._variables.setdefault(id(v), v)

    def _random_part(self, member: Any) -> int:
        source = member.parent_component().source
        if id(source) not in self._part_of:
            self._add_part(id(source), source.freeze())
        part = self._part_of[id(source)]
        self._members[id(member)] = (member, part)
        return part

    def _scenario_part(self, node: ExpectationData, where: str) -> int:
        count = len(node.scenarios)
        weights = probabilities(node.probabilities(), count, where)
        key = (
            node._scenario_base if node._scenario_base is not None else id(node),
            tuple(node.scenario_keys),
            None if weights is None else weights.tobytes(),
        )
        if key not in self._part_of:
            name = "scenarios" if not self._parts else f"scenarios{len(self._parts) + 1}"
            self._add_part(
                key, Part(name, (), size=count, weights=weights, scenario_keys=node.scenario_keys)
            )
        return self._part_of[key]

    def _add_part(self, key: Any, part: Part) -> None:
        self._part_of[key] = len(self._parts)
        self._parts.append(part)
        self._owner.append(len(self._owner))

    def _root(self, p: int) -> int:
        while self._owner[p] != p:
            p = self._owner[p]
        return p

    def _unite(self, a: int, b: int) -> None:
        self._owner[self._root(b)] = self._root(a)


def _summands(expr: Any) -> list[Any]:
    """Top-level summands, so that independent parts that only add up stay separate sources."""
    if isinstance(expr, ne.SumExpression):
        return [t for arg in expr.args for t in _summands(arg)]
    return [expr]
