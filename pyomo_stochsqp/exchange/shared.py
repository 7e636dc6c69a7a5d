r"""One first stage for all scenarios: x_s^1 = ... = x_s^S is written by using one x.

The variables of the first stage are those of the model; in every expression of a scenario they take
the place of its own, which become References, so that ``m.scenario[s].x`` still shows them. Bounds
are met in all scenarios at once: the model's variable has their intersection.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyomo.environ as pyo
from pyomo.common.modeling import unique_component_name
from pyomo.core.expr.visitor import ExpressionReplacementVisitor, identify_variables

from ..declare import RandomParam
from ..errors import ModelError

#: components whose expressions are rewritten, and those that have none
REWRITTEN = {pyo.Constraint, pyo.Objective, pyo.Expression}
WITHOUT = {pyo.Var, pyo.Param, pyo.Set, pyo.RangeSet, pyo.Block, pyo.Suffix, pyo.SetOf}
WITHOUT |= {pyo.BuildAction, pyo.BuildCheck, RandomParam}


def share(model: Any, blocks: Any, first: Mapping[str, list[Any]]) -> None:
    """Give the blocks one first stage; ``first`` are each block's own variables, in one order."""
    names = list(first)
    reference = first[names[0]]
    paths = [_path(v, blocks[names[0]]) for v in reference]
    for name in names[1:]:
        theirs = [_path(v, blocks[name]) for v in first[name]]
        if theirs != paths:
            raise ModelError(
                f"from_scenario_creator: the first stage of '{name}' is not that of '{names[0]}': "
                f"{_difference(theirs, paths)}."
            )
    common = _new_variables(model, reference)
    for k, variable in enumerate(common):
        _agree(variable, [first[name][k] for name in names])
    for name in names:
        _rewrite(name, blocks[name], first[name], common)
        _refer(first[name], common)


def _path(variable: Any, block: Any) -> str:
    return str(variable.getname(fully_qualified=True, relative_to=block))


def _difference(theirs: list[str], ours: list[str]) -> str:
    for a, b in zip(theirs, ours, strict=False):
        if a != b:
            return f"'{a}' stands where '{b}' should"
    return f"{len(theirs)} variables instead of {len(ours)}"


def _by_component(variables: list[Any]) -> dict[int, tuple[Any, list[int]]]:
    """Components of variables, each with the positions of its members."""
    found: dict[int, tuple[Any, list[int]]] = {}
    for k, v in enumerate(variables):
        component = v.parent_component()
        found.setdefault(id(component), (component, []))[1].append(k)
    return found


def _new_variables(model: Any, variables: list[Any]) -> list[Any]:
    """Variables of the model, by the names they have in the scenario."""
    made: list[Any] = [None] * len(variables)
    for component, places in _by_component(variables).values():
        name = unique_component_name(model, component.local_name)
        if component.is_indexed():
            model.add_component(name, pyo.Var([variables[k].index() for k in places]))
        else:
            model.add_component(name, pyo.Var())
        new = model.component(name)
        for k in places:
            made[k] = new[variables[k].index()]
    return made


def _agree(variable: Any, theirs: list[Any]) -> None:
    """Domain, value and bounds of a variable that stands for one of every scenario."""
    variable.domain = theirs[0].domain
    lower = [v.lb for v in theirs if v.lb is not None]
    upper = [v.ub for v in theirs if v.ub is not None]
    variable.setlb(max(lower, default=None))
    variable.setub(min(upper, default=None))
    values = [v.value for v in theirs if v.value is not None]
    if values:
        variable.set_value(values[0], skip_validation=True)
    if any(v.fixed for v in theirs):
        fixed = {v.value for v in theirs if v.fixed}
        if len(fixed) > 1:
            raise ModelError(
                f"from_scenario_creator: '{variable.name}' is fixed to different values in "
                "different scenarios."
            )
        variable.fix(fixed.pop())


def _rewrite(name: str, block: Any, own: list[Any], common: list[Any]) -> None:
    """Put the common variables into all expressions of a block."""
    new = {id(v): c for v, c in zip(own, common, strict=True)}
    visitor = ExpressionReplacementVisitor(substitute=new, descend_into_named_expressions=False)
    for component in block.component_objects(active=True, descend_into=True):
        if component.ctype in REWRITTEN:
            for data in component.values():
                data.set_value(visitor.walk_expression(data.expr))
        elif component.ctype not in WITHOUT:
            raise ModelError(
                f"from_scenario_creator: '{component.local_name}' in scenario '{name}' is a "
                f"{component.ctype.__name__}, which may use variables of the first stage and "
                "cannot be rewritten. Transform it first, or deactivate it."
            )
    _check_gone(name, block, new)


def _check_gone(name: str, block: Any, new: Mapping[int, Any]) -> None:
    """Named expressions that are no components would hide what they contain."""
    for data in block.component_data_objects((pyo.Constraint, pyo.Expression), active=True):
        for v in identify_variables(data.expr, include_fixed=True):
            if id(v) in new:
                raise ModelError(
                    f"from_scenario_creator: '{data.local_name}' in scenario '{name}' holds "
                    f"'{v.local_name}' inside an expression that is no component of the model. "
                    "Make it one: m.name = Expression(expr=...)."
                )


def _refer(own: list[Any], common: list[Any]) -> None:
    """A scenario's variables show the model's, where all of a component are common."""
    for component, places in _by_component(own).values():
        if len(places) < len(component):
            continue
        parent, name = component.parent_block(), component.local_name
        shown = {own[k].index(): common[k] for k in places}
        parent.del_component(component)
        parent.add_component(name, pyo.Reference(shown if component.is_indexed() else shown[None]))
