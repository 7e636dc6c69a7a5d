r"""What a run's end is called, from why it stopped and what the last certificate says."""

from __future__ import annotations

from ..certify import Certificate, Tolerances
from ..method import Stop

#: ends that a certificate cannot turn into success: the answer is not what was asked for
ASTRAY = (Stop.UNBOUNDED, Stop.EVALUATION_ERROR)


def verdict(stop: Stop, best: Certificate | None, tolerances: Tolerances) -> Stop:
    """A certificate that meets the tolerances is success, whenever it is made.

    Constraints are called unsatisfiable only where the point that is returned violates them: a
    feasible start is never lost to a search that went astray.
    """
    if stop in ASTRAY:
        return stop
    if best is not None and tolerances.met(best):
        return Stop.CONVERGED
    if stop is Stop.CONVERGED:
        return Stop.STALLED
    if stop is Stop.LOCALLY_INFEASIBLE and best is not None and tolerances.feasible(best):
        return Stop.STALLED
    return stop
