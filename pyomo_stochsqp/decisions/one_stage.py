r"""The value of information where randomness is data: RandomParams, and maybe Recourse.

    RP    E[F(x, w)] at the model's optimum x
    EV    the model with every random number fixed to its mean; EEV is E[F] at its solution
    WS    the model with all random numbers fixed to one scenario, for many scenarios

With Recourse x is the first stage, and F(x, w) has the best second stage for w in it.
Rows with expectations hold on average in RP, for the mean in EV, and in every scenario by itself in
WS. A decision of EV that violates such a row is no competitor: that is said.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyomo.environ as pyo

from ..declare import RandomParam, read_model
from ..declare.recourse_block import with_recourse
from ..declare.scan import expectations_inside, scan
from ..errors import DataError, ModelError
from ..evaluation import Evaluation, Outcome, evaluate
from .one_scenario import OneScenario
from .solving import (
    Problems,
    Unsolved,
    decisions_of,
    kept,
    load,
    objective_of,
    solve,
    values_of,
)

#: a row is violated beyond this share of its bound
VIOLATED = 1e-2


def problems(
    model: Any,
    scenarios: int,
    samples: int | None,
    seed: int,
    solver: Any,
    options: Mapping[str, Any],
) -> Problems:
    """Solve them all; the model's optimum is loaded in the end."""
    objective = objective_of(model)
    sense = 1.0 if objective.sense == pyo.minimize else -1.0
    random, rounded = _randomness(model)
    members = [member for component in random for member in component.values()]
    try:
        solve(model, solver, options)
    except Unsolved as error:
        raise ModelError(f"The model itself has no solution: {error}.") from None
    variables = [v for v in decisions_of(model) if v.value is not None]
    own = evaluate(model, *members, samples=samples, seed=seed)
    decision = values_of(variables)
    columns = {c: {i: own.outcomes[member].values for i, member in c.items()} for c in random}
    spreads = {c: {i: float(v.std()) for i, v in mine.items()} for c, mine in columns.items()}
    known = OneScenario(model, solver, options, spreads if rounded else None)
    with kept(model):
        expected_value = _of_mean(known, random, own)
        mean_decision = values_of(variables)
        theirs = evaluate(model, samples=samples, seed=seed)
    outcome = _outcome(own, objective)
    foresight, weights = _foresight(model, known, columns, own, outcome, scenarios, sense)
    load(variables, decision)
    return Problems(
        sense=sense,
        optimum=own[objective.name].value,
        expected_value=expected_value,
        foresight=foresight,
        weights=weights,
        ignorance=sense * (_outcome(theirs, objective).values - outcome.values),
        weights_of_ignorance=_weights(outcome) if own.exact else None,
        decision=decision,
        mean_decision=mean_decision,
        cautions=_violations(theirs),
    )


def _randomness(model: Any) -> tuple[list[Any], bool]:
    """(RandomParams that are random, whether kinks are rounded off)."""
    if with_recourse(model):
        found = model.component_objects(RandomParam, descend_into=True)
        return [c for c in found if c.random and not c.is_reference()], False
    program = read_model(model, as_written=True)
    random = [c for c in program.random_params if c.random]
    if not random:
        raise ModelError(
            f"Model '{model.name}' has no random numbers, so there is nothing to be known."
        )
    objective, function = objective_of(model), program.objective
    outside = [function.exact, *(t.multiplier for t in function.terms)]
    nested = (
        inner
        for node in expectations_inside(objective.expr)
        for inner in expectations_inside(getattr(node, "integrand", 0.0))
    )
    if any(scan(e).symbols for e in outside) or next(nested, None) is not None:
        raise ModelError(
            f"'{objective.name}' is a formula of expectations, which has no value in a "
            "single scenario; information can be valued for expectations only."
        )
    return random, program.rounded


def _outcome(evaluation: Evaluation, objective: Any) -> Outcome:
    """The objective in every scenario; without an expectation it is the same in all of them."""
    outcomes = list(evaluation.outcomes)
    for outcome in outcomes:
        if outcome.name == objective.name:
            return outcome
    same = np.full_like(outcomes[0].values, evaluation[objective.name].value)
    return replace(outcomes[0], name=objective.name, values=same)


def _of_mean(known: OneScenario, random: list[Any], own: Evaluation) -> float:
    """The objective of the expected value problem, whose solution is loaded."""
    try:
        return known.solve({c: _mean(c, own) for c in random})
    except Unsolved as error:
        raise ModelError(
            f"With all random numbers at their means the model has no solution: {error}."
        ) from None


def _mean(component: Any, own: Evaluation) -> dict[Any, float]:
    try:
        mean = component.mean()
    except DataError:  # a sampler does not know it
        return {index: own[member].value for index, member in component.items()}
    return dict(mean) if component.is_indexed() else {None: mean}


def _foresight(
    model: Any, known: OneScenario, columns: Mapping[Any, Mapping[Any, np.ndarray]],
    own: Evaluation, outcome: Outcome, most: int, sense: float,
) -> tuple[np.ndarray, np.ndarray | None]:  # fmt: skip
    """(what each scenario loses by not being known, probabilities of all scenarios there are)."""
    count = outcome.values.size
    everything = own.exact and count <= most
    chosen = np.arange(count)
    if not everything:
        weights = None if outcome.weights is None else outcome.weights / outcome.weights.sum()
        chosen = np.random.default_rng(own.seed).choice(count, most, p=weights)
    lost = []
    with kept(model):
        for row in chosen:
            numbers = {
                c: {i: float(values[row]) for i, values in mine.items()}
                for c, mine in columns.items()
            }
            try:
                best = known.solve(numbers)
            except Unsolved as error:
                said = ", ".join(
                    f"{c[i].name} = {v:.6g}" for c, mine in numbers.items() for i, v in mine.items()
                )
                raise ModelError(
                    f"The scenario {said} has no solution of its own: {error}. Wait and see "
                    "needs one for each."
                ) from None
            lost.append(sense * (outcome.values[row] - best))
    return np.array(lost), _weights(outcome) if everything else None


def _weights(outcome: Any) -> np.ndarray:
    return np.ones(outcome.values.size) if outcome.weights is None else outcome.weights


def _violations(theirs: Evaluation) -> list[str]:
    """Rows that the mean's decision does not satisfy on average."""
    found = []
    for outcome in theirs.outcomes:
        low, high = theirs[outcome.name].interval
        bounds = [abs(b) for b in (outcome.lower, outcome.upper) if np.isfinite(b)]
        room = VIOLATED * max([1.0, *bounds])
        if low > outcome.upper + room or high < outcome.lower - room:
            v = theirs[outcome.name]
            found.append(
                f"The decision for mean numbers violates '{v.name}': {v.value:.6g}, required "
                f"{v.required}. Its objective is no alternative to the model's."
            )
    return found
