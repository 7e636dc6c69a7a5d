r"""Solving a model on the way to something else, and leaving it as it was."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyomo.environ as pyo
from numpy.typing import NDArray
from pyomo.opt import TerminationCondition

from ..declare import read_model
from ..declare.recourse_block import recourse_blocks, with_recourse
from ..errors import ModelError
from ..evaluation import evaluate

Column = NDArray[np.float64]


@dataclass(frozen=True)
class Problems:
    """The problems behind the value of information, solved."""

    #: 1 to minimise, -1 to maximise
    sense: float
    #: objectives of the model, and for mean numbers
    optimum: float
    expected_value: float
    #: what the model's decision loses against foresight in each scenario, and probabilities of the
    #: scenarios (None: they are draws)
    foresight: Column
    weights: Column | None
    #: what the decision for mean numbers loses against the model's in each scenario
    ignorance: Column
    weights_of_ignorance: Column | None
    decision: dict[str, float]
    mean_decision: dict[str, float]
    cautions: Sequence[str] = ()


class Unsolved(Exception):
    """A problem on the way has no solution; says how it ended."""


@contextmanager
def kept(model: Any) -> Iterator[None]:
    """Values, staleness and fixings of all variables are afterwards what they were before."""
    before = [(v, v.value, v.stale, v.fixed) for v in model.component_data_objects(pyo.Var)]
    try:
        yield
    finally:
        for v, number, stale, fixed in before:
            v.set_value(number, skip_validation=True)
            v.stale, v.fixed = stale, fixed


def solve(model: Any, solver: Any, options: Mapping[str, Any]) -> float:
    """The objective at the solution, which is loaded; raises :class:`Unsolved`."""
    solver = pyo.SolverFactory(solver) if isinstance(solver, str) else solver
    results = solver.solve(model, load_solutions=False, **options)
    condition = results.solver.termination_condition
    if condition in (TerminationCondition.optimal, TerminationCondition.locallyOptimal):
        model.solutions.load_from(results)
    elif not _is_settled(model):
        raise Unsolved(str(getattr(results, "message", condition)))
    if with_recourse(model):  # no decision of the second stage is in the model
        return float(results.certificate.objective)
    return float(pyo.value(objective_of(model)))


def numbers_of(model: Any, expressions: Sequence[Any]) -> tuple[float, ...]:
    """The expressions at the point that is loaded."""
    if expressions and with_recourse(model):
        return tuple(v.value for v in evaluate(model, *expressions, seed=0).values)[
            -len(expressions) :
        ]
    return tuple(float(pyo.value(e)) for e in expressions)


def decisions_of(model: Any) -> list[Any]:
    """The variables of the model; the first stage, where Recourse holds the second."""
    second = {
        id(v) for block in recourse_blocks(model) for v in block.component_data_objects(pyo.Var)
    }
    return [v for v in model.component_data_objects(pyo.Var) if id(v) not in second]


def _is_settled(model: Any) -> bool:
    """Nothing is left to decide, and no constraint is violated."""
    try:
        return not read_model(model).variables
    except ModelError:
        return False


def objective_of(model: Any) -> Any:
    """The active objective."""
    found = list(model.component_data_objects(pyo.Objective, active=True))
    if len(found) != 1:
        raise ModelError(
            f"Model '{model.name}' has {len(found)} active objectives; one is needed to compare "
            "decisions by."
        )
    return found[0]


def values_of(variables: Iterable[Any]) -> dict[str, float]:
    """The decision, by name."""
    return {v.name: float(v.value) for v in variables if v.value is not None}


def load(variables: Iterable[Any], decision: Mapping[str, float]) -> None:
    """Put a decision into the model."""
    for v in variables:
        v.set_value(decision[v.name], skip_validation=True)
