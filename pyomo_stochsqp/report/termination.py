"""Why a run ended. Numerical trouble is an answer here, never an exception."""

from __future__ import annotations

from enum import Enum


class Stop(Enum):
    """The reasons, with the sentence a user reads."""

    CONVERGED = "converged, the upper confidence bounds of both errors are below their tolerances"
    ITERATION_LIMIT = "the iteration limit was reached"
    SAMPLE_LIMIT = "the sample budget was used up"
    TIME_LIMIT = "the time limit was reached"
    STALLED = "no further progress at this noise level"
    LOCALLY_INFEASIBLE = "the constraints cannot be satisfied near this point"
    UNBOUNDED = "the iterates diverge; the objective seems to be unbounded"
    EVALUATION_ERROR = "a function could not be evaluated"
    INTERRUPTED = "interrupted by the user"
