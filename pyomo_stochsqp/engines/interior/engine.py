r"""The interior point as an engine, in the user's units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...nlp import NLP
from ...oracle import Vector
from ...scaling import Factors
from ..protocol import Accuracy, Ending, Scales
from .interior_point import InteriorPoint
from .scaled_program import ScaledProgram, automatic
from .state import InteriorState

#: the error of the barrier method, relative to the accuracy that is asked for, and its limits
SHARE, LARGEST, SMALLEST = 1e-2, 1e-8, 1e-11


@dataclass(frozen=True)
class InteriorEngineState:
    """The state of the method, with what is seen of it in the user's units."""

    k: int
    x: Vector
    y: Vector
    inner: InteriorState
    factors: Factors
    objective: float = np.nan
    violation: float = np.nan
    step: float = np.nan
    ended: Ending | None = None


class Interior:
    """The engine for one program."""

    name = "interior point"
    RECORDS: Sequence[type] = (InteriorEngineState, Factors, *InteriorPoint.RECORDS)

    def __init__(self, nlp: NLP, accuracy: Accuracy, scales: Scales):
        self.nlp = nlp
        self._tolerance = min(max(SHARE * accuracy.relative, SMALLEST), LARGEST)
        self._given = scales.factors
        self._method: tuple[Factors, InteriorPoint] | None = None

    def relax(self, by: Vector) -> None:
        """Solve with the bounds of the rows moved apart."""
        self.nlp = Relaxed(self.nlp, by)

    def start(self, x: Vector, y: Vector) -> InteriorEngineState:
        x = self.nlp.problem.project(x)
        factors = self._given or automatic(self.nlp, x)
        inner = self._of(factors).start(x / factors.variables)
        return self._seen(InteriorEngineState(0, x, y, inner, factors, ended=inner.ended))

    def step(self, state: InteriorEngineState) -> InteriorEngineState:
        inner = self._of(state.factors).step(state.inner)
        return self._seen(replace(state, inner=inner))

    def _of(self, factors: Factors) -> InteriorPoint:
        if self._method is None or self._method[0] is not factors:
            program = ScaledProgram(self.nlp, factors)
            self._method = (factors, InteriorPoint(program, self._tolerance))
        return self._method[1]

    def _seen(self, state: InteriorEngineState) -> InteriorEngineState:
        inner, factors = state.inner, state.factors
        x = self._of(factors).x_of(inner) * factors.variables
        return replace(
            state,
            k=inner.k,
            x=self.nlp.problem.project(x),
            y=factors.user_multipliers(inner.y),
            objective=inner.objective / factors.objective,
            violation=_violation(inner.residual, factors),
            step=inner.step,
            ended=inner.ended,
        )


def _violation(residual: Vector | None, factors: Factors) -> float:
    """The largest one, in the units of its row."""
    return np.nan if residual is None else float(np.abs(residual / factors.rows).max(initial=0.0))


class Relaxed:
    """A program whose rows have been moved apart."""

    def __init__(self, nlp: NLP, by: Vector):
        self.problem = nlp.problem.relaxed(by)
        self.second_order = nlp.second_order
        self.evaluate = nlp.evaluate
        self.hessian_pattern = nlp.hessian_pattern
        self.hessian = nlp.hessian
