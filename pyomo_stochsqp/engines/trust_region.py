r"""A trust-region l1-SQP method for programs with few variables (full matrices).

    d, y      minimise the quadratic model in a box around x (newton_model.py)
    merit     phi(x) = f(x) + sum_i w_i v_i(x),     v_i the violation of row i,
              w_i <- max(1.2 |y_i|, (w_i + |y_i|) / 2): every row has a penalty of its own, so that
              one steep row does not make all others stiff
    ratio     (phi(x) - phi(x + d)) / (decrease of the model);   below 1e-4 the step is refused, and
              a second-order correction (the model with c replaced by c(x + d) - J d) is tried once
    radius    x 4 after a good step to its edge, x 1/4 after a refused one

A step that lets a row's violation grow beyond half the size of the row is refused as well, whatever
phi says: on the flat part of a function (a chance constraint far from its level) the model promises
what does not exist. Together with the box, which never exceeds ten times the distances known so
far, this keeps a feasible start from being lost.

The method ends when a step is shorter than asked for, or its predicted decrease smaller; it gives
up when for fifty iterations every point was, in objective and violation, no better than one before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf

import numpy as np
from numpy.typing import NDArray

from ..nlp import NLP
from ..oracle import Vector
from ..qp import WarmStart
from .dense_point import DensePoint, Entries, FullHessian
from .newton_model import NewtonModel, NewtonStep
from .protocol import Accuracy, Ending, Scales
from .quasi_newton import QuasiNewton

Matrix = NDArray[np.float64]

ACCEPTED = 1e-4
GOOD, POOR = 0.7, 0.25
GROW, SHRINK, LARGEST_RADIUS = 4.0, 0.25, 1e10
SMALLEST_RADIUS = 1e-13
MAX_ITERATIONS = 1000
#: penalties are at least this multiple of a multiplier, and contribute this share of the decrease
PENALTY, SHARE = 1.2, 0.1
LARGEST_PENALTY = 1e15
#: growth of a row's violation that is accepted: relative to itself, and to the size of the row
GROWS, OF_SIZE = 1.5, 0.5
#: multipliers of a subproblem that leaves rows violated count up to this share of its penalty
MODERATE = 0.01
#: shares below which the model's reduction of violation counts as none, and a row as left violated
HOPELESS, LEFT_OVER = 1e-7, 1e-6
#: a step that would take away less than this of the violation, however far it went, is slow; so
#: many of them are hopeless, too
SLOW, PATIENCE = 0.01, 10
#: the most that variables could change a row, relative to its violation, below which it is flat
FLAT = 1e-3
#: a decrease of the objective, a share of the violation that count as progress, and the patience
PROGRESS, LESS, IDLE = 1e-11, 0.99, 50
DIVERGED, BOTTOMLESS = 1e15, -1e20
#: relative rounding of phi
ROUNDING = 1e-13
LEAST_DECREASE = 1e-15


@dataclass(frozen=True)
class TrustRegionState:
    """The state after iteration k."""

    k: int
    x: Vector
    y: Vector
    #: multipliers that second derivatives are taken with
    y_hessian: Vector
    penalties: Vector
    radius: float
    largest_x: Vector
    #: (objective, violation) of points that made progress, none better in both than another
    reached: Matrix
    warm: WarmStart | None = None
    #: quasi-Newton matrix, where there are no second derivatives (0 x 0 before the first)
    B: Matrix | None = None
    #: steps in a row that could hardly reduce the violation
    stuck: int = 0
    #: iterations since one made progress
    idle: int = 0
    objective: float = np.nan
    violation: float = np.nan
    step: float = np.nan
    ended: Ending | None = None


class TrustRegion:
    """The engine for one program."""

    name = "trust-region SQP"
    RECORDS: Sequence[type] = (TrustRegionState, WarmStart)

    def __init__(
        self, nlp: NLP, accuracy: Accuracy, scales: Scales, max_iterations: int = MAX_ITERATIONS
    ):
        self._nlp = nlp
        self._problem = nlp.problem
        self._accuracy = accuracy
        self._scales = scales
        self._limit = max_iterations
        self._model = NewtonModel(nlp.problem)
        self._entries = Entries(nlp.problem)
        self._hessian = FullHessian(nlp) if nlp.second_order else None
        self._quasi_newton = QuasiNewton()
        self._last: tuple[Vector, Vector, Matrix] | None = None

    def relax(self, by: Vector) -> None:
        """Solve with the bounds of the rows moved apart."""
        self._model.relax(by)

    def start(self, x: Vector, y: Vector) -> TrustRegionState:
        x = self._problem.project(x)
        return TrustRegionState(
            k=0,
            x=x,
            y=y,
            y_hessian=y,
            penalties=np.zeros(y.size),
            radius=1.0,
            largest_x=np.maximum(self._scales.largest_x, np.abs(x)),
            reached=np.zeros((0, 2)),
            B=None if self._hessian is not None else np.zeros((0, 0)),
        )

    def step(self, state: TrustRegionState) -> TrustRegionState:
        here = self._at(state.x)
        if not here.defined:
            return replace(state, ended=Ending.UNDEFINED)
        if state.k >= self._limit:
            return replace(state, ended=Ending.LIMIT)
        B = self._curvature(state, here)
        least = self._scales.least_objective
        newton = self._model.step(
            here, B, state.y, state.largest_x, least, state.radius, state.warm
        )
        state = replace(
            state,
            k=state.k + 1,
            warm=newton.warm,
            objective=here.f,
            violation=float(self._model.problem.violation(here.c).max(initial=0.0)),
        )
        state = self._progressed(state, here)
        if newton.failed or state.idle >= IDLE:
            return replace(state, ended=Ending.STALLED)
        d, y = newton.d, newton.y
        before = self._model.problem.violation(here.c)
        after = self._model.problem.violation(here.c + here.J @ d)
        slow = newton.left > HOPELESS and self._slow(state, newton, before, after)
        state = replace(state, stuck=state.stuck + 1 if slow else 0)
        ended = self._hopeless(state, here, newton, before, after)
        if ended is not None:
            return replace(state, y=y, ended=ended)
        w, decrease = self._penalties(state, here, newton, before, after)
        state = replace(state, penalties=w, step=float((np.abs(d) / newton.box).max(initial=0.0)))

        # a step that leaves rows violated is no end, however short
        final = not newton.at_radius and newton.left <= HOPELESS
        small = final and self._small_enough(state, here, d, decrease)
        if small and not self._accuracy.last_step:
            return replace(state, y=y, ended=Ending.SOLVED)
        there = self._at(self._problem.project(state.x + d))
        if small:
            better = there.defined and self._merit(there, w) <= self._merit(here, w) + (
                ROUNDING * abs(here.f)
            )
            x = there.x if better else state.x
            return replace(state, x=x, y=y, ended=Ending.SOLVED)

        ratio = self._ratio(here, there, w, before, decrease, newton)
        # rows that bend away refuse good steps, or keep the radius small
        if ratio < (GOOD if newton.at_radius else ACCEPTED) and self._problem.m and there.defined:
            bent = there.c - here.J @ d
            corrected = self._model.step(
                here, B, state.y, state.largest_x, least, state.radius, newton.warm, bent
            )
            if not corrected.failed:
                other = self._at(self._problem.project(state.x + corrected.d))
                second = self._ratio(here, other, w, before, decrease, newton)
                if second >= max(ACCEPTED, ratio):
                    there, ratio, d = other, second, corrected.d
        length = float((np.abs(d) / newton.box).max(initial=0.0))
        if ratio < ACCEPTED:
            radius = SHRINK * min(length, state.radius)
            # the first multipliers are news even where the step is not
            y_now = y if state.k == 1 else state.y
            stuck = radius < SMALLEST_RADIUS
            return replace(
                state, y=y if stuck else y_now, radius=radius,
                ended=Ending.STALLED if stuck else None,
            )  # fmt: skip
        radius = state.radius
        if ratio > GOOD and length >= 0.5 * radius:
            radius = min(GROW * radius, LARGEST_RADIUS)
        elif ratio < POOR:
            radius = max(0.5 * min(length, radius), SMALLEST_RADIUS)
        away = not float(np.abs(there.x).max(initial=0.0)) < DIVERGED or there.f < BOTTOMLESS
        return replace(
            state,
            x=there.x,
            y=y,
            y_hessian=_moderate(y, newton) if newton.left > HOPELESS else y,
            radius=radius,
            largest_x=np.maximum(state.largest_x, np.abs(there.x)),
            B=None if state.B is None else self._quasi_newton.updated(B, here, there, y),
            ended=Ending.UNBOUNDED if away else None,
        )

    def _progressed(self, state: TrustRegionState, here: DensePoint) -> TrustRegionState:
        """Whether no point before was better: a method that goes in circles makes no progress."""
        f, violation = state.reached.T
        size = max(self._scales.least_objective, abs(here.f))
        better = (here.f < f - PROGRESS * size) | (state.violation < LESS * violation)
        if not better.all():
            return replace(state, idle=state.idle + 1)
        stays = (f < here.f) | (violation < state.violation)
        reached = np.vstack((state.reached[stays], (here.f, state.violation)))
        return replace(state, reached=reached, idle=0)

    def _at(self, x: Vector) -> DensePoint:
        return DensePoint(x, self._nlp.evaluate(x), self._entries)

    def _curvature(self, state: TrustRegionState, here: DensePoint) -> Matrix:
        """The Lagrangian's Hessian, or what quasi-Newton updates have made of it."""
        if self._hessian is None:
            assert state.B is not None
            if state.B.size:
                return state.B
            return self._quasi_newton.first(self._problem, here, self._scales, state.largest_x)
        key = (state.x, state.y_hessian)
        if self._last is None or self._last[0] is not key[0] or self._last[1] is not key[1]:
            self._last = (*key, self._hessian.at(*key))
        return self._last[2]

    def _merit(self, point: DensePoint, w: Vector) -> float:
        return float(point.f + w @ self._model.problem.violation(point.c))

    def _penalties(
        self,
        state: TrustRegionState,
        here: DensePoint,
        newton: NewtonStep,
        before: Vector,
        after: Vector,
    ) -> tuple[Vector, float]:
        """Penalties that make the step one of descent, and the predicted decrease of phi.

        A subproblem that leaves rows violated has weighed them by its own penalties: no others
        need to find its step one of descent.
        """
        d = newton.d
        model = float(here.g @ d + 0.5 * d @ newton.H @ d)
        if newton.left > HOPELESS:
            return newton.penalty, float(newton.penalty @ (before - after)) - model
        y = np.where(newton.limited, 0.0, np.abs(newton.y))
        w = np.maximum(PENALTY * y, 0.5 * (state.penalties + y))
        gain = float(w @ (before - after))
        progress = float((before - after).sum())
        possible = progress > 1e-12 * float(before.sum())
        largest = LARGEST_PENALTY * max(1.0, float(y.max(initial=0.0)))
        while gain - model < SHARE * gain or (gain - model <= 0.0 and possible):
            if float(w.max(initial=0.0)) > largest:
                break
            least = 1e-3 * newton.lengths.objective / max(float(before.max(initial=0.0)), 1e-300)
            w = np.maximum(10.0 * w, least)
            gain = float(w @ (before - after))
            if gain <= 0.0:
                break
        return w, gain - model

    def _small_enough(
        self, state: TrustRegionState, here: DensePoint, d: Vector, decrease: float
    ) -> bool:
        size = np.maximum(np.abs(state.x + d), np.abs(state.x))
        enough = self._accuracy.relative * size
        if self._accuracy.absolute is not None:
            enough = np.maximum(enough, self._accuracy.absolute)
        objective = max(self._scales.least_objective, abs(here.f))
        return bool(
            (np.abs(d) <= enough).all()
            or decrease <= max(self._accuracy.decrease, LEAST_DECREASE) * objective
        )

    def _ratio(
        self,
        here: DensePoint,
        there: DensePoint,
        w: Vector,
        before: Vector,
        decrease: float,
        newton: NewtonStep,
    ) -> float:
        """Actual over predicted decrease; -inf where the step must not be taken."""
        if not there.defined:
            return -inf
        violation = self._model.problem.violation(there.c)
        size = np.maximum(np.abs(here.c - self._problem.excess(here.c)), np.abs(here.c))
        size = np.maximum(size, np.abs(here.J) @ np.maximum(np.abs(here.x), newton.box))
        if (violation > np.maximum(GROWS * before, OF_SIZE * size) + 1e-12).any():
            return -inf
        slack = ROUNDING * float(abs(here.f) + w @ np.abs(here.c))
        actual = float(here.f + w @ before - there.f - w @ violation)
        return (actual + slack) / max(decrease, 1e-3 * slack, 1e-300)

    @staticmethod
    def _slow(state: TrustRegionState, newton: NewtonStep, before: Vector, after: Vector) -> bool:
        """Whether the violation would hardly fall even without the radius: it is convex in the
        model, in the units of its rows, so that a longer step gains no more per length."""
        reach = min(state.radius, 1.0) if newton.at_radius else 1.0
        gain = float(newton.penalty @ (before - after))
        return gain < SLOW * reach * float(newton.penalty @ before)

    def _hopeless(
        self,
        state: TrustRegionState,
        here: DensePoint,
        newton: NewtonStep,
        before: Vector,
        after: Vector,
    ) -> Ending | None:
        """Rows that no step brings nearer to their bounds."""
        if not before.any() or newton.left <= HOPELESS:
            return None
        if newton.at_radius and state.stuck < PATIENCE:
            return None
        stays = after > LEFT_OVER * (np.abs(self._problem.excess(here.c)) + np.abs(here.c))
        still = not newton.d.any() or float(np.abs(before - after).sum()) <= HOPELESS * before.sum()
        if not (stays.any() and (still or state.stuck >= PATIENCE)):
            return None
        worst = np.flatnonzero(after > 0.5 * after.max())
        return Ending.FLAT if self._flat(state, here, newton, after, worst) else Ending.INFEASIBLE

    def _flat(
        self,
        state: TrustRegionState,
        here: DensePoint,
        newton: NewtonStep,
        after: Vector,
        worst: NDArray[np.intp],
    ) -> bool:
        """Whether a violated row could not change if all variables went as far as they know."""
        t = np.maximum(np.maximum(np.abs(state.x), newton.box), state.largest_x)
        reach = np.abs(here.J) @ t
        if self._hessian is not None:
            objective = self._hessian.at(state.x, np.zeros(state.y.size))
            for i in worst:
                one = np.zeros(state.y.size)
                one[i] = 1.0
                curved = np.abs(self._hessian.at(state.x, one) - objective)
                reach[i] += 0.5 * float(t @ curved @ t)
        return bool((reach[worst] < FLAT * after[worst]).any())


def _moderate(y: Vector, newton: NewtonStep) -> Vector:
    """Multipliers as they might be at a solution: those of violated rows say little about it."""
    return np.clip(y, -MODERATE * newton.penalty, MODERATE * newton.penalty)
