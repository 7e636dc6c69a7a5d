r"""TStoM: two phases with recursive momentum, for expectation-constrained problems.

Source: Cui, Wang, Xiao, "A two-phase stochastic momentum-based algorithm for nonconvex
expectation-constrained optimization" (2024), Algorithm 2.1, through its description and parameters
in the paper's Section "Experiments on LIBSVM Problems".

**Reconstructed.** Neither the text of that article nor a public implementation was found. What is
known for certain is the list of parameters (T, gamma, V in Phase I; alpha, tau, beta, eta, rho in
Phase II), that there are two phases, that estimates carry momentum, and that it is an augmented
Lagrangian method. The rules below are those of MLALM (Shi, Wang, Wang, Mathematics of Operations
Research, 2025), which shares an author with the article: a linearised augmented Lagrangian method
with recursive momentum, with each parameter in the place where its name and size fit: V = 2e7 is
the reciprocal of eta = 5e-8, both being step sizes suited to the same Jacobian. Algorithm 2.1 of
the article would settle it; docs/reproducing.md says rule by rule what is known and what assumed.

Recursive momentum: with one sample w_k evaluated at both x_k and x_{k-1}, and a weight a in (0, 1],

    u_k = U(x_k, w_k) + (1 - a) (u_{k-1} - U(x_{k-1}, w_k))                 (a = 1: no memory)

Phase I, k = 1..T, on 1/2 |c|^2, both c_k and J_k with weight gamma:

    x_{k+1} = P[ x_k - (1 / V) J_k' r(c_k) ],            r(c) = c - clip(c, row_lower, row_upper)

Phase II, on the augmented Lagrangian, g_k and J_k with weight alpha, c_k with weight tau:

    p_k = y_k / beta + c_k,       z_k = beta (p_k - clip(p_k, row_lower, row_upper))
    x_{k+1} = P[ x_k - eta (g_k + J_k' z_k) ],           y_{k+1} = y_k + (rho / beta) (z_k - y_k)

For equalities c = 0 these are z_k = y_k + beta c_k and y_{k+1} = y_k + rho c_k; the form with clip
is Rockafellar's for intervals, and P projects on the bounds: both are ours, so that every model of
the package can be tried. T = 0 and alpha = tau = 1 give the plain stochastic linearised augmented
Lagrangian method.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..oracle import ITERATION_STREAM, Estimate, Jacobian, Oracle, Vector
from .baseline_state import BaselineState


@dataclass(frozen=True)
class TStoMParameters:
    """Defaults are the paper's, tuned by its authors for the LIBSVM study."""

    T: int = 50
    gamma: float = 0.3
    V: float = 2e7
    alpha: float = 0.6
    tau: float = 0.3
    beta: float = 15.0
    eta: float = 5e-8
    rho: float = 0.4

    @classmethod
    def automatic(
        cls, oracle: Oracle, x: Vector, batch: Sequence[int], constants: tuple[float, float]
    ) -> TStoMParameters:
        """The same with steps 1 / curvature, measured at x on one sample; the rule is ours.

        The augmented Lagrangian's curvature is at most L + |z|_inf Gamma + beta |J|^2.
        """
        e = oracle.estimate(x, oracle.draw(ITERATION_STREAM, 0, batch))
        L, Gamma = constants
        squares = float(e.J @ e.J)
        worst = float(oracle.problem.violation(e.c).max(initial=0.0))
        defaults = cls()
        return cls(
            V=max(squares + worst * Gamma, 1e-8),
            eta=1.0 / (L + defaults.beta * (squares + worst * Gamma)),
        )


@dataclass(frozen=True)
class TStoMState(BaselineState):
    """A state that remembers the momentum estimates and the point they belong to."""

    x_before: Vector = field(default_factory=lambda: np.empty(0))
    g: Vector = field(default_factory=lambda: np.empty(0))
    c: Vector = field(default_factory=lambda: np.empty(0))
    J: Vector = field(default_factory=lambda: np.empty(0))


class TStoM:
    """One iteration at a time: ``state = method.step(state)``."""

    def __init__(
        self, oracle: Oracle, batch: Sequence[int], parameters: TStoMParameters | None = None
    ):
        self._oracle = oracle
        self._batch = tuple(batch)
        self._p = parameters or TStoMParameters()
        self._jacobian = Jacobian(oracle.problem)

    def start(self, x: Vector) -> TStoMState:
        """The state before the first iteration."""
        return TStoMState(k=0, x=x, y=np.zeros(self._oracle.problem.m))

    def step(self, state: TStoMState) -> TStoMState:
        """One iteration of Phase I or Phase II."""
        problem, p, k = self._oracle.problem, self._p, state.k + 1
        first = k <= p.T
        weights = (p.gamma, p.gamma) if first else (p.alpha, p.tau)
        momentum, used = self._momentum(k, state, *weights)
        if momentum.issue is not None:
            return replace(state, k=k, issue=momentum.issue)
        g, c, J, y = momentum.g, momentum.c, momentum.J, state.y
        if first:
            direction = self._jacobian.transposed(J, problem.excess(c))
            eta = 1.0 / p.V
        else:
            z = p.beta * problem.excess(y / p.beta + c)
            direction = g + self._jacobian.transposed(J, z)
            eta = p.eta
            y = y + (p.rho / p.beta) * (z - y)
        return TStoMState(
            k=k,
            x=np.clip(state.x - eta * direction, problem.x_lower, problem.x_upper),
            y=y,
            samples=state.samples + used,
            scenarios=used,
            violation=float(problem.violation(c).sum()),
            step=float(np.linalg.norm(direction)),
            alpha=eta,
            x_before=state.x,
            g=g,
            c=c,
            J=J,
        )

    def _momentum(
        self, k: int, state: TStoMState, derivatives: float, values: float
    ) -> tuple[Estimate, int]:
        """(estimates with memory, scenarios evaluated); weights of (g, J) and of c."""
        sample = self._oracle.draw(ITERATION_STREAM, k, self._batch)
        here = self._oracle.estimate(state.x, sample)
        if k == 1 or here.issue is not None:
            return here, sample.scenarios
        there = self._oracle.estimate(state.x_before, sample)
        a, b = 1.0 - derivatives, 1.0 - values
        remembered = Estimate(
            here.g + a * (state.g - there.g),
            here.c + b * (state.c - there.c),
            here.J + a * (state.J - there.J),
            issue=there.issue,
        )
        return remembered, 2 * sample.scenarios
