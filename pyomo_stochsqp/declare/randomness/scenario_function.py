r"""A function of explicit scenarios: phi(a_s, b_s, ...) for every scenario s.

Variance(m.scenario[:].cost) averages (cost_s - mean)^2, a function of what the slice stands for.
phi is kept as an expression with a placeholder for each argument, and written out when a model is
read; copies of a model then refer to their own blocks, as with the slice itself.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...errors import ModelError
from ..symbol import Symbol
from ..template import Template
from .scenario_set import Scenarios, ScenarioSet


class ScenarioFunction:
    """phi over one or several sets of the same scenarios; as good as a ScenarioSet."""

    def __init__(self, sets: tuple[ScenarioSet, ...], placeholders: tuple[Symbol, ...], phi: Any):
        self._sets = sets
        self._placeholders = placeholders
        self._phi = phi

    @property
    def identity(self) -> Any:
        return self._sets[0].identity

    def first(self) -> Any:
        """One of the expressions."""
        return self._written([[s.first()] for s in self._sets])[0]

    def resolve(self) -> Scenarios:
        """The active scenarios with their probabilities, as they are now."""
        resolved = [s.resolve() for s in self._sets]
        one = resolved[0]
        for other in resolved[1:]:
            if other.keys != one.keys or not _equal(other.weights, one.weights):
                raise ModelError(
                    f"{self}: '{one.name}' and '{other.name}' are not the same scenarios with the "
                    "same weights, so there is no joint expectation over them."
                )
        expressions = self._written([r.expressions for r in resolved])
        return Scenarios(one.name, one.keys, expressions, one.weights)

    def _written(self, arguments: list[list[Any]]) -> list[Any]:
        keys = [id(p) for p in self._placeholders]
        template = Template(self._phi, keys)
        return [
            template.copy(dict(zip(keys, values, strict=True)))
            for values in zip(*arguments, strict=True)
        ]

    def __str__(self) -> str:
        return str(self._phi)


class ScenarioNumbers:
    """Other expressions for the scenarios of a set, one for each that is active now."""

    def __init__(self, explicit: Any, resolved: Scenarios, expressions: list[Any]):
        self.identity = explicit.identity
        self._resolved = replace(resolved, expressions=expressions)

    def first(self) -> Any:
        return self._resolved.expressions[0]

    def resolve(self) -> Scenarios:
        return self._resolved

    def __str__(self) -> str:
        return f"{self.first()}, ... {len(self._resolved.keys)} scenarios"


def _equal(a: Any, b: Any) -> bool:
    return (a is None and b is None) or (a is not None and b is not None and np.array_equal(a, b))
