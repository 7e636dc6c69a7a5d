r"""Batch sizes: how many scenarios of each source an iteration draws.

    constant    the sizes given
    geometric   sizes grow by a fixed factor per iteration
    variance    sizes proportional to 1 / beta_k^2, so that the variances rho_k fall like beta_k^2
                (Corollary asymptotic, case ii)
    adaptive    double the sizes whenever noise dominates the direction: the direction is computed
                on both halves of the batch; |d_1 - d_2|_H^2 / 4 estimates the variance of d, and
                sizes double when its recent average exceeds half of that of |d|_H^2

All are capped by the number of scenarios, where estimates become exact. Half batches also tell the
noise of c, against which the elastic subproblem weighs its merit parameter: they are computed under
every rule, but not for the paper's own direction, which makes no use of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ..oracle import SourceInfo

GROWTHS = ("adaptive", "constant", "geometric", "variance")
PROBE_EVERY = 5
MEMORY = 0.5  # weight of the newest probe in the running averages
NOISE_SHARE = 0.5


class BatchState(NamedTuple):
    """The growth factor so far, and running averages of noise and signal at the current size."""

    factor: float = 1.0
    noise: float = 0.0
    signal: float = 0.0
    probes: int = 0


class Batches:
    """Sizes for every iteration; see the head of this file."""

    def __init__(
        self,
        sources: Sequence[SourceInfo],
        initial: Sequence[int],
        growth: str,
        rate: float,
        beta: Callable[[int], float],
        probes: bool = True,
    ):
        self.growth = growth
        self._probes = probes or growth == "adaptive"
        self._initial = tuple(initial)
        self._limits = tuple(s.size for s in sources)
        self._rate = rate
        self._beta = beta
        # Sizes change rarely, and are asked for twice in every iteration.
        self._known: tuple[float, tuple[int, ...]] = self._at(1.0)

    def sizes(self, k: int, state: BatchState) -> tuple[int, ...]:
        """One size per source for iteration k."""
        if self.growth == "constant":
            return self._known[1]
        if self.growth == "adaptive":
            factor = state.factor
        elif self.growth == "geometric":
            factor = self._rate ** (k - 1)
        else:
            factor = (self._beta(1) / self._beta(k)) ** 2
        if factor != self._known[0]:
            self._known = self._at(factor)
        return self._known[1]

    def _at(self, factor: float) -> tuple[float, tuple[int, ...]]:
        sizes = tuple(
            _capped(b * factor, limit) for b, limit in zip(self._initial, self._limits, strict=True)
        )
        return factor, sizes

    def wants_probe(self, k: int, exact: bool) -> bool:
        """Whether iteration k should be computed on two half batches."""
        return self._probes and not exact and k % PROBE_EVERY == 1

    def after_probe(self, state: BatchState, noise: float, signal: float) -> BatchState:
        """noise = |d_1 - d_2|_H^2 / 4 and signal = |d|_H^2 of one probe."""
        w = MEMORY if state.probes else 1.0
        noise = (1.0 - w) * state.noise + w * noise
        signal = (1.0 - w) * state.signal + w * signal
        grows = self.growth == "adaptive" and state.probes >= 1
        if grows and noise > NOISE_SHARE * signal:
            return BatchState(factor=2.0 * state.factor)
        return BatchState(state.factor, noise, signal, state.probes + 1)


def _capped(size: float, limit: int | None) -> int:
    rounded = max(1, int(size + 0.5))
    return rounded if limit is None else min(rounded, limit)
