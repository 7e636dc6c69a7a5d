r"""The stochastic subgradient method on the exact penalty function (the paper's first baseline).

It minimises the merit function of Algorithm 1 with a fixed merit parameter,

    phi(x) = tau f(x) + v(c(x)),      v the l1 distance to the rows' intervals (|c|_1 for c = 0),

by steps along a stochastic subgradient, projected on the variables' bounds:

    x_{k+1} = P[ x_k - alpha_k (tau g_k + J_k' s_k) ],     alpha_k = beta_k tau / (tau L + Gamma),

where s_k is the sign of the violation of every row (+1 above its interval, -1 below, 0 inside).
The tau in the numerator of alpha_k is the paper's (Section "Experiments on CUTEst Problems"), so
a small tau makes steps small as well as feasibility important. The paper runs it for the seven
values tau = 1e-6, 1e-5, ..., 1 and keeps the best iterate of all seven.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ..oracle import ITERATION_STREAM, Jacobian, Oracle, Vector
from .baseline_state import BaselineState

#: the paper's merit parameters
PENALTIES = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)


class StochasticSubgradient:
    """One iteration at a time: ``state = method.step(state)``."""

    def __init__(
        self,
        oracle: Oracle,
        batch: Sequence[int],
        beta: Callable[[int], float],
        tau: float,
        lipschitz_constants: tuple[float, float],
    ):
        self._oracle = oracle
        self._batch = tuple(batch)
        self._beta = beta
        self._tau = tau
        L, Gamma = lipschitz_constants
        self._step_per_beta = tau / (tau * L + Gamma)
        self._jacobian = Jacobian(oracle.problem)

    def start(self, x: Vector) -> BaselineState:
        """The state before the first iteration."""
        return BaselineState(k=0, x=x, y=np.zeros(self._oracle.problem.m))

    def step(self, state: BaselineState) -> BaselineState:
        """x <- P[x - alpha (tau g + J's)]."""
        problem, k, x = self._oracle.problem, state.k + 1, state.x
        sample = self._oracle.draw(ITERATION_STREAM, k, self._batch)
        e = self._oracle.estimate(x, sample)
        if e.issue is not None:
            return replace(state, k=k, issue=e.issue)
        s = np.sign(problem.excess(e.c))
        direction = self._tau * e.g + self._jacobian.transposed(e.J, s)
        alpha = self._beta(k) * self._step_per_beta
        return BaselineState(
            k=k,
            x=np.clip(x - alpha * direction, problem.x_lower, problem.x_upper),
            y=s / self._tau,
            samples=state.samples + sample.scenarios,
            scenarios=sample.scenarios,
            violation=float(problem.violation(e.c).sum()),
            step=float(np.linalg.norm(direction)),
            alpha=alpha,
        )
