r"""A smooth program without randomness: what an engine solves.

    min f(x)   s.t.   row_lower <= c(x) <= row_upper,   x_lower <= x <= x_upper

All functions are exact. A stochastic problem becomes such a program once its sample is fixed:

    f(x) = (1/N) sum_i F(x, w_i),      c(x) = (1/N) sum_i C(x, w_i),      i in the sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from .oracle import (
    Estimate,
    Oracle,
    Problem,
    Sample,
    SecondOrderOracle,
    Vector,
    estimates,
    mean_estimate,
)


class NLP(Protocol):
    """Values, first and second derivatives."""

    problem: Problem
    #: whether :meth:`hessian` may be asked for
    second_order: bool

    def evaluate(self, x: Vector) -> Estimate:
        """f, g, c and J at x; with an issue where x is outside a function's domain."""

    def hessian_pattern(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """(indptr, indices): upper triangle of the Lagrangian's Hessian, compressed columns."""

    def hessian(self, x: Vector, y: Vector) -> Vector:
        """Values of grad^2 f + sum_i y_i grad^2 c_i on that pattern."""


class SampleAverage:
    """The program of one fixed sample.

    Second derivatives may be averaged over fewer scenarios: they decide how fast an engine
    converges, not where to.
    """

    def __init__(
        self,
        oracle: Oracle,
        samples: Sequence[Sample],
        curvature_samples: Sequence[Sample] | None = None,
    ):
        self.problem = oracle.problem
        # asked once: the check of a protocol costs as much as an evaluation of a small model
        self._curved = oracle if isinstance(oracle, SecondOrderOracle) else None
        self.second_order = self._curved is not None
        self._oracle = oracle
        self._samples = samples
        self._curvature_samples = samples if curvature_samples is None else curvature_samples
        #: the last point and its values: engines come back to it
        self._seen: tuple[Vector, Estimate] | None = None

    @property
    def scenarios(self) -> int:
        return sum(sample.scenarios for sample in self._samples)

    def evaluate(self, x: Vector) -> Estimate:
        if self._seen is None or not self.knows(x):
            self._seen = (x, self._estimated(x))
        return self._seen[1]

    def knows(self, x: Vector) -> bool:
        """Whether these are the last point's values."""
        seen = self._seen
        return seen is not None and (seen[0] is x or np.array_equal(seen[0], x))

    def _estimated(self, x: Vector) -> Estimate:
        if len(self._samples) == 1:
            return self._oracle.estimate(x, self._samples[0], objective=True)
        return mean_estimate(estimates(self._oracle, x, self._samples, objective=True))

    def remember(self, x: Vector, estimate: Estimate) -> None:
        """Values at x that somebody else has computed."""
        self._seen = (x, estimate)

    def hessian_pattern(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        assert self._curved is not None
        return self._curved.hessian_pattern()

    def hessian(self, x: Vector, y: Vector) -> Vector:
        assert self._curved is not None
        made = [self._curved.hessian(x, y, sample) for sample in self._curvature_samples]
        return made[0] if len(made) == 1 else np.mean(made, axis=0)
