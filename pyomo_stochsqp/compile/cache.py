r"""Compile a model once, and again only when its structure has changed.

What may change between two solves without compiling again: values of Vars and mutable Params,
values of fixed Vars, bounds, constant right-hand sides, distributions, options. What is compiled
anew: other constraints or variables, a Var fixed or freed, a constraint or a named Expression set
to another expression, another table of data.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..declare import StochasticProgram
from ..declare.formula_node import RandomFormula
from ..declare.program import Part
from .evaluator import Evaluator, compile_program


class CompilerCache:
    """Keeps the evaluator of the last model. Called in place of ``compile_program``."""

    def __init__(self) -> None:
        self._evaluator: Evaluator | None = None
        self._structure: Structure | None = None
        self._jit: Any = None
        #: how often a model was compiled, for whoever wonders
        self.compilations = 0

    def __call__(self, program: StochasticProgram, jit: Any = "auto") -> Evaluator:
        if (
            self._evaluator is not None
            and self._structure is not None
            and jit == self._jit
            and self._structure.fits(program)
        ):
            self._evaluator.reload()
            return self._evaluator
        self._evaluator = self._structure = None  # a failure leaves nothing behind
        evaluator = compile_program(program, jit=jit)
        self._evaluator, self._structure, self._jit = evaluator, Structure(program), jit
        self.compilations += 1
        return evaluator


class Structure:
    """What an evaluator was made of. Expressions never change; what has a name may be set anew."""

    def __init__(self, program: StochasticProgram):
        self._program = program
        self._expressions = [_expression(c) for c in _components(program)]
        self._named = [(node, node.args[0]) for node in program.named]
        self._random = _random_params(program)

    def fits(self, program: StochasticProgram) -> bool:
        """Whether another reading of a model has the same structure."""
        mine = self._program
        return (
            program.model is mine.model
            and program.sign == mine.sign
            and _same_objects(program.variables, mine.variables)
            and _same_objects(_symbols(program), _symbols(mine))
            and _same_objects(_components(program), _components(mine))
            and _same_objects((_expression(c) for c in _components(program)), self._expressions)
            and all(node.args[0] is inside for node, inside in self._named)
            and _same_data(program, mine)
            and _random_params(program) == self._random
        )


def _components(program: StochasticProgram) -> list[Any]:
    rows = [row.component for row in program.rows]
    objective = program.objective_component
    return rows if objective is None else [objective, *rows]


def _expression(component: Any) -> Any:
    """What a component stands for; those of Pyomo's matrix constraints have no expression."""
    if isinstance(component, RandomFormula):
        return component
    return getattr(component, "expr", None)


def _symbols(program: StochasticProgram) -> list[Any]:
    return [definition.symbol for definition in program.definitions]


def _same_objects(a: Iterable[Any], b: Iterable[Any]) -> bool:
    a, b = list(a), list(b)
    return len(a) == len(b) and all(x is y for x, y in zip(a, b, strict=True))


def _same_data(a: StochasticProgram, b: StochasticProgram) -> bool:
    parts_a = [p for s in a.sources for p in s.parts]
    parts_b = [p for s in b.sources for p in s.parts]
    return (
        [len(s.parts) for s in a.sources] == [len(s.parts) for s in b.sources]
        and all(_same_part(p, q) for p, q in zip(parts_a, parts_b, strict=True))
        and {k: vars(v) for k, v in a.leaves.items()} == {k: vars(v) for k, v in b.leaves.items()}
    )


def _same_part(a: Part, b: Part) -> bool:
    return (
        a.size == b.size
        and _same_objects((f.matrix for f in a.fields), (f.matrix for f in b.fields))
        and np.array_equal(_weights(a), _weights(b))
    )


def _weights(part: Part) -> NDArray[np.float64]:
    return np.empty(0) if part.weights is None else part.weights


def _random_params(program: StochasticProgram) -> list[tuple[int, int]]:
    """RandomParams count how often they were fixed, freed or given other data."""
    return [(id(c), c.changes) for c in program.random_params]
