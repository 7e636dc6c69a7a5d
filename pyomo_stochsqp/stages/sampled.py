r"""The sampled phase: Algorithm 1 for as long as a small batch knows where to go.

An iteration is computed on two half batches from time to time. While they agree about the
direction, the error of the point is larger than the noise of a batch, and nothing is cheaper than
another iteration. Once they disagree Algorithm 1 would double its batch; here it hands over, at the
mean of its last iterates, to the stages.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ..method import Method
from ..oracle import Vector
from ..sqp.average import TailAverage

#: iterations after which the stages take over in any case
MOST = 200


@dataclass(frozen=True)
class SampledState:
    """The state of Algorithm 1, and the mean of its last iterates."""

    inner: Any
    average: TailAverage
    #: noise dominates the direction: the phase is over
    settled: bool = False


class SampledPhase:
    """Algorithm 1 with an end."""

    def __init__(self, method: Method, most: int = MOST):
        self._method = method
        self._most = most

    def start(self, x: Vector) -> SampledState:
        inner = self._method.start(x)
        return SampledState(inner, TailAverage.beginning(inner.x))

    def step(self, state: SampledState) -> SampledState:
        inner = self._method.step(state.inner)
        if inner.issue is not None:
            return replace(state, inner=inner, settled=True)
        return SampledState(
            inner,
            state.average.with_iterate(inner.samples, inner.x),
            settled=inner.batch.factor > 1.0 or inner.k >= self._most,
        )
