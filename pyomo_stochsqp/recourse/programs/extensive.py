r"""The problem of a sample as one program of all scenarios, by HiGHS."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...declare.recourse import AffineTwoStage
from ...value_function import Cut
from ..scenarios import Scenarios
from .linear_program import LinearProgram, Solved, solve_program
from .sample_problem import sample_problem


class SampledSolver:
    """Solves problems of samples; ``gap`` is that of integer programs."""

    def __init__(self, program: AffineTwoStage, gap: float):
        self._p = program
        self._gap = gap

    def solve(self, sample: Scenarios, cuts: Sequence[Cut], seconds: float) -> Solved:
        """The solution in x, and a valid lower bound, in about so many seconds."""
        found = self._solved(sample_problem(sample, cuts), seconds)
        n = self._p.T.shape[1]
        if found.x.size == 0:
            return found
        x = np.clip(found.x[:n], self._p.x_lower, self._p.x_upper)
        x = np.where(self._p.x_integer, np.round(x), x)
        return Solved(found.status, found.bound, found.objective, x, found.row_duals)

    def _solved(self, program: LinearProgram, seconds: float) -> Solved:
        return solve_program(program, seconds, self._gap)
