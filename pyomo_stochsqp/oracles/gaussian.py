r"""The paper's noise model: exact values plus independent Gaussian errors.

    g ~ N(grad f(x), eps_g beta_k^2 / n I),   c ~ N(c(x), eps_c beta_k^2 / m I),
    J_ij ~ N(grad c_i(x)_j, eps_J beta_k^2 / (m n))

(Section "Experiments on CUTEst Problems"). A sample is its set of errors, so two points estimated
on one sample differ by exact differences only. Every entry of J is noisy: its pattern becomes full.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import sqrt

import numpy as np

from ..oracle import SETUP_STREAM, Estimate, Oracle, Problem, Sample, SourceInfo, Vector
from ..sample.streams import block_length, generator


class GaussianNoiseOracle:
    """Adds the paper's errors to an exact oracle (one without sources)."""

    def __init__(
        self,
        exact: Oracle,
        variances: tuple[float, float, float],
        beta: Callable[[int], float],
        seed: int,
    ):
        n, m = exact.problem.n, exact.problem.m
        pattern = Problem.equalities(exact.problem.x0, m)
        self.problem = replace(
            exact.problem,
            jac_indptr=pattern.jac_indptr,
            jac_indices=pattern.jac_indices,
            exact_rows=pattern.exact_rows,
        )
        self.sources: Sequence[SourceInfo] = (SourceInfo("noise", None),)
        self._exact = exact
        self._nothing = exact.draw(SETUP_STREAM, 0, ())
        self._beta = beta
        self._seed = seed
        row_of_entry = exact.problem.jac_rows
        self._entries = row_of_entry * n + exact.problem.jac_indices
        eps_g, eps_c, eps_J = variances
        self._deviations = np.sqrt(
            np.concatenate(
                [
                    np.full(n, eps_g / n),
                    np.full(m, eps_c / max(m, 1)),
                    np.full(m * n, eps_J / max(m * n, 1)),
                ]
            )
        )
        self._cuts = (n, n + m)
        self._length = block_length(self._deviations.size)
        #: of every stream: the number of its last block, and the block's errors of unit batches
        self._blocks: dict[int, tuple[int, Vector]] = {}

    def draw(self, stream: int, k: int, batch: Sequence[int]) -> Sample:
        block, row = divmod(k, self._length)
        number, errors = self._blocks.get(stream, (None, self._deviations))
        if number != block:
            rng = generator(self._seed, stream, 0, 0, block, 1)
            errors = rng.standard_normal((self._length, self._deviations.size)) * self._deviations
            self._blocks[stream] = block, errors
        return Sample(errors[row] * (self._beta(max(k, 1)) / sqrt(batch[0])), scenarios=batch[0])

    def estimate(self, x: Vector, sample: Sample, objective: bool = False) -> Estimate:
        exact = self._exact.estimate(x, self._nothing, objective)
        n, nm = self._cuts
        errors = sample.payload
        J = errors[nm:].copy()
        J[self._entries] += exact.J
        return Estimate(exact.g + errors[:n], exact.c + errors[n:nm], J, exact.f, exact.issue)

    def without_noise(self, x: Vector, objective: bool = False) -> Estimate:
        """The exact values, on the pattern of the noisy ones."""
        exact = self._exact.estimate(x, self._nothing, objective)
        J = np.zeros(self._deviations.size - self._cuts[1])
        J[self._entries] = exact.J
        return Estimate(exact.g, exact.c, J, exact.f, exact.issue)
