r"""Why a program has no solution: already the first stage by itself, or only with the second."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..declare.recourse import AffineTwoStage
from ..method import Stop
from .programs import LinearProgram, Status, first_stage, solve_program


def why_infeasible(program: AffineTwoStage, where: str) -> tuple[Stop, str]:
    """The end of a run, in words."""
    matrix, lower, upper = first_stage(program)
    alone = LinearProgram(
        np.zeros(program.x_lower.size), matrix, lower, upper,
        program.x_lower, program.x_upper, program.x_integer,
    )  # fmt: skip
    if solve_program(alone).status is not Status.INFEASIBLE:
        return Stop.LOCALLY_INFEASIBLE, (
            f"no first-stage decision has a feasible second stage in {where}"
        )
    if program.x_integer.any():
        relaxed = replace(alone, integer=np.zeros_like(program.x_integer))
        if solve_program(relaxed).status is not Status.INFEASIBLE:
            return Stop.LOCALLY_INFEASIBLE, (
                "no whole numbers fulfil the rows of the first stage, even without the second"
            )
    return Stop.LOCALLY_INFEASIBLE, (
        "the rows and bounds of the first stage contradict each other, even without the second"
    )
