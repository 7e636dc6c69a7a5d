r"""The user's factors: Pyomo's Suffix ``scaling_factor`` on the objective and constraints."""

from __future__ import annotations

import numpy as np
from pyomo.core.base.suffix import SuffixFinder

from ..declare import StochasticProgram
from ..sqp import Scaling


def user_scaling(program: StochasticProgram) -> Scaling:
    """Factors found for the rows and the objective; one where none is given."""
    finder = SuffixFinder("scaling_factor", default=1.0, context=program.model)
    rows = np.array([float(finder.find(r.component)) for r in program.rows])
    return Scaling(rows, float(finder.find(program.objective_component)))
