"""What an algorithm may ask, answered.

model             by a compiled Pyomo model and sampled batches
passes            large samples piece by piece; shared, by several ranks
eliminated        the same for models with formulas of expectations
reduced_hessian   their second derivatives
roots             their quantiles; jackknife, small batches of them without bias
gaussian          by an exact oracle with the paper's Gaussian errors
"""

from __future__ import annotations

import numpy as np

from ..compile import Evaluator
from ..declare import StochasticProgram
from ..sample import Sampler
from .eliminated import Eliminated, Level
from .gaussian import GaussianNoiseOracle
from .jackknife import Jackknifed
from .model import ModelOracle
from .shared import PassesOfRanks

__all__ = [
    "Eliminated",
    "GaussianNoiseOracle",
    "Jackknifed",
    "ModelOracle",
    "PassesOfRanks",
    "model_oracle",
]


def model_oracle(
    program: StochasticProgram, evaluator: Evaluator, sampler: Sampler
) -> ModelOracle | Eliminated:
    """The oracle of a program and its evaluator, which may be that of an earlier reading."""
    outer = ModelOracle(program.in_symbols(), evaluator, sampler)
    if not program.definitions:
        return outer
    number = {id(d.symbol): i for i, d in enumerate(program.definitions)}
    levels, first = [], 0
    for level, inner in enumerate(evaluator.levels):
        own = [d for d in program.definitions if d.level == level]
        solved = [(i, d) for i, d in enumerate(own) if d.implicit]
        levels.append(
            Level(
                ModelOracle(program.of_level(level), inner, sampler),
                first,
                np.array([i for i, _ in solved], dtype=np.intp),
                np.array([number[id(d.centre)] for _, d in solved], dtype=np.intp),
                np.array([number[id(d.spread)] for _, d in solved], dtype=np.intp),
            )
        )
        first += len(own)
    return Eliminated(outer, levels)
