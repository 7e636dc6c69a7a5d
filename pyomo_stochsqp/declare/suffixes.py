r"""What a model says to a solver in its Suffixes: scaling factors, multipliers to start from."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pyomo.core.base.suffix import Suffix, SuffixFinder

from .program import StochasticProgram


class Factors(NamedTuple):
    """The Suffix ``scaling_factor`` on constraints and objective; one where none is given."""

    rows: NDArray[np.float64]
    objective: float


def scaling_factors(program: StochasticProgram) -> Factors:
    """The user's factors."""
    finder = SuffixFinder("scaling_factor", default=1.0, context=program.model)
    rows = np.array([float(finder.find(r.component)) for r in program.rows])
    return Factors(rows, float(finder.find(program.objective_component)))


def starting_duals(program: StochasticProgram) -> NDArray[np.float64] | None:
    """The paper's y from the model's active 'dual' Suffix; None without one."""
    suffix = program.model.component("dual")
    if suffix is None or suffix.ctype is not Suffix or not suffix.active:
        return None
    values = (suffix.get(row.component) for row in program.rows)
    return -program.sign * np.array([0.0 if v is None else float(v) for v in values])
