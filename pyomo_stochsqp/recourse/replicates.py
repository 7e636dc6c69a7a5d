r"""What is done with samples: each by itself, divided among the ranks.

A replicate is one sample: its problem is solved, and a decision that has never seen it is tried on
it. Where time ends before all replicates of a stage are through, those that are tell what they can.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..deadline import OutOfTime, check_time, seconds_left
from ..declare.recourse import AffineTwoStage
from ..value_function import Cut
from .programs import SampledSolver, Solved, Status
from .scenarios import Drawing, Scenarios
from .second_stage import SecondStage
from .shared_work import SharedWork

Array = NDArray[np.float64]

#: random streams: samples that certify, that only look for infeasible scenarios, that measure
REPLICATES, SEARCH, MEASURE = 0x40, 0x41, 0x42
#: scenarios per scenario of a stage that are searched for infeasible ones, and cuts of one search
SEARCHED, CUTS = 16, 20


@dataclass(eq=False)
class Replicate:
    """What one sample has to say."""

    solved: Solved
    #: the objective of the decision before
    value: float
    infeasible: int
    rows: list[int]
    cuts: list[Cut]


class Replicates:
    """The samples of a run."""

    def __init__(
        self, program: AffineTwoStage, drawing: Drawing, solver: SampledSolver, work: SharedWork
    ):
        self._p, self._drawing, self._solver, self._work = program, drawing, solver, work
        self._second = SecondStage(program)
        #: the last solution of a sample that this rank has found
        self.some: Array | None = None
        self._integer = bool(program.x_integer.any() or program.y_integer.any())

    def solved(
        self, stage: int, n: int, R: int, x: Array | None, cuts: Sequence[Cut]
    ) -> list[Replicate]:
        """All replicates of a stage for which there was time."""

        def one(r: int) -> Replicate | None:
            try:
                check_time()
                return self._one(self._sample(stage, r, n), x, cuts, self._share(r, R, x))
            except OutOfTime:
                return None

        return [made for made in self._work.each(one, range(R)) if made is not None]

    def _share(self, r: int, R: int, x: Array | None) -> float:
        """Seconds for a problem: integer programs can be stopped, their bounds are valid; a first
        stage leaves half of the time to the second, which certifies."""
        if not self._integer:
            return seconds_left()
        to_come = -(-(R - r) // self._work.size)
        return seconds_left() / (to_come if x is not None else 2 * to_come)

    def _one(
        self, sample: Scenarios, x: Array | None, cuts: Sequence[Cut], seconds: float
    ) -> Replicate:
        solved = self._solver.solve(sample, cuts, seconds)
        if solved.x.size:
            self.some = solved.x
        if solved.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        if solved.status is Status.LIMIT and not np.isfinite(solved.bound):
            raise OutOfTime
        made = Replicate(solved, np.nan, 0, [], [])
        if x is not None:
            made.value, made.infeasible, made.cuts = self._value(x, sample, CUTS)
            made.rows = [cut.row for cut in made.cuts]
        return made

    def values(
        self, stage: int, n: int, x: Array, which: Sequence[int]
    ) -> list[tuple[float, int, list[Cut]]]:
        """(objective, infeasible scenarios, a cut) of a decision on some of a stage's samples."""
        return self._work.each(lambda r: self._value(x, self._sample(stage, r, n), 1), list(which))

    def searched(self, stage: int, n: int, R: int, x: Array) -> list[Cut]:
        """Cuts of many scenarios more in which x has no feasible second stage."""

        def look(r: int) -> list[Cut]:
            sample = self._drawing.draw(SEARCH, (stage << 20) + r, SEARCHED * n)
            return self._second.react(x, sample, cuts=CUTS).cuts

        return [cut for found in self._work.each(look, range(R)) for cut in found]

    def measured(self, n: int, R: int, x: Array) -> Array:
        """The objective of x on fresh samples, one number each."""
        return np.array(
            self._work.each(
                lambda r: self._value(x, self._drawing.draw(MEASURE, r, n))[0], range(R)
            )
        )

    def _sample(self, stage: int, r: int, n: int) -> Scenarios:
        return self._drawing.draw(REPLICATES, (stage << 20) + r, n)

    def _value(self, x: Array, sample: Scenarios, cuts: int = 0) -> tuple[float, int, list[Cut]]:
        reaction = self._second.react(x, sample, cuts=cuts)
        c, constant = sample.first_cost()
        with np.errstate(invalid="ignore"):
            value = float(c @ x) + constant + float(sample.weights @ reaction.values)
        return value, int(np.isposinf(reaction.values).sum()), reaction.cuts
