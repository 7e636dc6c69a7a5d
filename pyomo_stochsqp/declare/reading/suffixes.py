r"""What a model says to a solver in its Suffixes: scaling factors, multipliers to start from."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from pyomo.core.base.suffix import Suffix, SuffixFinder

from ...scaling import Factors
from ..program import StochasticProgram


def scaling_factors(program: StochasticProgram) -> Factors | None:
    """The Suffix ``scaling_factor``: one where none is given; None if the model has none at all."""
    suffixes = program.model.component_objects(Suffix, active=True, descend_into=True)
    if not any(s.local_name == "scaling_factor" and len(s) for s in suffixes):
        return None
    finder = SuffixFinder("scaling_factor", default=1.0, context=program.model)
    rows = np.array([float(finder.find(r.component)) for r in program.rows])
    objective = float(finder.find(program.objective_component))
    # Pyomo's factor multiplies a variable, ours says how long its unit is
    variables = 1.0 / np.array([float(finder.find(v)) for v in program.variables])
    return Factors(rows, objective, variables)


def starting_duals(program: StochasticProgram) -> NDArray[np.float64] | None:
    """The paper's y from the model's active 'dual' Suffix; None without one."""
    suffix = program.model.component("dual")
    if suffix is None or suffix.ctype is not Suffix or not suffix.active:
        return None
    values = (suffix.get(row.component) for row in program.rows)
    return -program.sign * np.array([0.0 if v is None else float(v) for v in values])
