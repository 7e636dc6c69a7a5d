"""Rows of the first stage stand in every scenario; S copies of one row have dependent gradients.

Once variables are shared, such rows are the same expression in the same variables. They become rows
of the model, ``m.common[name]``, and are deactivated in the scenarios.
"""

from __future__ import annotations

from typing import Any

import pyomo.environ as pyo
from pyomo.common.modeling import unique_component_name
from pyomo.core.expr.compare import convert_expression_to_prefix_notation
from pyomo.core.expr.visitor import identify_variables

from ..declare.randomness.scenario_set import own_variables

#: what a row says -> the row
Said = dict[tuple[Any, ...], Any]


def take_common_rows(model: Any, blocks: Any) -> None:
    """Move what all blocks say into the model."""
    inside = {id(v) for block in blocks.values() for v in own_variables(block)}
    every = [_without(block, inside) for block in blocks.values()]
    first, others = every[0], every[1:]
    common = {said: row for said, row in first.items() if all(said in mine for mine in others)}
    if not common:
        return
    named = {_name(row, next(iter(blocks.values()))): row for row in common.values()}
    name = unique_component_name(model, "common")
    model.add_component(name, pyo.Constraint(list(named), rule=lambda m, key: named[key].expr))
    for mine in every:
        for said in common:
            mine[said].deactivate()


def _without(block: Any, inside: set[int]) -> Said:
    """The rows of a block that hold none of these variables."""
    found: Said = {}
    for row in block.component_data_objects(pyo.Constraint, active=True):
        if not any(id(v) in inside for v in identify_variables(row.expr, include_fixed=True)):
            said = tuple(_said(e) for e in convert_expression_to_prefix_notation(row.expr))
            if said in found:
                row.deactivate()
            found.setdefault(said, row)
    return found


def _said(e: Any) -> Any:
    """A part of an expression by what it means: variables by identity, all else by value."""
    if hasattr(e, "is_variable_type") and e.is_variable_type():
        return id(e)
    if hasattr(e, "is_parameter_type") and e.is_parameter_type():
        return pyo.value(e)
    return e


def _name(row: Any, block: Any) -> str:
    return str(row.getname(fully_qualified=True, relative_to=block))
