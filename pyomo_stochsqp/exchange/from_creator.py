r"""A ``scenario_creator`` of mpi-sppy becomes one model:

    min sum_s p_s f_s(x, y_s)   s.t.  rows of scenario s in (x, y_s)

The creator builds scenario s as a model of its own, ``model_s``, with ``_mpisppy_probability`` and
a list of tree nodes that name its variables of the first stage. Here the models become the blocks
``m.scenario[s]``, the variables of the first stage one set of variables of ``m`` (shared.py), and
the objectives E(m.scenario[:].scenario_cost). What the creator returns is all that is read, so
mpi-sppy itself need not be installed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

import pyomo.environ as pyo
from pyomo.common.modeling import unique_component_name

from ..declare import E
from ..errors import ModelError
from .rows import take_common_rows
from .shared import share

#: what mpi-sppy reads from the models of the scenarios
PROBABILITY = "_mpisppy_probability"
NODES = "_mpisppy_node_list"
VARIABLE_PROBABILITY = "_mpisppy_variable_probability"


def from_scenario_creator(
    creator: ModuleType | Callable[..., Any], names: int | Iterable[str], **keywords: Any
) -> pyo.ConcreteModel:
    """One model of all scenarios that an mpi-sppy ``scenario_creator`` builds.

    ``creator`` is that function, or the module that holds it; ``names`` are the names of the
    scenarios, or their number, for a module with ``scenario_names_creator`` (otherwise they are
    called scen0, scen1, ...). Everything else is passed on to the creator. The variables of the
    first stage have the names that they have in the scenarios; all others are those of
    ``m.scenario[name]``. Trees of more than two stages are refused.

    >>> import pyomo.environ as pyo
    >>> from types import SimpleNamespace
    >>> from pyomo_stochsqp import from_scenario_creator
    >>> def scenario_creator(name):
    ...     m = pyo.ConcreteModel(name)
    ...     m.x = pyo.Var(initialize=0.0)
    ...     m.cost = pyo.Objective(expr=(m.x - {"dry": 1.0, "wet": 4.0}[name]) ** 2)
    ...     # mpisppy.utils.sputils.attach_root_node(m, 0, [m.x]) does this:
    ...     m._mpisppy_node_list = [SimpleNamespace(nonant_vardata_list=[m.x])]
    ...     m._mpisppy_probability = {"dry": 2 / 3, "wet": 1 / 3}[name]
    ...     return m
    >>> m = from_scenario_creator(scenario_creator, ["dry", "wet"])
    >>> results = pyo.SolverFactory("stochsqp").solve(m)
    >>> print(f"{m.x.value:.4f}")
    2.0000
    """
    function, chosen = _function(creator), _names(creator, names)
    model = pyo.ConcreteModel("scenarios")
    model.scenario = pyo.Block(chosen)
    made = {name: _scenario(function, name, keywords) for name in chosen}
    weights = _probabilities(made)
    first = {name: _first_stage(name, scenario) for name, scenario in made.items()}
    senses = {name: _move_objective(name, scenario) for name, scenario in made.items()}
    if len(set(senses.values())) > 1:
        raise ModelError("from_scenario_creator: some scenarios are minimised, others maximised.")
    for name, scenario in made.items():
        model.scenario[name].transfer_attributes_from(scenario)
    share(model, model.scenario, first)
    take_common_rows(model, model.scenario)
    cost = E(model.scenario[:].scenario_cost, weights=weights)
    place = unique_component_name(model, "expected_cost")
    model.add_component(place, pyo.Objective(expr=cost, sense=senses[chosen[0]]))
    return model


def _function(creator: Any) -> Callable[..., Any]:
    found = getattr(creator, "scenario_creator", creator)
    if not callable(found):
        raise ModelError(
            f"from_scenario_creator: {creator!r} is neither a function nor a module with a "
            "function scenario_creator."
        )
    return found


def _names(creator: Any, names: Any) -> list[str]:
    if isinstance(names, int) and names > 0:
        make = getattr(creator, "scenario_names_creator", None)
        return list(make(names)) if make else [f"scen{k}" for k in range(names)]
    if isinstance(names, (str, int)):
        raise ModelError(
            f"from_scenario_creator: names={names!r} must be a list of names, or a number of "
            "scenarios."
        )
    chosen = list(names)
    if not chosen or len(set(chosen)) < len(chosen):
        raise ModelError("from_scenario_creator: names= needs different names, at least one.")
    return chosen


def _scenario(function: Callable[..., Any], name: str, keywords: dict[str, Any]) -> Any:
    try:
        scenario = function(name, **keywords)
    except Exception as error:
        raise ModelError(
            f"from_scenario_creator: the creator failed for '{name}' with "
            f"{type(error).__name__}: {error}."
        ) from error
    if not isinstance(scenario, pyo.ConcreteModel):
        raise ModelError(
            f"from_scenario_creator: for '{name}' the creator returned {type(scenario).__name__}, "
            "not a ConcreteModel."
        )
    nodes = getattr(scenario, NODES, None)
    if not nodes:
        raise ModelError(
            f"from_scenario_creator: scenario '{name}' has no {NODES}, so its first stage is "
            "unknown. Call mpisppy.utils.sputils.attach_root_node(model, cost, variables) in the "
            "creator."
        )
    if len(nodes) > 1:
        raise ModelError(
            f"from_scenario_creator: scenario '{name}' has {len(nodes) + 1} stages. Two can be "
            "solved here; for more use mpi-sppy itself, or SDDP.jl."
        )
    if hasattr(scenario, VARIABLE_PROBABILITY):
        raise ModelError(
            f"from_scenario_creator: scenario '{name}' has probabilities of single variables, "
            "which cannot be read."
        )
    return scenario


def _probabilities(scenarios: dict[str, Any]) -> dict[str, float] | None:
    """By name; None: all equal."""
    given = {
        name: getattr(scenario, PROBABILITY, "uniform") for name, scenario in scenarios.items()
    }
    uniform = [name for name, p in given.items() if p is None or isinstance(p, str)]
    if len(uniform) == len(given):
        return None
    if uniform:
        raise ModelError(
            f"from_scenario_creator: scenario '{uniform[0]}' has no probability, others have one."
        )
    return {name: float(pyo.value(p)) for name, p in given.items()}


def _first_stage(name: str, scenario: Any) -> list[Any]:
    """Variables that must be the same in all scenarios, in the creator's order."""
    node = getattr(scenario, NODES)[0]
    found: list[Any] = []
    for kind in ("nonant_vardata_list", "nonant_ef_suppl_vardata_list"):
        found.extend(getattr(node, kind, None) or [])
    if not found:
        raise ModelError(f"from_scenario_creator: scenario '{name}' names no first-stage variable.")
    return list({id(v): v for v in found}.values())


def _move_objective(name: str, scenario: Any) -> Any:
    """Its objective becomes an Expression, ``scenario_cost``; returns the sense."""
    active = list(scenario.component_data_objects(pyo.Objective, active=True))
    if scenario.component("scenario_cost") is not None or scenario.parent_block() is not None:
        raise ModelError(
            f"from_scenario_creator: scenario '{name}' has been used already (or has a component "
            "scenario_cost); the creator must build a new model each time."
        )
    if len(active) != 1:
        raise ModelError(
            f"from_scenario_creator: scenario '{name}' has {len(active)} active objectives; one is "
            "needed."
        )
    (objective,) = active
    objective.deactivate()
    scenario.scenario_cost = pyo.Expression(expr=objective.expr)
    return objective.sense
