r"""Out-of-sample values of a decision whose second stage is solved again in every scenario.

The objective, the share of scenarios without a feasible second stage, and expressions of
second-stage variables, with standard errors from independent replicates.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from ..declare.expectation import ExpectationData
from ..declare.over_scenarios import as_column, numbers_of
from ..declare.program import Batch
from ..declare.recourse import MeanRow, TwoStage, leaves_of, read_two_stage
from ..errors import ModelError
from ..oracle import EVALUATION_STREAM
from ..recourse import BatchDrawing, decision_of, prices_of, reacting
from ..recourse.reacting import Reacting
from .outcomes import Outcome, Outcomes
from .values import Evaluation, Value, requirement

Array = NDArray[np.float64]

REPLICATES = 32
#: cuts that are looked at to find the row to blame
BLAMED = 50


@dataclass
class _Part:
    """One replicate: a column per quantity."""

    weights: Array
    columns: list[Array]
    infeasible: Array
    rows: list[int]


def evaluate_recourse(
    model: Any, expressions: Sequence[Any], samples: int, seed: int, confidence: float
) -> Evaluation:
    """Values at the model's present first stage."""
    program = read_two_stage(model)
    x = decision_of(program)
    asked = [one for e in expressions for one in _members(e)]
    asked += [(row.component.name, _mean(row)) for row in program.mean_rows]
    drawing, second = BatchDrawing(program.source, seed), reacting(program, x, prices_of(program))
    size = program.source.size
    if size is not None and size <= samples:
        batches = [drawing.everything()]
    else:
        each = samples // REPLICATES
        batches = [drawing.batch(EVALUATION_STREAM, r, each) for r in range(REPLICATES)]
    parts = [_part(program, second, x, batch, asked) for batch in batches]
    return _told(program, parts, [name for name, _ in asked], seed, confidence)


def _members(e: Any) -> list[tuple[str, Any]]:
    """(name, expression) of what is asked for."""
    if getattr(e, "is_indexed", bool)():
        return [one for member in e.values() for one in _members(member)]
    if not hasattr(e, "is_expression_type"):
        raise ModelError(
            f"evaluate: {e!r} is no Pyomo expression. Give expressions and variables of the model; "
            "the number of scenarios is samples=."
        )
    name = e.name if hasattr(e, "parent_component") else str(e)
    return [(name, e.integrand if isinstance(e, ExpectationData) else e)]


def _mean(row: MeanRow) -> Any:
    """What a row bounds the mean of."""
    return row.exact + sum(multiplier * integrand for multiplier, integrand in row.expected)


def _part(p: TwoStage, second: Reacting, x: Array, batch: Batch, asked: Any) -> _Part:
    n, leaves = batch.size, leaves_of(p, batch)
    found = second.react(leaves, n, bool(asked), BLAMED)
    columns = [p.sign * found.values]
    known: dict[int, Any] = dict(zip(map(id, p.first), x.tolist(), strict=True))
    if found.decisions is not None:
        known.update(zip(map(id, p.second), found.decisions.T, strict=True))
    for _, e in asked:
        values = numbers_of(e, lambda leaf: known[id(leaf)] if id(leaf) in known else leaves(leaf))
        columns.append(as_column(values, n))
    weights = np.full(n, 1.0 / n) if batch.weights is None else batch.weights
    infeasible = np.isposinf(found.values).astype(float)
    return _Part(weights, columns, infeasible, found.blamed)


def _told(
    p: TwoStage, parts: Sequence[_Part], names: list[str], seed: int, confidence: float
) -> Evaluation:
    exact = len(parts) == 1
    objective = p.objective_component.name
    share = [part.infeasible for part in parts]
    columns = [[part.columns[k] for part in parts] for k in range(1 + len(names))]
    sense = "minimize" if p.sign > 0 else "maximize"
    values = [_value(objective, columns[0], parts, confidence, sense)]
    if any(s.any() for s in share):
        row = Counter(i for part in parts for i in part.rows if i >= 0).most_common(1)
        said = f" (row {p.second_rows[row[0][0]].component.name})" if row else ""
        values.append(_value(f"infeasible recourse{said}", share, parts, confidence, "= 0"))
    required = {row.component.name: requirement(row.lower, row.upper) for row in p.mean_rows}
    for name, column in zip(names, columns[1:], strict=True):
        values.append(_value(name, column, parts, confidence, required.get(name, "")))

    def outcomes() -> Outcomes:
        weights = None
        if exact:
            weights = parts[0].weights
        single = [
            Outcome(name, np.concatenate(column), weights, maximised=k == 0 and p.sign < 0)
            for k, (name, column) in enumerate(zip([objective, *names], columns, strict=True))
        ]
        return Outcomes(single, f"Outcomes in {sum(s.size for s in share)} scenarios")

    count = sum(s.size for s in share)
    return Evaluation(tuple(values), count, exact, seed, confidence, outcomes)


def _value(
    name: str, column: Sequence[Array], parts: Sequence[_Part], confidence: float, required: str
) -> Value:
    means = np.array([float(part.weights @ c) for part, c in zip(parts, column, strict=True)])
    mean = float(means.mean())
    if len(parts) == 1 or not np.isfinite(mean):
        return Value(name, mean, 0.0 if len(parts) == 1 else np.inf, (mean, mean), required)
    error = float(means.std(ddof=1)) / np.sqrt(len(parts))
    reach = float(stats.t.ppf(0.5 + 0.5 * confidence, len(parts) - 1)) * error
    return Value(name, mean, error, (mean - reach, mean + reach), required)
