r"""Finite data with few joint scenarios: all of them in one program, and no sampling error."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter

import numpy as np

from ..deadline import OutOfTime, seconds_left
from ..declare.recourse import AffineTwoStage
from ..method import Stop
from .gap import RESOLUTION, Gap
from .infeasible import why_infeasible
from .outcome import TwoStageOutcome, history_row
from .programs import SampledSolver, Solved, Status
from .scenarios import Drawing, Scenarios
from .second_stage import SecondStage
from .shared_work import SharedWork

#: rows and variables of all second stages together, up to which they are one program
LARGEST = 200_000

_ENDS = {
    Status.UNBOUNDED: (Stop.UNBOUNDED, "the program of all scenarios is unbounded"),
    Status.LIMIT: (Stop.TIME_LIMIT, ""),
    Status.INTERRUPTED: (Stop.INTERRUPTED, "Ctrl-C was pressed"),
    Status.FAILED: (Stop.STALLED, "the LP solver has failed"),
}
_NOT_CONFIRMED = Stop.STALLED, "the second stages do not confirm what the LP solver has found"


def is_small(program: AffineTwoStage) -> bool:
    """Whether all scenarios fit into one program."""
    size = program.origin.source.size
    return size is not None and size * max(sum(program.W.shape), 1) <= LARGEST


def solve_exactly(
    program: AffineTwoStage, solver: SampledSolver, seed: int, wanted: float, work: SharedWork
) -> TwoStageOutcome:
    """The optimum over all scenarios; rank 0 finds it."""

    def solve(_: int) -> TwoStageOutcome:
        return replace(_solved(program, solver, seed, wanted), program=None)  # stays at home

    with work.patiently():
        return replace(work.each(solve, [0])[0], program=program)


def _solved(
    program: AffineTwoStage, solver: SampledSolver, seed: int, wanted: float
) -> TwoStageOutcome:
    began = perf_counter()
    made = TwoStageOutcome(program, Stop.TIME_LIMIT, "", None, None, None, None, 0, 1, 0.0, seed)
    try:
        whole = Drawing(program, seed).whole()
        solved = solver.solve(whole, (), seconds_left())
        made.samples = whole.count
        if solved.x.size == 0:
            ends = _ENDS.get(solved.status)
            made.stop, made.message = ends or why_infeasible(program, "all scenarios")
            return made
        made.x = solved.x
        value = _value(program, whole, solved)
        rest = max(value - solved.bound, 0.0) + RESOLUTION * abs(value)
        made.gap = Gap(value, 0.0, rest, rest, solved.bound, whole.count, 1)
        if solved.row_duals is not None:
            made.duals = solved.row_duals[: program.row_lower.size]
        good = np.isfinite(value) and made.gap.relative <= max(wanted, 1e-6)
        made.stop, made.message = (
            (Stop.CONVERGED, "") if good else _ENDS.get(solved.status, _NOT_CONFIRMED)
        )
    except OutOfTime:
        pass
    except KeyboardInterrupt:
        made.stop, made.message = _ENDS[Status.INTERRUPTED]
    finally:
        made.seconds = perf_counter() - began
    if made.gap is not None:
        n, sign = made.samples, program.origin.sign
        made.history.append(history_row(1, n, made.gap, n, made.seconds, sign))
    return made


def _value(program: AffineTwoStage, whole: Scenarios, solved: Solved) -> float:
    """The objective, with the second stages solved anew if there is time."""
    if solved.status is Status.INTERRUPTED:
        return solved.objective
    try:
        reaction = SecondStage(program).react(solved.x, whole)
    except OutOfTime:
        return solved.objective
    c, constant = whole.first_cost()
    return float(c @ solved.x) + constant + float(whole.weights @ reaction.values)
