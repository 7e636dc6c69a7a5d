r"""The expected value problem of scenario blocks: one block of mean numbers.

Blocks that are alike, but for their numbers, and linear or quadratic in the variables, are averaged
coefficient by coefficient,

    a_s'x + b_s'y_s + d_s   ->   sum_s p_s a_s'x + sum_s p_s b_s'y + sum_s p_s d_s,

and so are the bounds of their constraints. For numbers that enter linearly, that is the block that
the mean numbers would have made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pyomo.environ as pyo
from pyomo.core.expr.visitor import replace_expressions
from pyomo.repn.standard_repn import generate_standard_repn

from ..declare import read_model
from ..declare.randomness.scenario_set import own_variables
from ..errors import ModelError


def mean_problem(
    model: Any, base: Any, keys: Sequence[Any], weights: np.ndarray, first: Sequence[Any]
) -> tuple[Any, dict[int, Any]]:
    """(the problem as a model of its own, its variables by the ids of the model's)."""
    mean = pyo.ConcreteModel(f"{model.name}, mean numbers")
    mean.first, mean.second = pyo.VarList(), pyo.VarList()
    mean.rows = pyo.ConstraintList()
    stand_ins = {id(v): _like(v, mean.first) for v in first}
    blocks = [base[key] for key in keys]
    average = _Average(weights, stand_ins, _second_stage(blocks, mean.second))
    for name, rows in _alike(blocks, _rows).items():
        bounded = [row.to_bounded_expression() for row in rows]
        low, high = (average.of_bounds(name, [b[k] for b in bounded]) for k in (0, 2))
        _add_row(mean.rows, low, average(name, [b[1] for b in bounded]), high)
    program = read_model(model)
    inside = {id(c) for b in blocks for c in b.component_data_objects(pyo.Constraint)}

    def function(f: Any, name: str) -> Any:
        total = replace_expressions(f.exact, stand_ins)
        for term in f.terms:
            if term.scenarios is None:
                raise ModelError(
                    f"'{name}' averages over RandomParams beside the scenario blocks; say which "
                    "block stands for the mean, mean_scenario=..., or use one of the two."
                )
            factor = replace_expressions(term.multiplier, stand_ins)
            total = total + factor * average(name, term.scenarios)
        return total

    for row in program.rows:
        if id(row.component) not in inside:
            _add_row(mean.rows, row.lower, function(row.body, row.name), row.upper)
    component = program.objective_component
    mean.objective = pyo.Objective(
        expr=function(program.objective, component.name), sense=component.sense
    )
    return mean, stand_ins


class _Average:
    """Means of expressions over the scenarios, in the variables of the mean problem."""

    def __init__(self, weights: np.ndarray, first: dict[int, Any], second: list[dict[int, Any]]):
        self._weights = weights / weights.sum()
        self._first = first
        self._second = second

    def __call__(self, name: str, expressions: Sequence[Any]) -> Any:
        constant = 0.0
        terms: dict[tuple[int, ...], tuple[float, Any]] = {}
        for p, expr, second in zip(self._weights, expressions, self._second, strict=True):
            stand_ins = {**self._first, **second}
            repn = generate_standard_repn(expr, quadratic=True)
            if repn.nonlinear_expr is not None:
                raise ModelError(
                    f"'{name}' is not linear or quadratic, so scenario blocks cannot be averaged. "
                    "Say which block stands for the mean: mean_scenario=key."
                )
            constant += p * repn.constant
            linear = ((c, (v,)) for c, v in zip(repn.linear_coefs, repn.linear_vars, strict=True))
            square = zip(repn.quadratic_coefs, repn.quadratic_vars, strict=True)
            for coefficient, factors in (*linear, *square):
                mine = [stand_ins[id(v)] for v in factors]
                key = tuple(sorted(map(id, mine)))
                known = terms.get(key, (0.0, _product(mine)))
                terms[key] = known[0] + p * coefficient, known[1]
        return constant + sum(c * e for c, e in terms.values())

    def of_bounds(self, name: str, bounds: Sequence[Any]) -> float | None:
        """The mean of the bounds of one constraint."""
        numbers = [None if b is None else pyo.value(b) for b in bounds]
        if all(b is None for b in numbers):
            return None
        if any(b is None for b in numbers):
            raise ModelError(
                f"'{name}' has a bound in some scenarios only, so scenario blocks cannot be "
                "averaged. Say which block stands for the mean: mean_scenario=key."
            )
        return float(self._weights @ np.array(numbers, dtype=float))


def _product(factors: Sequence[Any]) -> Any:
    product = factors[0]
    for f in factors[1:]:
        product = product * f
    return product


def _second_stage(blocks: Sequence[Any], variables: Any) -> list[dict[int, Any]]:
    """For every block, the stand-ins of its variables: the same for all blocks."""
    found: list[dict[int, Any]] = [{} for _ in blocks]
    for members in _alike(blocks, own_variables).values():
        stand_in = _like(members[0], variables)
        for mine, v in zip(found, members, strict=True):
            mine[id(v)] = stand_in
    return found


def _rows(block: Any) -> Iterable[Any]:
    return block.component_data_objects(pyo.Constraint, active=True)


def _alike(blocks: Sequence[Any], inside: Callable[[Any], Iterable[Any]]) -> dict[str, list[Any]]:
    """What is inside of all blocks, by names."""
    named = [{c.getname(True, relative_to=b): c for c in inside(b)} for b in blocks]
    for block, mine in zip(blocks, named, strict=True):
        if mine.keys() != named[0].keys():
            odd = sorted(mine.keys() ^ named[0].keys())[0]
            raise ModelError(
                f"Scenario blocks '{blocks[0].name}' and '{block.name}' differ: '{odd}' is in one "
                "of them only. Say which block stands for the mean: mean_scenario=key."
            )
    return {name: [mine[name] for mine in named] for name in named[0]}


def _like(v: Any, variables: Any) -> Any:
    """A variable of the mean problem."""
    new = variables.add()
    new.domain = v.domain
    new.setlb(v.lower)
    new.setub(v.upper)
    new.set_value(v.value, skip_validation=True)
    if v.fixed:
        new.fix()
    return new


def _add_row(rows: Any, low: Any, body: Any, high: Any) -> None:
    low = None if low is None or low == -np.inf else low
    high = None if high is None or high == np.inf else high
    if body.__class__ is not float:
        rows.add((low, body, high))
