r"""Small batches without the bias of formulas.

A formula of means over b scenarios is biased by a/b + O(1/b^2). Half a batch has twice that, so

    2 (all of it) - mean of (first half, second half)

has none of first order (the jackknife of two halves). It is a smooth function of x with its own
derivatives, at twice the cost of an estimate. Algorithm 1, whose batches are small, works on this;
fixed samples of thousands of scenarios need it only for their replicates (certify/replicates.py).
"""

from __future__ import annotations

from collections.abc import Sequence

from ..oracle import Estimate, Sample, Vector
from .eliminated import Eliminated

#: scenarios of each source that make a batch worth dividing
LEAST = 4


class Jackknifed:
    """An oracle with formulas whose batch estimates have no bias of first order."""

    def __init__(self, oracle: Eliminated):
        self._oracle = oracle
        self.problem = oracle.problem
        self.sources = oracle.sources
        self.hessian_pattern = oracle.hessian_pattern
        self.hessian = oracle.hessian

    def draw(self, stream: int, k: int, batch: Sequence[int]) -> Sample:
        return self._oracle.draw(stream, k, batch)

    def estimate(self, x: Vector, sample: Sample, objective: bool = False) -> Estimate:
        whole = self._oracle.estimate(x, sample, objective)
        halves = self._oracle.halves(sample, LEAST)
        if whole.issue is not None or halves is None:
            return whole
        a, b = (self._oracle.estimate(x, half, objective) for half in halves)
        if a.issue is not None or b.issue is not None:
            return whole
        f = None
        if whole.f is not None and a.f is not None and b.f is not None:
            f = 2.0 * whole.f - 0.5 * (a.f + b.f)
        return Estimate(
            2.0 * whole.g - 0.5 * (a.g + b.g),
            2.0 * whole.c - 0.5 * (a.c + b.c),
            2.0 * whole.J - 0.5 * (a.J + b.J),
            f,
        )
