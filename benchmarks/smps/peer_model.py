r"""The module of functions that mpi-sppy wants: here scenarios are drawn from a model's laws.

A scenario is a copy of the model with one outcome for everything random, which any solver reads.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pyomo_stochsqp import RandomParam
from pyomo_stochsqp.declare.recourse import affine, leaves_of, read_two_stage
from pyomo_stochsqp.recourse import Drawing

_MODEL: list[Any] = []
_ROWS: dict[str, np.ndarray] = {}


def prepare(model: Any, seed: int, count: int) -> None:
    """Draw so many scenarios; plain Monte Carlo, for batches may start anywhere."""
    matrices = affine(read_two_stage(model))
    program = matrices.origin
    batch = Drawing(matrices, seed, "monte_carlo").batch(1, 0, count)
    _MODEL[:] = [model]
    _ROWS.clear()
    numbers = leaves_of(program, batch)
    for component in model.component_objects(RandomParam):
        _ROWS[component.name] = np.column_stack([numbers(v) for v in component.values()])


def outcome(model: Any, s: int) -> dict[Any, Any]:
    """RandomParam -> its numbers in a scenario that was drawn."""
    numbers = {}
    for component in model.component_objects(RandomParam):
        row = _ROWS[component.name][s].tolist()
        indexed = component.is_indexed()
        numbers[component] = dict(zip(component.keys(), row, strict=True)) if indexed else row[0]
    return numbers


def scenario_creator(name: str, **_: Any) -> Any:
    """One scenario; mpi-sppy sets the probabilities of samples itself."""
    from mpisppy.utils.sputils import attach_root_node

    m = _MODEL[0].clone()
    for component, numbers in outcome(m, int(name.removeprefix("scen"))).items():
        component.fix_to(numbers)
    m._mpisppy_probability = "uniform"
    attach_root_node(m, 0.0, [m.x])
    return m


def scenario_names_creator(count: int, start: int | None = None) -> list[str]:
    """Names with numbers at their end."""
    first = start or 0
    return [f"scen{k}" for k in range(first, first + count)]


def kw_creator(cfg: Any, **_: Any) -> dict[str, Any]:
    """No keywords."""
    return {}


def inparser_adder(cfg: Any) -> None:
    """No options."""


def scenario_denouement(rank: int, name: str, scenario: Any) -> None:
    """Nothing to say in the end."""
