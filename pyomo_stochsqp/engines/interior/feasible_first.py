r"""First feasible, then optimal: a second opinion on whether rows can be satisfied at all.

    1   min sum (p + q)  s.t.  lower <= c(x) - p + q <= upper      from the start, whatever f is
    2   the program itself, from the point that 1 has found

An interior point that ends where rows cannot be brought nearer to their bounds was led there by the
objective, too. If 1, which does not know it, ends at violated rows as well, they are called
infeasible. (1 is the restoration program, hardly held back by the distance from its start.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...nlp import NLP
from ...oracle import Vector
from ...scaling import Factors
from ..protocol import Accuracy, Ending, Scales
from .engine import Interior, InteriorEngineState
from .interior_point import INFEASIBLE, MU, InteriorPoint
from .restoration import Restoration
from .scaled_program import ScaledProgram, automatic
from .state import InteriorState

#: zeta^2 of the restoration program: how strongly it is held back
HELD_BACK = 1e-12
TOLERANCE = 1e-9
MAX_ITERATIONS = 500


@dataclass(frozen=True)
class FeasibleFirstState:
    """The state of whichever program is being solved."""

    k: int
    x: Vector
    y: Vector
    start: Vector
    factors: Factors
    feasibility: InteriorState | None
    program: InteriorEngineState | None = None
    objective: float = np.nan
    violation: float = np.nan
    step: float = np.nan
    ended: Ending | None = None


class FeasibleFirst:
    """The engine for one program."""

    name = "interior point, feasible first"
    RECORDS: Sequence[type] = (FeasibleFirstState, *Interior.RECORDS)

    def __init__(self, nlp: NLP, accuracy: Accuracy, scales: Scales):
        self._interior = Interior(nlp, accuracy, scales)
        self._given = scales.factors
        self._method: tuple[Vector, InteriorPoint] | None = None

    def relax(self, by: Vector) -> None:
        """Solve with the bounds of the rows moved apart."""
        self._interior.relax(by)

    def start(self, x: Vector, y: Vector) -> FeasibleFirstState:
        nlp = self._interior.nlp
        x = nlp.problem.project(x)
        factors = self._given or automatic(nlp, x)
        state = FeasibleFirstState(0, x, y, x, factors, None)
        if nlp.evaluate(x).issue is not None:
            return replace(state, ended=Ending.UNDEFINED)
        method = self._feasibility(state)
        return replace(state, feasibility=method.start(method.nlp.problem.x0, mu=MU))

    def step(self, state: FeasibleFirstState) -> FeasibleFirstState:
        if state.program is not None:
            program = self._interior.step(state.program)
            return replace(
                state, k=state.k + 1, x=program.x, y=program.y, program=program,
                objective=program.objective, violation=program.violation, step=program.step,
                ended=program.ended,
            )  # fmt: skip
        assert state.feasibility is not None
        nlp = self._interior.nlp
        inner = self._feasibility(state).step(state.feasibility)
        x = nlp.problem.project(inner.v[: nlp.problem.n] * state.factors.variables)
        state = replace(state, k=state.k + 1, x=x, feasibility=inner, step=inner.step)
        here = nlp.evaluate(x)
        if here.issue is None and here.f is not None:
            left = nlp.problem.violation(here.c)
            state = replace(state, objective=here.f, violation=float(left.max(initial=0.0)))
            if float((left * state.factors.rows).sum()) <= INFEASIBLE:
                start = self._interior.start(x, np.zeros(nlp.problem.m))
                return replace(state, feasibility=None, program=start, ended=start.ended)
        if inner.ended is None:
            return state
        solved = inner.ended is Ending.SOLVED
        return replace(state, ended=Ending.INFEASIBLE if solved else Ending.STALLED)

    def _feasibility(self, state: FeasibleFirstState) -> InteriorPoint:
        if self._method is None or self._method[0] is not state.start:
            scaled = ScaledProgram(self._interior.nlp, state.factors)
            program = Restoration(scaled, state.start / state.factors.variables, HELD_BACK)
            method = InteriorPoint(program, TOLERANCE, MAX_ITERATIONS, nested=True)
            self._method = (state.start, method)
        return self._method[1]
