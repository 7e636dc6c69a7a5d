r"""Programs of samples, and who solves them.

linear_program    one program by HiGHS
sample_problem    all scenarios of a sample in one program
extensive         that program, solved as it is
through_pyomo     the same by any solver that Pyomo knows
"""

from .extensive import SampledSolver
from .linear_program import (
    LinearProgram,
    Solved,
    Status,
    loaded,
    run_highs,
    solve_program,
    status_of,
)
from .sample_problem import first_stage, sample_problem
from .through_pyomo import PyomoSampledSolver, check_solver

__all__ = [
    "LinearProgram",
    "PyomoSampledSolver",
    "SampledSolver",
    "Solved",
    "Status",
    "check_solver",
    "first_stage",
    "loaded",
    "run_highs",
    "sample_problem",
    "solve_program",
    "status_of",
]
