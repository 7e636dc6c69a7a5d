r"""Solving the problem of a sample with HiGHS, as one program of all scenarios."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..deadline import seconds_left
from ..declare.recourse import AffineTwoStage
from .linear_program import Solved, solve_program
from .sample_problem import sample_problem
from .scenarios import Scenarios
from .second_stage import Cut


class SampledSolver:
    """Solves problems of samples with HiGHS; ``gap`` is that of integer programs."""

    def __init__(self, program: AffineTwoStage, gap: float):
        self._p = program
        self._gap = gap

    def solve(self, sample: Scenarios, cuts: Sequence[Cut] = ()) -> Solved:
        """The solution in x, and a valid lower bound."""
        found = solve_program(sample_problem(sample, cuts), seconds_left(), self._gap)
        n = self._p.T.shape[1]
        if found.x.size == 0:
            return found
        x = np.clip(found.x[:n], self._p.x_lower, self._p.x_upper)
        x = np.where(self._p.x_integer, np.round(x), x)
        return Solved(found.status, found.bound, found.objective, x, found.row_duals)
