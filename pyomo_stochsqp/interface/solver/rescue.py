r"""What is left of a run that an error has ended: its checkpoint and its best point.

A callback, a sampler, a file of data can fail at any time. The error then carries the best point so
far, and whoever the user has called loads it into the model before the error is raised.
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from ...errors import StochSQPError
from ...run import Progress
from ...run.checkpoint import Keeper
from ...solve import Setup
from .solution import StochSQPSolutionLoader


def leave(error: BaseException, setup: Setup, progress: Progress, keeper: Keeper | None) -> None:
    """Keep the last complete iteration, and give its best point to the error."""
    if keeper is not None:
        with suppress(Exception):  # the sampler that has failed may be asked again
            keeper.keep(progress)
    state, program = progress.state, setup.program
    if state.best is not None:
        problem = setup.oracle.problem
        error.solution_loader = StochSQPSolutionLoader.of(  # type: ignore[attr-defined]
            program, problem, state.best
        )
    elif np.isfinite(state.x).all():
        error.solution_loader = StochSQPSolutionLoader(  # type: ignore[attr-defined]
            program, state.x
        )


def load_what_is_left(error: BaseException) -> None:
    """Load the point that an error carries, and say so."""
    loader = getattr(error, "solution_loader", None)
    if loader is None:
        return
    loader.load_solution()
    if isinstance(error, StochSQPError):
        error.args = (f"{error} The best point so far was loaded into the model.",)
