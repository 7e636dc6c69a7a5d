r"""The value of information where scenario blocks hold the decisions of a second stage.

    RP     the model as it is
    WS_s   the model with block s alone, at probability one
    EV     the model with one block of mean numbers (mean_scenario.py, or one that the user names)
    EEV    the model with its first stage fixed to that of EV

Variables outside the scenario blocks are the first stage. There are finitely many scenarios, and
all of them are solved: nothing is estimated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyomo.environ as pyo

from ..declare.randomness.scenario_set import ScenarioSet, own_variables
from ..declare.scan import expectations_inside
from ..errors import ModelError
from ..evaluation import evaluate
from .mean_scenario import mean_problem
from .solving import Problems, Unsolved, kept, load, objective_of, solve, values_of


def applies(model: Any) -> bool:
    """Whether expectations are over scenario blocks."""
    return any(node.base is not None for node in _sets(model))


def problems(model: Any, mean_scenario: Any, solver: Any, options: Mapping[str, Any]) -> Problems:
    """Solve them all; the model's optimum is loaded in the end."""
    sets = _sets(model)
    base = sets[0].base
    if any(s.base is not base for s in sets):
        raise ModelError(
            "The value of information needs all expectations over the same scenario blocks; there "
            f"are '{base.name}' and others."
        )
    resolved = sets[0].resolve()
    keys = resolved.keys
    weights = np.full(len(keys), 1.0 / len(keys)) if resolved.weights is None else resolved.weights
    objective = objective_of(model)
    sense = 1.0 if objective.sense == pyo.minimize else -1.0
    first = first_stage(model, base)
    optimum = _solved(model, "The model itself", solver, options)
    everything = list(model.component_data_objects(pyo.Var))
    best = values_of(everything)
    own = evaluate(model).outcomes[objective.name].values
    with kept(model):
        alone = []
        for key in keys:
            with _only(base, key, sets):
                alone.append(_solved(model, f"Scenario {key} by itself", solver, options))
        expected_value, mean_decision = _of_mean(
            model, base, keys, weights, sets, first, mean_scenario, solver, options
        )
        load(first, mean_decision)
        for v in first:
            v.fix()
        what = "With the first stage that is best for mean numbers the model"
        try:
            solve(model, solver, options)
            theirs = evaluate(model).outcomes[objective.name].values
            cautions = []
        except Unsolved as error:
            theirs = np.full(len(keys), sense * np.inf)
            cautions = [f"{what} has no solution ({error}): its loss is beyond all bounds."]
    load([v for v in everything if v.name in best], best)
    return Problems(
        sense=sense,
        optimum=optimum,
        expected_value=expected_value,
        foresight=sense * (own - np.array(alone)),
        weights=weights,
        ignorance=sense * (theirs - own),
        weights_of_ignorance=weights,
        decision={v.name: best[v.name] for v in first if v.name in best},
        mean_decision=mean_decision,
        cautions=cautions,
    )


def first_stage(model: Any, base: Any) -> list[Any]:
    """The free variables outside the scenario blocks that have values or are used."""
    inside = {id(v) for block in base.values() for v in own_variables(block)}
    return [v for v in model.component_data_objects(pyo.Var) if id(v) not in inside and not v.fixed]


def _of_mean(
    model: Any, base: Any, keys: list[Any], weights: np.ndarray, sets: list[ScenarioSet],
    first: list[Any], mean_scenario: Any, solver: Any, options: Mapping[str, Any],
) -> tuple[float, dict[str, float]]:  # fmt: skip
    """(objective of the expected value problem, its first stage)."""
    what = "The expected value problem"
    if mean_scenario is not None:
        if mean_scenario not in keys:
            raise ModelError(f"mean_scenario={mean_scenario!r} is no key of '{base.name}'.")
        with _only(base, mean_scenario, sets):
            value = _solved(model, what, solver, options)
            return value, values_of(first)
    mean, stand_ins = mean_problem(model, base, keys, weights, first)
    value = _solved(mean, what, solver, options)
    return value, {v.name: float(stand_ins[id(v)].value) for v in first}


def _solved(model: Any, what: str, solver: Any, options: Mapping[str, Any]) -> float:
    try:
        return solve(model, solver, options)
    except Unsolved as error:
        raise ModelError(f"{what} has no solution: {error}.") from None


def _sets(model: Any) -> list[ScenarioSet]:
    """The explicit scenarios under all expectations of the model."""
    found = []
    for kind in (pyo.Objective, pyo.Constraint):
        for component in model.component_data_objects(kind, active=True):
            for node in expectations_inside(component.expr):
                explicit = getattr(node, "explicit", None)
                if isinstance(explicit, ScenarioSet):
                    found.append(explicit)
    return found


@contextmanager
def _only(base: Any, key: Any, sets: list[ScenarioSet]) -> Iterator[None]:
    """One scenario at probability one."""
    active = {k: block.active for k, block in base.items()}
    renormalised = [s.renormalise for s in sets]
    try:
        for k, block in base.items():
            if k != key:
                block.deactivate()
        for s in sets:
            s.renormalise = True
        yield
    finally:
        for k, block in base.items():
            if active[k]:
                block.activate()
        for s, before in zip(sets, renormalised, strict=True):
            s.renormalise = before
