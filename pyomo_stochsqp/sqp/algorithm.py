r"""Algorithm 1: the stochastic l1-SQP method with adaptive step sizes.

    for k = 1, 2, ...
        evaluate stochastic estimates (g, c, J) of (grad f, c, grad c^T) at x_k
        compute (d, y) from eq. linear_system
        if d != 0:  update tau (eq. merit_parameter_update) and xi (eq. ratio_parameter_update)
                    compute alpha_min, alpha_max (eq. stepsizes); choose alpha between them
        else:       keep tau and xi;  alpha <- alpha_min
        x_{k+1} <- x_k + alpha d

:meth:`StochasticSQP.step` is that loop's body, one call per line. What stands around it (Lipschitz
constants measured on the way, batches that grow, steps shortened at the edge of a function's
domain) is in files of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf, sqrt
from typing import Any

import numpy as np

from ..kkt import KKTFailure
from ..oracle import (
    ITERATION_STREAM,
    PROBE_STREAM,
    Estimate,
    EvaluationIssue,
    Jacobian,
    Oracle,
    Sample,
    Vector,
)
from ..qp import WarmStart
from ..scaling import Units, user_violation
from . import lipschitz, merit, stepsize
from .batches import Batches, BatchState
from .curvature import Curvature, CurvatureState, Lesson
from .elastic_subproblem import Starts
from .lipschitz import Constants
from .parameters import Parameters, curvature_floor
from .state import State
from .subproblem import Direction, Subproblem

#: halvings of a step that leads to a domain error, before giving up
MAX_HALVINGS = 40
#: a step whose secants ask for a shorter one is cut by this factor at most, then looked at again
SHORTEST_CUT = 0.1
#: |d|_H below this, relative to |x|, counts as d = 0: rounding would decide tau
TINY_STEP = 1e-15
#: share of an earlier measurement of noise that is kept: two half batches may agree by luck
FADING = 0.5
#: shares of their terms below which sums are rounding
ROUNDING = 1e-12


class StochasticSQP:
    """One iteration at a time: ``state = method.step(state)``."""

    #: the records in its states
    RECORDS: Sequence[type] = (State, Constants, BatchState, CurvatureState, Starts, WarmStart)

    def __init__(
        self,
        oracle: Oracle,
        subproblem: Subproblem,
        curvature: Curvature,
        batches: Batches,
        beta: Callable[[int], float],
        parameters: Parameters | None = None,
        lipschitz_constants: str | tuple[float, float] = "auto",
        units: Units | None = None,
    ):
        self._oracle = oracle
        self._subproblem = subproblem
        self._curvature = curvature
        self._batches = batches
        self._beta = beta
        self._p = parameters or Parameters()
        self._given = None if isinstance(lipschitz_constants, str) else lipschitz_constants
        self._adaptive = lipschitz_constants == "auto"
        self._units = units
        self._bounded = oracle.problem.bounded
        self._jacobian = Jacobian(oracle.problem)

    def start(self, x: Vector) -> State:
        """The state before the first iteration."""
        x = self._oracle.problem.project(x)
        batch = self._batches.sizes(1, BatchState())
        if self._given is None:
            constants = lipschitz.initial(self._oracle, x, batch, self._jacobian)
        else:
            constants = Constants(*self._given)
        curvature = self._curvature.initial(constants.L + constants.Gamma)
        if self._given is None:
            # measured with H = I
            constants = constants.in_norm(
                float(x.size), self._subproblem.quadratic_form(curvature.H, np.ones(x.size))
            )
        return State(
            k=0,
            x=x,
            y=np.zeros(self._oracle.problem.m),
            tau=self._p.tau0,
            xi=self._p.xi0,
            constants=constants,
            batch=BatchState(),
            curvature=curvature,
            x_before=x,
        )

    def step(self, state: State) -> State:
        """The body of Algorithm 1's loop."""
        k, p, beta = state.k + 1, self._p, self._beta(state.k + 1)
        if p.restarts and k >= 8 and k & (k - 1) == 0:
            # What lowered them may be long past: far from the solution, or noise of small batches.
            state = replace(state, tau=p.tau0, xi=p.xi0)
        curvature = self._curvature.at(state.curvature, k, state.x, state.y)
        H = curvature.H

        look = self._evaluate(k, state)
        x, estimate, used = look.x, look.estimate, look.scenarios
        if estimate.issue is not None:
            return replace(state, k=k, issue=estimate.issue)

        noise = state.noise if look.halves is None else max(look.noise(), FADING * state.noise)
        try:
            direction = self._subproblem.direction(  # eq. linear_system
                x, estimate, H, state.tau, noise, state.warm
            )
            warm, spread = direction.warm, None
            if look.halves is not None:
                warm, spread = self._spread(look, H, state.tau, noise, warm)
        except KKTFailure as failure:
            return replace(state, k=k, issue=EvaluationIssue("search direction", str(failure)))
        d, N = direction.d, direction.curvature
        constants, batch = state.constants, state.batch
        if spread is not None:
            batch = self._batches.after_probe(batch, spread, N)

        if self._moves(direction, x, state.tau):
            tau_trial = self._trial(direction)
            tau = merit.updated_merit_parameter(state.tau, tau_trial, p.eps_tau)
            reduction = merit.model_reduction(tau, direction.slope, direction.feasibility_reduction)
            xi = merit.updated_ratio_parameter(state.xi, reduction / (tau * N), p.eps_xi)
            alpha = self._step_size(beta, tau, xi, reduction, direction, constants)
            if self._adaptive and constants.due(k):
                alpha, constants, curvature, more = self._check(
                    k, look, direction, alpha, constants, curvature,
                    lambda c: self._step_size(beta, tau, xi, reduction, direction, c),
                )  # fmt: skip
                used += more
        else:
            tau, xi, tau_trial = state.tau, state.xi, inf
            alpha = stepsize.smallest_step(beta, xi, tau, self._D(tau, beta, constants), p.eta)
            d = np.zeros_like(d)

        x_next = x + alpha * d
        return State(
            k=k,
            x=self._oracle.problem.project(x_next) if self._bounded else x_next,
            y=direction.y,
            tau=tau,
            xi=xi,
            constants=constants,
            batch=batch,
            curvature=curvature,
            warm=warm,
            noise=noise,
            samples=state.samples + used,
            x_before=x,
            alpha=alpha,
            beta=beta,
            tau_trial=tau_trial,
            violation=user_violation(
                direction.violation, estimate.c, self._oracle.problem, self._units
            ),
            step=sqrt(N) if self._units is None else sqrt(N) * self._units.objective,
            scenarios=look.scenarios,
            exact=look.sample.exact,
        )

    def _moves(self, direction: Direction, x: Vector, tau: float) -> bool:
        """d != 0, and worth a step.

        Theory promises Delta l > 0 after the merit parameter's update. Two things can break that
        promise numerically, and both would send tau to zero: a d that is rounding, and a direction
        that neither reduces the objective's model nor, beyond rounding, the violation.
        """
        if not direction.curvature > TINY_STEP**2 * (1.0 + float(x @ x)):
            return False
        reduction, slope = direction.feasibility_reduction, direction.slope
        rounding = ROUNDING * (1.0 + direction.violation)
        return reduction > rounding or (slope < 0.0 and reduction >= 0.5 * tau * slope)

    def _D(self, tau: float, beta: float, constants: Constants) -> float:
        """tau L + Gamma, raised where eq. beta_requirement asks for it."""
        L, Gamma, _ = constants
        p = self._p
        floor = curvature_floor(p, beta) * tau / p.tau0
        return max(tau * L + Gamma, floor)

    def _trial(self, direction: Direction) -> float:
        """tau_trial; +inf where its fraction is rounding over rounding, or tau was kept."""
        quadratic = direction.slope + 0.5 * direction.curvature
        if direction.keeps_tau or quadratic <= ROUNDING * (
            abs(direction.slope) + direction.curvature
        ):
            return inf
        if direction.feasibility_reduction <= ROUNDING * (1.0 + direction.violation):
            return inf
        return merit.trial_merit_parameter(
            direction.feasibility_reduction, quadratic, self._p.sigma
        )

    def _step_size(
        self,
        beta: float,
        tau: float,
        xi: float,
        reduction: float,
        direction: Direction,
        constants: Constants,
    ) -> float:
        """alpha in [alpha_min, alpha_max] (eq. stepsizes)."""
        p = self._p
        D = self._D(tau, beta, constants)
        alpha_min = stepsize.smallest_step(beta, xi, tau, D, p.eta)
        alpha_phi = stepsize.largest_decreasing_step(
            (1.0 - p.eta) * beta * reduction, direction.violation, D * direction.curvature
        )
        alpha_max = min(alpha_min + p.theta * beta, alpha_phi)
        alpha = stepsize.choose_step(p.step_rule, alpha_min, alpha_max)
        return alpha if p.step_cap is None else min(alpha, p.step_cap)

    def _evaluate(self, k: int, state: State) -> _Look:
        """Estimates at x_k; where they do not exist, at a point nearer to x_{k-1}."""
        batch = self._batches.sizes(k, state.batch)
        sample = self._oracle.draw(ITERATION_STREAM, k, batch)
        other = None
        if batch and self._batches.wants_probe(k, sample.exact):
            half = tuple((b + 1) // 2 for b in batch)
            sample = self._oracle.draw(ITERATION_STREAM, k, half)
            other = self._oracle.draw(PROBE_STREAM, k, half)
        x = state.x
        for _ in range(MAX_HALVINGS):
            look = _Look(self._oracle, x, sample, other)
            if look.estimate.issue is None:
                break
            x = 0.5 * (x + state.x_before)
        return look

    def _spread(
        self, look: _Look, H: Any, tau: float, noise: float, warm: Any
    ) -> tuple[Any, float]:
        """(start of the next direction, |d_1 - d_2|_H^2 / 4) for the directions of two half
        batches (see batches.py)."""
        assert look.halves is not None
        one = self._subproblem.direction(look.x, look.halves[0], H, tau, noise, warm)
        two = self._subproblem.direction(look.x, look.halves[1], H, tau, noise, one.warm)
        return two.warm, 0.25 * self._subproblem.quadratic_form(H, one.d - two.d)

    def _check(
        self,
        k: int,
        look: _Look,
        direction: Direction,
        alpha: float,
        constants: Constants,
        curvature: CurvatureState,
        step_size: Callable[[Constants], float],
    ) -> tuple[float, Constants, CurvatureState, int]:
        """Measure L and Gamma on the step about to be taken; shorten it if they were too small.

        Only the step that is taken counts: far away functions may bend far more.
        """
        used = 0
        before = constants
        for _ in range(MAX_HALVINGS):
            s = alpha * direction.d
            end = look.x + s
            there = self._oracle.estimate(end, look.sample)
            used += look.sample.scenarios
            if there.issue is not None:
                alpha *= 0.5
                continue
            length = alpha * alpha * direction.curvature
            if not length > 0.0:
                break
            found = lipschitz.secants(look.here, there, s, length, self._jacobian)
            constants = lipschitz.updated(before, k, *found)
            shorter = step_size(constants)
            if shorter >= 0.5 * alpha:
                ends = (look.here, there)
                lesson = Lesson(
                    self._oracle, look.sample, look.x, end, direction.y, ends, self._jacobian
                )
                curvature = self._curvature.updated(curvature, lesson)
                used += lesson.scenarios
                constants = constants.in_norm(
                    length, self._subproblem.quadratic_form(curvature.H, s)
                )
                return min(alpha, shorter), constants, curvature, used
            alpha = max(shorter, SHORTEST_CUT * alpha)
        return alpha, constants, curvature, used


class _Look:
    """What iteration k sees at x: an estimate, on one sample or as the mean of two halves."""

    __slots__ = ("estimate", "halves", "here", "sample", "scenarios", "x")

    def __init__(self, oracle: Oracle, x: Vector, sample: Sample, other: Sample | None):
        self.x = x
        self.sample = sample
        self.here = self.estimate = a = oracle.estimate(x, sample)
        self.scenarios = sample.scenarios
        self.halves: tuple[Estimate, Estimate] | None = None
        if other is not None:
            b = oracle.estimate(x, other)
            self.scenarios += other.scenarios
            self.halves = (a, b)
            self.estimate = Estimate(
                0.5 * (a.g + b.g), 0.5 * (a.c + b.c), 0.5 * (a.J + b.J), issue=a.issue or b.issue
            )

    def noise(self) -> float:
        """The standard error of c, summed over the rows."""
        assert self.halves is not None
        a, b = self.halves
        return 0.5 * float(np.abs(a.c - b.c).sum())
