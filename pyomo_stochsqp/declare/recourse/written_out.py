r"""The second stage, written out: a Block for every scenario beside the Recourse.

Finite data, and distributions after discretisation, have rows w_1, ..., w_S with probabilities p_s.
The Recourse is copied S times, with other variables and the numbers of row s; E(cost) becomes
sum_s p_s cost_s. The Recourse itself is switched off.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from math import prod
from typing import Any

import numpy as np
from pyomo.common.modeling import unique_component_name
from pyomo.core.base import Block, Constraint, Expression, Objective, Var

from ...errors import ModelError
from ..randomness.probabilities import probabilities
from ..randomness.random_param import RandomParam
from ..randomness.scenario_set import ScenarioSet
from ..randomness.tables import Table
from ..reading.summands import sources_of
from ..recourse_block import recourse_blocks, with_recourse
from ..scan import expectations_inside, scan
from ..template import Template

#: copies beyond which memory runs out before any solver has started
MOST_SCENARIOS = 50_000


def random_of_recourse(model: Any) -> list[Any]:
    """RandomParam members that the second stage may depend on: they are one joint outcome."""
    if not with_recourse(model):
        return []
    second = _second_variables(model)
    found: dict[int, Any] = {}
    for block in recourse_blocks(model):
        for expr in _expressions(block):
            found.update(scan(expr).random)
    for node in _expectations(model):
        inside = scan(node.integrand)
        if any(key in second for key in inside.variables):
            found.update(inside.random)
    return list(found.values())


def write_recourse_out(model: Any) -> list[Any]:
    """Changes the model; the blocks that were added."""
    members = random_of_recourse(model)
    if not members:
        return []
    rows, weights = _scenarios(model, members)
    second = _second_variables(model)
    nodes = [
        n for n in _expectations(model) if any(k in second for k in scan(n.integrand).variables)
    ]
    numbers: list[dict[int, Any]] = [dict(row) for row in rows]
    added = [_copies(block, numbers) for block in recourse_blocks(model)]
    name = added[0].name
    for node in nodes:
        template = Template(node.integrand, numbers[0])
        written = [template.copy(row) for row in numbers]
        node.explicit = ScenarioSet(dict(enumerate(written)), weights, False, name)
        node.integrand = node._average = node.compiled = None
    return added


def _copies(block: Any, numbers: list[dict[int, Any]]) -> Any:
    """One copy of a Recourse for every scenario; what stands for its variables goes to
    ``numbers``."""
    parent = block.parent_block()
    copies = Block(range(len(numbers)))
    parent.add_component(unique_component_name(parent, f"{block.local_name}_in"), copies)
    own = list(block.component_data_objects(Var, descend_into=True))
    templates: list[tuple[int, Template]] = []
    for s, row in enumerate(numbers):
        copy = block.clone()
        twins = list(copy.component_data_objects(Var, descend_into=True))
        row.update(zip(map(id, own), twins, strict=True))
        if not templates:
            templates = _templates(block, row)
        for p in list(copy.component_objects(RandomParam, descend_into=True)):
            p.parent_block().del_component(p)
        written = list(_written(copy))
        for at, template in templates:
            written[at].set_value(template.copy(row))
        for v, twin in zip(own, twins, strict=True):
            _set_bounds(v, twin, row)
        copies[s].transfer_attributes_from(copy)
    block.deactivate()
    return copies


def _templates(block: Any, replaced: Mapping[int, Any]) -> list[tuple[int, Template]]:
    """What has an expression in a block, by its place in :func:`_written`."""
    return [
        (at, Template(data.expr, replaced))
        for at, data in enumerate(_written(block))
        if data.expr is not None
    ]


def _written(block: Any) -> Iterator[Any]:
    return block.component_data_objects((Constraint, Expression), descend_into=True)


def _set_bounds(v: Any, twin: Any, row: Mapping[int, Any]) -> None:
    """Bounds that are random become numbers."""
    for bound, put in ((v.lower, twin.setlb), (v.upper, twin.setub)):
        if bound is not None and scan(bound).random:
            put(Template(bound, row).copy(row))


def _scenarios(model: Any, members: list[Any]) -> tuple[list[dict[int, float]], Any]:
    """The numbers of every joint outcome, and their probabilities (None: equal)."""
    sources = sources_of(tuple(members))
    sizes = [_size(m, s) for s in sources for m in [_reader(members, s)]]
    if prod(sizes) > MOST_SCENARIOS:
        raise ModelError(
            f"Recourse '{recourse_blocks(model)[0].name}': written out it has {prod(sizes)} "
            "scenarios, too many for blocks. Solve with SolverFactory('stochsqp'), or draw fewer "
            "with n_scenarios=... and sample_finite=True."
        )
    columns = [(id(m), sources.index(m.parent_component().source), _column(m)) for m in members]
    rows = [
        {key: float(column[place[s]]) for key, s, column in columns}
        for place in product(*map(range, sizes))
    ]
    if all(source.weights is None for source in sources):
        return rows, None
    weights = np.ones(1)
    for source, size in zip(sources, sizes, strict=True):
        p = probabilities(source.weights, range(size), f"Source '{source.name}'")
        weights = np.outer(weights, np.full(size, 1 / size) if p is None else p).ravel()
    return rows, weights.tolist()


def _reader(members: list[Any], source: Any) -> Any:
    return next(m.parent_component() for m in members if m.parent_component().source is source)


def _size(component: Any, source: Any) -> int:
    assert isinstance(component.origin, Table), component.name
    return component.origin.size


def _column(member: Any) -> Any:
    component = member.parent_component()
    column = component.origin.matrix[:, [component.column(member.index())]]
    return (column.toarray() if hasattr(column, "toarray") else np.asarray(column)).ravel()


def _second_variables(model: Any) -> set[int]:
    return {
        id(v)
        for block in recourse_blocks(model)
        for v in block.component_data_objects(Var, descend_into=True)
    }


def _expressions(block: Any) -> Iterator[Any]:
    for c in block.component_data_objects(Constraint, active=True, descend_into=True):
        yield c.expr
    for v in block.component_data_objects(Var, descend_into=True):
        yield from (bound for bound in (v.lower, v.upper) if bound is not None)


def _expectations(model: Any) -> Iterator[Any]:
    """Those over random numbers, each once."""
    seen: set[int] = set()
    for data in model.component_data_objects((Objective, Constraint, Expression)):
        if data.expr is None:
            continue
        for node in expectations_inside(data.expr):
            if id(node) not in seen and getattr(node, "integrand", None) is not None:
                seen.add(id(node))
                yield node
