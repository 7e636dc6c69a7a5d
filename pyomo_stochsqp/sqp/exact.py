r"""The exact phase: SQP with a line search, once estimates carry no sampling error.

A model without expectations, or one whose batch holds all of its data, has function values to
compare. Then the step size need not come from Lipschitz constants:

    d, y     from the subproblem, with curvature H from second derivatives or damped BFGS
    tau      from eq. merit_parameter_update
    alpha    the first of 1, 1/2, ... with phi(x + alpha d, tau) <= phi(x, tau) - 1e-4 alpha Delta l

Where the full step fails because the constraints bend away from their linearisation (Maratos'
effect), a second-order correction is tried first: the subproblem with c replaced by c(x + d) - J d.
Near a solution full steps are accepted and convergence is superlinear.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf, sqrt
from typing import Any

import numpy as np

from ..oracle import Estimate, Jacobian, Oracle, Sample, Vector
from ..report.certificate import Units
from ..report.termination import Stop
from . import merit
from .batches import BatchState
from .curvature import Curvature, Lesson
from .lipschitz import Constants
from .parameters import Parameters
from .restoration import feasible_point
from .scaling import user_violation
from .state import State
from .subproblem import Direction, Subproblem

ARMIJO = 1e-4
SMALLEST_STEP = 1e-12
#: KKT error and remaining step (relative to x) that count as solved; multipliers that are not
#: unique can make the first small long before the second
SOLVED = 1e-9
ARRIVED = 1e-8
#: the change of phi that counts as rounding
ROUNDING = 1e-14
#: a violation whose best linear reduction is below this share cannot be reduced
HOPELESS = 1e-7
MAY_RISE = 200
#: longest step, relative to 1 + |x|_inf: the linearisation says nothing about points further out
FARTHEST = 10.0
#: a (scaled) objective below this is not going to be bounded
BOTTOMLESS = -1e20
#: largest accepted growth of the violation
RUNAWAY = 10.0


class ExactSQP:
    """A method for exact oracles: ``state = method.step(state)``."""

    def __init__(
        self,
        oracle: Oracle,
        sample: Sample,
        subproblem: Subproblem,
        curvature: Curvature,
        parameters: Parameters | None = None,
        units: Units | None = None,
    ):
        self._oracle = oracle
        self._problem = oracle.problem
        self._sample = sample
        self._subproblem = subproblem
        self._curvature = curvature
        self._p = parameters or Parameters()
        self._units = units
        self._jacobian = Jacobian(oracle.problem)
        self._seen: tuple[Vector, Estimate] | None = None

    def start(self, x: Vector) -> State:
        """The state before the first iteration."""
        x = self._problem.project(x)
        return State(
            k=0,
            x=x,
            y=np.zeros(self._problem.m),
            tau=self._p.tau0,
            xi=self._p.xi0,
            constants=Constants(np.nan, np.nan),
            batch=BatchState(),
            curvature=self._curvature.initial(0.0),
            x_before=x,
            exact=True,
        )

    def step(self, state: State) -> State:
        """One iteration."""
        x = state.x
        here = self._estimate(x)
        if here.issue is not None:
            return replace(state, k=state.k + 1, issue=here.issue)
        if here.f is not None and here.f < BOTTOMLESS:
            return replace(state, k=state.k + 1, ended=Stop.UNBOUNDED)
        curvature = self._curvature.at(state.curvature, state.k + 1, x, state.y)
        H = curvature.H
        direction = self._subproblem.direction(x, here, H, state.tau, 0.0)
        state = replace(
            state,
            k=state.k + 1,
            y=direction.y,
            violation=user_violation(direction, here, self._problem, self._units),
            step=sqrt(direction.curvature) * (self._units.objective if self._units else 1.0),
            rows=self._sample.rows,
        )
        ended = self._ended(x, here, direction)
        if ended is Stop.LOCALLY_INFEASIBLE and not state.restored:
            restored = feasible_point(self._oracle, self._sample)
            if restored is not None:
                return self._moved(state, *restored)
        if ended is not None:
            return replace(state, ended=ended)

        tau = self._merit_parameter(state, direction)
        found = self._line_search(x, here, direction, H, tau)
        if found is None and curvature.pairs:
            # An ill-conditioned H can spoil the direction; it is learned anew before giving up.
            return replace(state, curvature=self._curvature.initial(0.0))
        if found is None:
            return replace(state, ended=Stop.STALLED)
        alpha, x_next, there, looks = found
        ends = (here, there)
        lesson = Lesson(
            self._oracle, self._sample, x, x_next, alpha, direction.y, ends, self._jacobian
        )
        curvature = self._curvature.updated(curvature, lesson)
        return replace(
            state,
            x=x_next,
            tau=tau,
            alpha=alpha,
            x_before=x,
            samples=state.samples + looks * self._sample.rows + lesson.rows,
            curvature=curvature,
        )

    def _moved(self, state: State, x: Vector, looks: int) -> State:
        """A new beginning at x."""
        return replace(
            state,
            x=x,
            x_before=x,
            tau=self._p.tau0,
            curvature=self._curvature.initial(0.0),
            samples=state.samples + looks * self._sample.rows,
            restored=True,
        )

    def _estimate(self, x: Vector) -> Estimate:
        """The estimate at x, remembered: the next iteration starts where the line search ended."""
        if self._seen is None or self._seen[0] is not x:
            self._seen = (x, self._oracle.estimate(x, self._sample, objective=True))
        return self._seen[1]

    def _ended(self, x: Vector, here: Estimate, direction: Direction) -> Stop | None:
        problem = self._problem
        gradient = here.g + self._jacobian.transposed(here.J, direction.y)
        projected = problem.project(x - gradient) - x
        size = 1.0 + largest(direction.y)
        violation = direction.violation
        stationary = largest(projected) <= SOLVED * size and violation <= SOLVED
        if stationary and largest(direction.d) <= ARRIVED * (1.0 + largest(x)):
            return Stop.CONVERGED
        still = float(direction.d @ direction.d) <= SOLVED * (1.0 + float(x @ x))
        if violation > 1e-6 and still and direction.feasibility_reduction <= HOPELESS * violation:
            return Stop.LOCALLY_INFEASIBLE
        return None

    def _merit_parameter(self, state: State, direction: Direction) -> float:
        """eq. merit_parameter_update; early on tau may also rise towards 1 / |y|_inf.

        A tau far below that value weighs feasibility so much that steps hug the constraints.
        Rises end after ``MAY_RISE`` iterations, so that the merit function settles.
        """
        tau, trial = state.tau, inf
        if not direction.keeps_tau and direction.feasibility_reduction > SOLVED:
            quadratic = direction.slope + 0.5 * direction.curvature
            trial = merit.trial_merit_parameter(
                direction.feasibility_reduction, quadratic, self._p.sigma
            )
            tau = merit.updated_merit_parameter(tau, trial, self._p.eps_tau)
        room = min(0.1 / max(largest(direction.y), 1e-6), trial)
        return min(10.0 * tau, room) if tau < 0.1 * room and state.k <= MAY_RISE else tau

    def _line_search(
        self, x: Vector, here: Estimate, direction: Direction, H: Any, tau: float
    ) -> tuple[float, Vector, Estimate, int] | None:
        """(alpha, x + alpha d, estimate there, evaluations), or None if no step decreases phi."""
        problem = self._problem
        phi = self._merit(here, tau)
        reduction = merit.model_reduction(tau, direction.slope, direction.feasibility_reduction)
        slack = ROUNDING * (abs(phi) + 1.0)
        if reduction < -slack:
            return None  # theory excludes it; an inaccurate subproblem does not
        far = FARTHEST * (1.0 + largest(x))
        alpha = min(1.0, far / max(largest(direction.d), far))
        looks = 0
        corrected = False
        while alpha > SMALLEST_STEP:
            x_next = problem.project(x + alpha * direction.d)
            if (x_next == x).all():
                return None
            there = self._estimate(x_next)
            looks += 1
            if there.issue is None:
                if self._accepts(there, tau, phi - ARMIJO * alpha * reduction + slack, direction):
                    return alpha, x_next, there, looks
                if not corrected and problem.m and alpha == 1.0:
                    corrected = True
                    found = self._second_order(x, here, there, direction, H, tau)
                    looks += 1
                    if found is not None:
                        x_next, there = found
                        if self._accepts(there, tau, phi - ARMIJO * reduction + slack, direction):
                            return 1.0, x_next, there, looks
            alpha *= 0.5
        return None

    def _second_order(
        self, x: Vector, here: Estimate, there: Estimate, direction: Direction, H: Any, tau: float
    ) -> tuple[Vector, Estimate] | None:
        """The full step corrected for the bend of the constraints."""
        bent = Estimate(here.g, there.c - self._jacobian.times(here.J, direction.d), here.J)
        d = self._subproblem.direction(x, bent, H, tau, 0.0).d
        x_next = self._problem.project(x + d)
        there = self._estimate(x_next)
        return None if there.issue is not None else (x_next, there)

    def _accepts(self, there: Estimate, tau: float, limit: float, direction: Direction) -> bool:
        """phi decreases enough, and not by running away from the constraints.

        phi is bounded below near feasible points only: where f falls to -infinity outside, it
        would pay to give feasibility up.
        """
        violation = float(self._problem.violation(there.c).sum())
        return self._merit(there, tau) <= limit and violation <= RUNAWAY * max(
            1.0, direction.violation
        )

    def _merit(self, estimate: Estimate, tau: float) -> float:
        """phi(x, tau) = tau f(x) + v(c(x))."""
        assert estimate.f is not None
        return tau * estimate.f + float(self._problem.violation(estimate.c).sum())


def largest(values: Vector) -> float:
    """|values|_inf."""
    return float(np.abs(values).max(initial=0.0))
