r"""Two phases in one method: sample while estimates are noisy, then finish exactly.

The sampled phase is Algorithm 1. Once a batch holds every scenario of every source there is nothing
left to sample, and the exact phase (line search, its own curvature) takes over at the current
point. It starts with its own merit parameter: noise may have lowered the sampled one for nothing.
A model without randomness starts there.
"""

from __future__ import annotations

from dataclasses import replace

from ..oracle import Vector
from .algorithm import StochasticSQP
from .batches import Batches, BatchState
from .exact import ExactSQP
from .state import State


class TwoPhase:
    """Algorithm 1, then the exact phase."""

    def __init__(self, sampled: StochasticSQP, exact: ExactSQP, batches: Batches):
        self._sampled = sampled
        self._exact = exact
        self._batches = batches

    def start(self, x: Vector) -> State:
        method = self._exact if self._batches.complete(1, BatchState()) else self._sampled
        return method.start(x)

    def step(self, state: State) -> State:
        if not self._batches.complete(state.k + 1, state.batch):
            return self._sampled.step(state)
        if not state.exact:
            fresh = self._exact.start(state.x)
            state = replace(fresh, k=state.k, samples=state.samples, batch=state.batch)
        return self._exact.step(state)
