r"""A model becomes a ``scenario_creator`` for mpi-sppy: scenario s by itself, at probability p_s.

    scenario blocks    the model with one of its blocks; variables outside of them are the first
                       stage
    finite data        the model with RandomParams fixed to one row; all variables are first stage

Each is a copy of the model, so the model is not changed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo
from pyomo.core.expr.visitor import replace_expressions

from ..declare import RandomParam, read_model
from ..declare.randomness.probabilities import probabilities
from ..declare.randomness.scenario_set import ScenarioSet, own_variables
from ..declare.randomness.tables import Table
from ..declare.scan import expectations_inside
from ..errors import ModelError


class ScenarioCreator:
    """Builds scenarios by ``names``; made by :func:`to_scenario_creator`."""

    def __init__(self, model: Any, names: dict[str, Any], weights: list[float]):
        self._model = model
        self._keys = names
        self._weights = dict(zip(names, weights, strict=True))

    @property
    def names(self) -> list[str]:
        """What mpi-sppy calls all_scenario_names."""
        return list(self._keys)

    def scenario_names_creator(self, count: int, start: int | None = None) -> list[str]:
        """Some of the names, as mpi-sppy's modules give them."""
        return self.names[start or 0 :][:count]

    def __call__(self, name: str, **keywords: Any) -> pyo.ConcreteModel:
        """The model of one scenario, with its probability and the root node of the tree."""
        if name not in self._keys:
            raise ModelError(
                f"There is no scenario '{name}'; the first is called '{self.names[0]}'."
            )
        scenario = self._model.clone()
        key = self._keys[name]
        sets = scenario_sets(scenario)
        first = _one_block(sets, key) if sets else _one_row(scenario, key)
        _without_expectations(scenario)
        scenario.name = name
        scenario._mpisppy_probability = self._weights[name]
        _attach(scenario, first)
        return scenario


def to_scenario_creator(model: Any) -> ScenarioCreator:
    """A ``scenario_creator`` for mpi-sppy, from a model with scenario blocks or finite data.

    >>> import pyomo.environ as pyo
    >>> from pyomo_stochsqp import E, RandomParam, to_scenario_creator
    >>> m = pyo.ConcreteModel()
    >>> m.x = pyo.Var(initialize=0.0)
    >>> m.w = RandomParam(data=[1.0, 3.0])
    >>> m.cost = pyo.Objective(expr=E((m.x - m.w) ** 2))
    >>> creator = to_scenario_creator(m)
    >>> creator.names
    ['scen0', 'scen1']

    With mpi-sppy installed, ``mpisppy.utils.sputils.create_EF(creator.names, creator)`` and its
    decomposition methods take it from there.
    """
    program = read_model(model, as_written=True)
    if program.rounded:
        raise ModelError(
            "to_scenario_creator: max, min and abs under E are rounded off over the spread of all "
            "scenarios, which none knows by itself. Give a width (smooth_min(a, b, width=0.01)), "
            "or write them with a variable and inequalities in scenario blocks."
        )
    if program.definitions:
        raise ModelError(
            "to_scenario_creator: the model has formulas of expectations, which no scenario knows "
            "by itself; mpi-sppy takes objectives that are averages over scenarios."
        )
    for row in model.component_data_objects(pyo.Constraint, active=True):
        if next(iter(expectations_inside(row.expr)), None) is not None:
            raise ModelError(
                f"to_scenario_creator: constraint '{row.name}' holds an expectation, which binds "
                "scenarios together; mpi-sppy solves scenarios apart from each other."
            )
    sets = scenario_sets(model)
    if sets:
        return _of_blocks(model, sets)
    return _of_rows(model)


def scenario_sets(model: Any) -> list[ScenarioSet]:
    """The explicit scenarios under the expectations of the objective."""
    return [
        node.explicit
        for objective in model.component_data_objects(pyo.Objective, active=True)
        for node in expectations_inside(objective.expr)
        if getattr(node, "explicit", None) is not None
    ]


def _of_blocks(model: Any, sets: list[ScenarioSet]) -> ScenarioCreator:
    base = sets[0].base
    if base is None or any(s.base is not base for s in sets):
        raise ModelError(
            "to_scenario_creator: all expectations must be over the same scenario blocks, "
            "E(m.scenario[:].cost)."
        )
    found = sets[0].resolve()
    count = len(found.keys)
    weights = np.full(count, 1 / count) if found.weights is None else found.weights
    return ScenarioCreator(model, {_word(k): k for k in found.keys}, weights.tolist())


def _word(key: Any) -> str:
    """mpi-sppy reads a number off the end of a name, and names are words."""
    return key if isinstance(key, str) else f"scen{key}"


def _one_block(sets: list[ScenarioSet], key: Any) -> list[Any]:
    """Leave one block alone; the first stage."""
    base = sets[0].base
    model = base.model()
    for k in list(base.keys()):
        if k != key:
            del base[k]
    for s in sets:
        s.weights, s.renormalise = None, False
    inside = {id(v) for v in own_variables(base[key])}
    return [v for v in model.component_data_objects(pyo.Var) if id(v) not in inside]


def _of_rows(model: Any) -> ScenarioCreator:
    random = [c for c in model.component_objects(RandomParam) if c.random]
    sources = {id(c.source): c.source for c in random}
    tables = [c.origin for c in random if isinstance(c.origin, Table)]
    if len(sources) != 1 or len(tables) < len(random):
        raise ModelError(
            "to_scenario_creator: the random numbers must be the rows of one table (one "
            "RandomSource). Make them so: "
            "TransformationFactory('stochsqp.extensive_form').create_using(m, n_scenarios=...)."
        )
    size = tables[0].size
    (source,) = sources.values()
    weights = probabilities(source.weights, range(size), "to_scenario_creator")
    weights = np.full(size, 1 / size) if weights is None else weights
    return ScenarioCreator(model, {f"scen{k}": k for k in range(size)}, weights.tolist())


def _one_row(scenario: Any, row: int) -> list[Any]:
    """Random numbers become those of one row; the first stage, which is everything."""
    for component in scenario.component_objects(RandomParam):
        if component.random:
            component.fix_to(row=row)
    return list(scenario.component_data_objects(pyo.Var))


def _without_expectations(scenario: Any) -> None:
    """The mean over one scenario is what stands under it."""
    for objective in scenario.component_data_objects(pyo.Objective, active=True):
        alone = {id(e): e.integrands()[0] for e in expectations_inside(objective.expr)}
        objective.set_value(replace_expressions(objective.expr, alone))


def _attach(scenario: Any, first: list[Any]) -> None:
    """The root node, by mpi-sppy itself."""
    try:
        from mpisppy.utils.sputils import attach_root_node
    except ImportError:
        raise ModelError(
            "to_scenario_creator: building scenarios needs mpi-sppy; pip install mpi-sppy."
        ) from None
    attach_root_node(scenario, 0.0, first)
