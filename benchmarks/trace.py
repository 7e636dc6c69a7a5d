r"""Watching an exact oracle: true values of every iterate, with no evaluation of its own.

The paper's noise oracle evaluates the exact functions at every iterate and adds its errors. A
:class:`Trace` stands between the two, keeps what passes, and turns it into true errors stack by
stack. The time that takes is known, so that it can be left out of a method's CPU time.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from benchmarks.truth import Array, TrueValues, true_values
from pyomo_stochsqp.oracle import Estimate, Oracle, Sample, Vector, exact_estimate

#: numbers of a stack of Jacobians that are held at once
STACK = 2_000_000
LARGEST_STACK = 512


class Trace:
    """An exact oracle that remembers every point at which it was evaluated."""

    def __init__(self, exact: Oracle):
        self.problem = exact.problem
        self.sources = exact.sources
        #: CPU seconds spent on true errors
        self.seconds = 0.0
        self._exact = exact
        size = max(exact.problem.n * exact.problem.m, 1)
        self._stack = max(1, min(LARGEST_STACK, STACK // size))
        self._points: list[Vector] = []
        self._waiting: list[Estimate] = []
        self._done: list[TrueValues] = []

    def draw(self, stream: int, k: int, batch: Sequence[int]) -> Sample:
        return self._exact.draw(stream, k, batch)

    def estimate(self, x: Vector, sample: Sample, objective: bool = False) -> Estimate:
        estimate = self._exact.estimate(x, sample, objective)
        self._points.append(x)
        self._waiting.append(estimate)
        if len(self._waiting) >= self._stack:
            self._work_off()
        return estimate

    @property
    def points(self) -> list[Vector]:
        """All points, in order."""
        return self._points

    def values(self) -> TrueValues:
        """True errors of all points, in order."""
        self._work_off()
        stacks = self._done
        return TrueValues(
            np.concatenate([s.infeasibility for s in stacks]),
            np.concatenate([s.stationarity for s in stacks]),
            np.concatenate([s.trial for s in stacks]),
        )

    def _work_off(self) -> None:
        if not self._waiting:
            return
        began = time.process_time()
        g, c, J = (np.array([getattr(e, name) for e in self._waiting]) for name in "gcJ")
        self._done.append(true_values(self.problem, g, c, J))
        self._waiting = []
        self.seconds += time.process_time() - began


def errors_at(oracle: Oracle, points: Sequence[Vector]) -> tuple[Array, Array]:
    """(infeasibility, stationarity) of given points, from full passes."""
    exact = [exact_estimate(oracle, x) for x in points]
    g, c, J = (np.array([getattr(e, name) for e in exact]) for name in "gcJ")
    values = true_values(oracle.problem, g, c, J)
    return values.infeasibility, values.stationarity
