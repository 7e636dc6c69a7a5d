r"""A primal-dual interior point with a filter line search (Waechter and Biegler 2006).

    mu        the barrier parameter: fixed until the barrier problem is solved to 10 mu, then
              mu <- max(tol/11, min(0.2 mu, mu^1.5)), and the filter starts anew
    direction newton_system.py, with the inertia that makes it one of descent
    alpha     the longest step that stays inside, tau = max(0.99, 1 - mu) of the way to the bounds,
              halved until the filter accepts; the first failure gets up to four second-order
              corrections
    no alpha  restoration.py looks for a more feasible point
    damping   after a few steps in a row that the filter has made very short, the model is not to be
              trusted at the length of its step: its Hessian gets a shift, more and more until steps
              are accepted whole again

The program comes in scaled units (scaled_program.py). The error of an iterate is IPOPT's: the
largest of the scaled dual residual, |h|_inf and complementarity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...deadline import check_time
from ...nlp import NLP
from ...oracle import Estimate, Vector
from ..protocol import Ending
from . import filter as filtering
from .barrier import Barrier
from .filter import Here
from .line_search import LineSearch, largest, longest_step
from .newton_system import NewtonSystem
from .restoration import Restoration
from .state import InteriorState

#: first barrier parameter; how the next one follows from it
MU, MU_FACTOR, MU_POWER, MU_ERROR = 0.1, 0.2, 1.5, 10.0
TO_THE_BOUND = 0.99
MAX_ITERATIONS = 3000
RESTORATION_ITERATIONS = 300
#: an error this many times the tolerance, for so many iterations, is accepted
ACCEPTABLE, PATIENCE = 1e2, 15
#: theta may not exceed, and counts as small below, these multiples of its first value
THETA_MAX, THETA_MIN = 1e4, 1e-4
#: the dual residual is scaled where multipliers are larger than this on average
LARGE_MULTIPLIERS = 100.0
#: least-squares multipliers beyond this size are not used
LARGEST_FIRST = 1e3
#: bound multipliers stay within this factor of mu / slack
CENTRAL = 1e10
#: restoration ends at this share of the violation
RESTORED = 0.9
BOTTOMLESS, DIVERGED = -1e20, 1e15
#: violation left by a restoration that makes a program infeasible
INFEASIBLE = 1e-6
#: a step is short below the first share of what bounds allow, and good from the second on; so many
#: short ones in a row raise the least shift to the first value, then by the factor
SHORT, GOOD, TOO_MANY, DAMPED, MORE = 1e-2, 0.5, 5, 1e-4, 10.0
EPSILON = float(np.finfo(float).eps)


class InteriorPoint:
    """The method for one program: ``state = method.step(state)``."""

    RECORDS: Sequence[type] = (InteriorState,)

    def __init__(
        self, nlp: NLP, tolerance: float, max_iterations: int = MAX_ITERATIONS, nested: bool = False
    ):
        self.nlp = nlp
        self._tolerance = tolerance
        self._limit = max_iterations
        self._nested = nested
        self._barrier = Barrier(nlp.problem, *([0.0] if nested else []))
        self._system = NewtonSystem(nlp, self._barrier)
        self._restoration: tuple[Vector, Restoration, InteriorPoint] | None = None

    def start(self, x: Vector, y: Vector | None = None, mu: float = MU) -> InteriorState:
        """Inside the bounds, near x; multipliers by least squares unless given."""
        b = self._barrier
        x = self.nlp.problem.project(x)
        v = b.inside(np.concatenate((x, np.zeros(b.inequality.size))))
        estimate = self.nlp.evaluate(v[: b.n])
        lower, upper = b.lower.copy(), b.upper.copy()
        m = self.nlp.problem.m
        blank = InteriorState(
            0, v, np.zeros(m), np.zeros(b.size), np.zeros(b.size), lower, upper, mu,
            np.zeros((0, 2)), 0.0, 0.0,
        )  # fmt: skip
        if estimate.issue is not None:
            return replace(blank, ended=Ending.UNDEFINED)
        v = b.inside(b.with_slacks(v[: b.n], estimate))
        z_lower, z_upper = b.has_lower.astype(float), b.has_upper.astype(float)
        multipliers = y if y is not None else np.zeros(m)
        if m and y is None:
            gradient = b.objective_gradient(estimate) - z_lower + z_upper
            found = self._system.least_squares_multipliers(gradient, estimate.J)
            if found is not None and float(np.abs(found).max(initial=0.0)) <= LARGEST_FIRST:
                multipliers = found
        theta = float(np.abs(b.residual(estimate, v)).sum())
        return replace(
            blank,
            v=v,
            y=multipliers,
            z_lower=z_lower,
            z_upper=z_upper,
            theta_min=THETA_MIN * max(1.0, theta),
            theta_max=THETA_MAX * max(1.0, theta),
        )

    def x_of(self, state: InteriorState) -> Vector:
        """The program's variables."""
        x = state.v[: self._barrier.n]
        return x if self._nested else self.nlp.problem.project(x)

    def step(self, state: InteriorState) -> InteriorState:
        check_time()
        if state.inner is not None:
            return self._restoring(state)
        b = self._barrier
        estimate = self.nlp.evaluate(state.v[: b.n])
        if estimate.issue is not None:
            return replace(state, ended=Ending.UNDEFINED)
        error = self._error(state, estimate, 0.0)
        acceptable = state.acceptable + 1 if error <= ACCEPTABLE * self._tolerance else 0
        h = b.residual(estimate, state.v)
        state = replace(
            state,
            k=state.k + 1,
            error=error,
            acceptable=acceptable,
            objective=estimate.f if estimate.f is not None else np.nan,
            residual=h,
        )
        if error <= self._tolerance or acceptable >= PATIENCE:
            return replace(state, ended=Ending.SOLVED)
        if estimate.f is not None and estimate.f < BOTTOMLESS:
            return replace(state, ended=Ending.UNBOUNDED)
        if not float(np.abs(state.v).max(initial=0.0)) < DIVERGED:
            return replace(state, ended=Ending.UNBOUNDED)
        if state.k > self._limit:
            return replace(state, ended=Ending.LIMIT)
        return self._iterated(self._with_barrier_parameter(state, estimate), estimate, h)

    # -- one iteration ----------------------------------------------------------------------------

    def _with_barrier_parameter(self, state: InteriorState, estimate: Estimate) -> InteriorState:
        mu, least = state.mu, self._tolerance / 11.0
        changed = False
        while mu > least and self._error(state, estimate, mu) <= MU_ERROR * mu:
            mu = max(least, min(MU_FACTOR * mu, mu**MU_POWER))
            changed = True
        return replace(state, mu=mu, filter=np.zeros((0, 2))) if changed else state

    def _iterated(self, state: InteriorState, estimate: Estimate, h: Vector) -> InteriorState:
        b, mu = self._barrier, state.mu
        low, high = state.lower, state.upper
        below = state.v[b.below] - low[b.below]
        above = high[b.above] - state.v[b.above]
        sigma = np.zeros(b.size)
        sigma[b.below] += state.z_lower[b.below] / below
        sigma[b.above] += state.z_upper[b.above] / above
        W = self.nlp.hessian(state.v[: b.n], state.y)
        if not np.isfinite(W).all():
            return replace(state, ended=Ending.STALLED)
        self._system.set_point(W, estimate.J)
        slope_vector = b.gradient(estimate, state.v, mu, low, high)
        r = slope_vector + b.pull(estimate, state.y)
        newton = self._system.direction(r, h, sigma, mu, state.shift, state.damping)
        if newton is None:
            return replace(state, ended=Ending.STALLED)
        dv, dy = newton.dv, newton.dy
        if newton.shift > 0.0:
            state = replace(state, shift=newton.shift)
        tau = max(TO_THE_BOUND, 1.0 - mu)
        dz_lower, dz_upper = np.zeros(b.size), np.zeros(b.size)
        dz_lower[b.below] = (
            mu / below - state.z_lower[b.below] - state.z_lower[b.below] / below * dv[b.below]
        )
        dz_upper[b.above] = (
            mu / above - state.z_upper[b.above] + state.z_upper[b.above] / above * dv[b.above]
        )
        alpha_z = min(
            longest_step(state.z_lower[b.below], dz_lower[b.below], tau),
            longest_step(state.z_upper[b.above], dz_upper[b.above], tau),
        )
        here = Here(
            theta=float(np.abs(h).sum()),
            phi=b.value(estimate, state.v, mu, low, high),
            slope=float(slope_vector @ dv),
            theta_min=state.theta_min,
            theta_max=state.theta_max,
        )
        search = LineSearch(self.nlp, b, self._system, state, here, tau)
        found = search.search(dv, h, r)
        if found is None:
            return self._start_restoration(state, here, estimate)
        v, alpha, joins = found
        if joins:
            state = replace(state, filter=np.vstack((state.filter, here.entry())))
        state = replace(
            self._damped(state, alpha / search.longest(dv)),
            v=v,
            y=state.y + alpha * dy,
            z_lower=state.z_lower + alpha_z * dz_lower,
            z_upper=state.z_upper + alpha_z * dz_upper,
            step=float((alpha * np.abs(dv) / (1.0 + np.abs(v))).max(initial=0.0)),
        )
        return self._centred(state)

    def _damped(self, state: InteriorState, share: float) -> InteriorState:
        """How much the next model is damped; ``share`` is what the filter left of the step."""
        if share >= GOOD:
            damping = state.damping / MORE
            return replace(state, short=0, damping=damping if damping >= DAMPED / MORE else 0.0)
        short = state.short + 1 if share < SHORT else 0
        if short < TOO_MANY:
            return replace(state, short=short)
        return replace(state, short=0, damping=max(DAMPED, MORE * state.damping))

    def _centred(self, state: InteriorState) -> InteriorState:
        """Bounds that rounding has met give way; their multipliers stay near mu / slack."""
        b, mu = self._barrier, state.mu
        low, high = state.lower.copy(), state.upper.copy()
        room = EPSILON**0.75
        met = b.below[state.v[b.below] - low[b.below] < EPSILON * mu]
        low[met] -= room * np.maximum(1.0, np.abs(low[met]))
        met = b.above[high[b.above] - state.v[b.above] < EPSILON * mu]
        high[met] += room * np.maximum(1.0, np.abs(high[met]))
        z_lower, z_upper = state.z_lower.copy(), state.z_upper.copy()
        centre = mu / (state.v[b.below] - low[b.below])
        z_lower[b.below] = z_lower[b.below].clip(centre / CENTRAL, centre * CENTRAL)
        centre = mu / (high[b.above] - state.v[b.above])
        z_upper[b.above] = z_upper[b.above].clip(centre / CENTRAL, centre * CENTRAL)
        return replace(state, lower=low, upper=high, z_lower=z_lower, z_upper=z_upper)

    def _error(self, state: InteriorState, estimate: Estimate, mu: float) -> float:
        b = self._barrier
        multipliers = float(state.z_lower.sum() + state.z_upper.sum())
        count = b.below.size + b.above.size
        all_of_them = float(np.abs(state.y).sum()) + multipliers
        dual_scale = (
            max(LARGE_MULTIPLIERS, all_of_them / max(state.y.size + count, 1)) / LARGE_MULTIPLIERS
        )
        bound_scale = max(LARGE_MULTIPLIERS, multipliers / max(count, 1)) / LARGE_MULTIPLIERS
        r = b.objective_gradient(estimate) + b.pull(estimate, state.y)
        r = (r - state.z_lower + state.z_upper)[~b.held]
        below = (state.v[b.below] - state.lower[b.below]) * state.z_lower[b.below] - mu
        above = (state.upper[b.above] - state.v[b.above]) * state.z_upper[b.above] - mu
        return max(
            largest(r) / dual_scale,
            largest(b.residual(estimate, state.v)),
            max(largest(below), largest(above)) / bound_scale,
        )

    # -- restoration ------------------------------------------------------------------------------

    def _start_restoration(
        self, state: InteriorState, here: Here, estimate: Estimate
    ) -> InteriorState:
        if self._nested or not state.y.size or here.theta <= 1e-12:
            return replace(state, ended=Ending.STALLED)
        x = state.v[: self._barrier.n]
        mu = max(state.mu, largest(self._barrier.residual(estimate, state.v)))
        state = replace(
            state,
            filter=np.vstack((state.filter, here.entry())),
            restored_from=x,
            restored_mu=mu,
        )
        engine = self._restoration_engine(state)
        inner = engine.start(engine.nlp.problem.x0, mu=mu)
        return replace(state, inner=inner)

    def _restoration_engine(self, state: InteriorState) -> InteriorPoint:
        assert state.restored_from is not None
        if self._restoration is None or self._restoration[0] is not state.restored_from:
            program = Restoration(self.nlp, state.restored_from, state.restored_mu)
            engine = InteriorPoint(program, self._tolerance, RESTORATION_ITERATIONS, nested=True)
            self._restoration = (state.restored_from, program, engine)
        return self._restoration[2]

    def _restoring(self, state: InteriorState) -> InteriorState:
        """One iteration of the restoration, and back if it has found enough."""
        b = self._barrier
        inner = self._restoration_engine(state).step(state.inner)
        x = inner.v[: b.n]
        state = replace(state, k=state.k + 1, inner=inner, step=inner.step)
        estimate = self.nlp.evaluate(x)
        if estimate.issue is None:
            v = b.nearly_inside(b.with_slacks(x, estimate), state.v, state.lower, state.upper)
            h = b.residual(estimate, v)
            theta = float(np.abs(h).sum())
            phi = b.value(estimate, v, state.mu, state.lower, state.upper)
            state = replace(
                state,
                residual=h,
                objective=estimate.f if estimate.f is not None else np.nan,
            )
            before = float(state.filter[-1, 0])
            if theta <= RESTORED * before and not filtering.refused(state.filter, theta, phi):
                return self._back(state, v)
        if inner.ended is None:
            return state
        left = np.inf
        if estimate.issue is None:
            left = float(self.nlp.problem.violation(estimate.c).sum())
        v = np.concatenate((x, state.v[b.n :]))
        if inner.ended is Ending.SOLVED and left > INFEASIBLE:
            return replace(state, v=v, inner=None, ended=Ending.INFEASIBLE)
        return replace(state, v=v, inner=None, ended=Ending.STALLED)

    def _back(self, state: InteriorState, v: Vector) -> InteriorState:
        b = self._barrier
        z_lower, z_upper = np.minimum(state.z_lower, 1e3), np.minimum(state.z_upper, 1e3)
        if max(largest(z_lower), largest(z_upper)) >= 1e3:
            z_lower, z_upper = b.has_lower.astype(float), b.has_upper.astype(float)
        return replace(
            state, v=v, y=np.zeros(state.y.size), z_lower=z_lower, z_upper=z_upper,
            inner=None, restored_from=None,
        )  # fmt: skip
