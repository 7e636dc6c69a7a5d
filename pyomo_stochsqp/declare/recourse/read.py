r"""From a Pyomo model with Recourse to a TwoStage record: collect, validate, draw the line.

Variables of Recourse blocks are decided in the second stage, all others in the first. A row belongs
to the stage of its block; in one of the first stage, second-stage variables and random numbers
stand under E.
"""

from __future__ import annotations

from math import inf
from typing import Any

from pyomo.core.base import Constraint, Objective, Var, minimize

from ...errors import EmptyModelError, ModelError
from ...given import asked, real
from ..program import Leaf, Source
from ..randomness.numbering import Randomness
from ..randomness.random_param import RandomParam
from ..reading.checks import (
    bounds_of,
    check_components,
    check_constructed,
    check_contents,
    check_interval,
)
from ..reading.summands import sources_of
from ..reading.terms import shortened, split
from ..recourse_block import recourse_blocks
from ..scan import Contents, scan
from .two_stage import MeanRow, TwoStage, TwoStageRow


def read_two_stage(model: Any) -> TwoStage:
    """Read and validate a constructed model that has Recourse."""
    check_constructed(model)
    check_components(model)
    if not recourse_blocks(model):
        raise ModelError(
            f"Model '{model.name}' has no Recourse, so nothing in it is decided when the random "
            "numbers are known."
        )
    return _Reader(model).read()


class _Reader:
    def __init__(self, model: Any):
        self._model = model
        self._blocks = recourse_blocks(model)
        self._second = {
            id(v) for b in self._blocks for v in b.component_data_objects(Var, descend_into=True)
        }
        self._found: dict[int, Any] = {}
        self._random: dict[int, Any] = {}

    def read(self) -> TwoStage:
        objective = self._objective()
        exact, expected = self._sum(objective, objective.expr)
        first, second, means = self._rows()
        x, y = self._variables()
        source, leaves = self._randomness()
        return TwoStage(
            self._model, self._blocks, objective, 1 if objective.sense == minimize else -1,
            x, y, exact, expected, first, second, means, source, leaves,
        )  # fmt: skip

    def _objective(self) -> Any:
        found = list(self._model.component_data_objects(Objective, active=True, descend_into=True))
        if len(found) != 1:
            names = ", ".join(o.name for o in found[:5]) or "none"
            raise ModelError(
                f"Model '{self._model.name}' has Recourse, which needs one active objective; there "
                f"are {len(found)} ({names})."
            )
        return found[0]

    def _sum(self, where: Any, expr: Any) -> tuple[Any, list[tuple[Any, Any]]]:
        """(what stands outside of E, [(multiplier, what stands under E)])."""

        def formula(e: Any) -> Any:
            raise ModelError(
                f"'{where.name}': {shortened(e)} is a formula of expectations; beside Recourse "
                "only sums of E(...) times numbers are possible. Risk can be written with "
                "variables: CVaR is t + E(excess)/(1 - level), with excess >= 0 and "
                "excess >= loss - t in the Recourse."
            )

        seen = scan(expr)
        check_contents(seen, where, outside=True)
        self._refuse_second(seen, where)
        exact, terms = split(expr, formula)
        self._collect(seen)
        expected = []
        for multiplier, node in terms:
            if node.explicit is not None:
                raise ModelError(
                    f"'{where.name}': {node} has explicit scenarios, and the model has "
                    "Recourse; write the scenarios as data of a RandomParam."
                )
            inside = scan(node.integrand)
            self._check_inside(inside, where)
            self._collect(inside)
            expected.append((multiplier, node.integrand))
        return exact, expected

    def _rows(self) -> tuple[list[TwoStageRow], list[TwoStageRow], list[MeanRow]]:
        first: list[TwoStageRow] = []
        second: list[TwoStageRow] = []
        means: list[MeanRow] = []
        later = self._blocks_of_the_second_stage()
        for block in self._model.block_data_objects(active=True, descend_into=True):
            for c in block.component_data_objects(Constraint, active=True, descend_into=False):
                lower, body, upper = asked(c, c.to_bounded_expression, raises=ModelError)
                if id(block) not in later and scan(body).expectations:
                    exact, expected = self._sum(c, body)
                    low, up = self._bound(c, lower, -inf), self._bound(c, upper, inf)
                    check_interval(c, low, up)
                    means.append(MeanRow(c, low, exact, expected, up))
                    continue
                row = TwoStageRow(c, lower, body, upper)
                if id(block) in later:
                    second.append(row)
                else:
                    first.append(row)
                for part in (body, lower, upper):
                    if part is not None:
                        self._check_row(scan(part), c, id(block) in later)
        return first, second, means

    def _bound(self, constraint: Any, bound: Any, absent: float) -> float:
        if bound is None:
            return absent
        check_contents(scan(bound), constraint, outside=True)
        return real(("a bound of", constraint), bound, infinite=True)

    def _blocks_of_the_second_stage(self) -> set[int]:
        return {
            id(inner)
            for block in self._blocks
            for inner in block.block_data_objects(active=True, descend_into=True)
        }

    def _check_row(self, seen: Contents, constraint: Any, later: bool) -> None:
        if later:
            self._check_inside(seen, constraint)
        else:
            check_contents(seen, constraint, outside=True)
            self._refuse_second(seen, constraint)
        self._collect(seen)

    def _check_inside(self, seen: Contents, where: Any) -> None:
        check_contents(seen, where)
        if seen.expectations:
            node = next(iter(seen.expectations.values()))
            raise ModelError(
                f"'{where.name}': {shortened(node)} stands where decisions are made scenario by "
                "scenario. An expectation there would be one over all scenarios; put it into the "
                "objective."
            )

    def _refuse_second(self, seen: Contents, where: Any) -> None:
        for key, variable in seen.variables.items():
            if key in self._second:
                raise ModelError(
                    f"'{where.name}': variable '{variable.name}' is decided in the second stage, "
                    "once for every scenario. Put the row into its Recourse block, or the term "
                    "under E(...)."
                )

    def _collect(self, seen: Contents) -> None:
        self._found.update(seen.variables)
        self._random.update(seen.random)

    def _variables(self) -> tuple[list[Any], list[Any]]:
        """Those that occur, in order of declaration."""
        ordered = {
            id(v): v for v in self._model.component_data_objects(Var) if id(v) in self._found
        }
        ordered.update(self._found)
        root = self._model.model()
        for v in ordered.values():
            if v.parent_block() is None or v.model() is not root:
                raise ModelError(
                    f"Variable '{v.name}' belongs to another model than '{self._model.name}'. "
                    "Build expressions from the variables of the model that is solved."
                )
            if id(v) in self._second:
                for bound in (v.lower, v.upper):
                    if bound is not None:
                        self._random.update(scan(bound).random)
        x = [v for key, v in ordered.items() if key not in self._second]
        y = [v for key, v in ordered.items() if key in self._second]
        if not x:
            raise EmptyModelError(
                f"Model '{self._model.name}' has no free variables outside of its Recourse, so "
                "there is nothing to decide before the random numbers are known."
            )
        for v in x:
            check_interval(v, *bounds_of(v))
        return x, y

    def _randomness(self) -> tuple[Source, dict[int, Leaf]]:
        """Everything random in one source: a decision of the second stage may depend on all."""
        members = tuple(self._random.values())
        self._check_all_is_used(members)
        randomness = Randomness()
        randomness.part_of(sources_of(members), members)
        (source,), leaves = randomness.organise()
        return source, leaves

    def _check_all_is_used(self, members: tuple[Any, ...]) -> None:
        used = {id(source) for source in sources_of(members)}
        for component in self._model.component_objects(RandomParam, descend_into=True):
            unused = id(component.source) not in used and not component.is_reference()
            if unused and (component.random or not members):
                raise ModelError(
                    f"RandomParam '{component.name}' appears in no expectation of the model and in "
                    "no row of its Recourse. Was it turned into a number while an expression was "
                    "built, multiplied by 0, or forgotten? Use it, or remove it with "
                    "del_component."
                )
