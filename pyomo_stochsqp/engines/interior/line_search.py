r"""The length of a step: how far bounds allow it, and how far the filter accepts it.

    alpha   tau of the way to the first bound, halved until the filter accepts the point

Where the full step makes the rows worse, they bend away from their linearisation: up to four
second-order corrections solve the same system again for what the step has left of them (Waechter
and Biegler, section 2.4).
"""

from __future__ import annotations

import numpy as np

from ...nlp import NLP
from ...oracle import Estimate, Vector
from . import filter as filtering
from .barrier import Barrier
from .filter import Here
from .newton_system import NewtonSystem
from .state import InteriorState

#: a step is no longer than this multiple of the largest variable (taken as at least 1)
LONGEST = 100.0
#: corrections of a full step, and the progress that each must make
CORRECTIONS, PROGRESS = 4, 0.99
#: a step as small as this, relative to the variables, is rounding: it is taken as it is
NO_STEP = 10.0 * float(np.finfo(float).eps)

#: (point, step, whether the filter grows)
Found = tuple[Vector, float, bool]


class LineSearch:
    """From one point of the barrier problem."""

    def __init__(
        self,
        nlp: NLP,
        barrier: Barrier,
        system: NewtonSystem,
        state: InteriorState,
        here: Here,
        tau: float,
    ):
        self._nlp = nlp
        self._barrier = barrier
        self._system = system
        self._state = state
        self._here = here
        self._tau = tau

    def search(self, dv: Vector, h: Vector, r: Vector) -> Found | None:
        """Along dv; h and r are the residuals that it was computed for. None: no step is good."""
        state, here = self._state, self._here
        alpha = self.longest(dv)
        if float((np.abs(dv) / (1.0 + np.abs(state.v))).max(initial=0.0)) < NO_STEP:
            v = state.v + alpha * dv
            there = self._nlp.evaluate(v[: self._barrier.n])
            return None if there.issue is not None else (v, alpha, False)
        least = here.smallest_step()
        first = True
        while alpha > least:
            v = state.v + alpha * dv
            there, theta, phi = self._look(v)
            ok, joins = filtering.accepts(here, state.filter, theta, phi, alpha)
            if ok:
                return v, alpha, joins
            if first and there.issue is None and theta >= here.theta and h.size:
                corrected = self._corrected(there, v, h, r, alpha, theta)
                if corrected is not None:
                    return corrected
            first = False
            alpha *= 0.5
        return None

    def _corrected(
        self, there: Estimate, v: Vector, h: Vector, r: Vector, alpha: float, theta: float
    ) -> Found | None:
        """Second-order corrections: the rows bend away from their linearisation."""
        total = alpha * h + self._barrier.residual(there, v)
        for _ in range(CORRECTIONS):
            step = self._system.solve(r, total)
            if step is None:
                return None
            length = self.longest(step[0])
            v = self._state.v + length * step[0]
            there, now, phi = self._look(v)
            ok, joins = filtering.accepts(self._here, self._state.filter, now, phi, alpha)
            if ok:
                return v, alpha, joins
            if there.issue is not None or now > PROGRESS * theta:
                return None
            theta = now
            total = length * total + self._barrier.residual(there, v)
        return None

    def _look(self, v: Vector) -> tuple[Estimate, float, float]:
        """(values, theta, phi) at v; infinite where v is outside a domain."""
        b, state = self._barrier, self._state
        there = self._nlp.evaluate(v[: b.n])
        if there.issue is not None or there.f is None or not np.isfinite(there.f):
            return there, np.inf, np.inf
        theta = float(np.abs(b.residual(there, v)).sum())
        return there, theta, b.value(there, v, state.mu, state.lower, state.upper)

    def longest(self, dv: Vector) -> float:
        """The longest step that stays inside, and near enough to what is known."""
        b, state, tau = self._barrier, self._state, self._tau
        length = largest(dv[: b.n])
        known = LONGEST * max(1.0, largest(state.v[: b.n]))
        below = state.v[b.below] - state.lower[b.below]
        above = state.upper[b.above] - state.v[b.above]
        inside = min(longest_step(below, dv[b.below], tau), longest_step(above, -dv[b.above], tau))
        return inside if length <= known else min(inside, known / length)


def longest_step(room: Vector, change: Vector, tau: float) -> float:
    """The longest step <= 1 that uses at most the share tau of the room."""
    towards = change < 0.0
    if not towards.any():
        return 1.0
    return min(1.0, tau * float((room[towards] / -change[towards]).min()))


def largest(values: Vector) -> float:
    """The largest |value|."""
    return float(np.abs(values).max(initial=0.0))
