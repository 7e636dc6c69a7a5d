r"""A method that only makes iterations (Algorithm 1, a baseline), looked at from time to time.

Whenever the samples used have doubled, the last iterate and the tail average are certified on
scenarios that no iteration sees, a tenth as many as were used since the last look.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..certify import Certificate, Certifier, Look, Sizes, Tolerances
from ..certify.replicates import look_confidence, replicates_for
from ..method import Method, Stop
from ..oracle import (
    VALIDATION_STREAM,
    EvaluationIssue,
    Oracle,
    Sample,
    Vector,
    draw_replicates,
    whole_sample,
)
from ..scaling import Scaling, unscaled
from ..sqp.average import TailAverage

#: looks cost this share of the samples between them; the least and the most they use
SHARE, LEAST, MOST = 0.1, 1 << 10, 1 << 22
#: samples (or iterations, without sampling) before the first look
FIRST = 3200
#: bounds that differ by less than this factor are taken for equal: then the average is better
BENEFIT_OF_DOUBT = 1.5
DIVERGED = 1e12


@dataclass(frozen=True)
class LookedState:
    """The state of the method, and what was seen of its points."""

    inner: Any
    tail: TailAverage
    sizes: Sizes
    looks: int = 0
    next_look: int = FIRST
    looked_at: int = 0
    certificate: Certificate | None = None
    best: Certificate | None = None
    ended: Stop | None = None
    message: str = ""
    note: str = ""
    #: kinks stay rounded off as they are
    narrowed: int = 0
    #: every iteration draws
    solving: bool = False

    @property
    def average(self) -> Vector:
        """The mean of the last iterates."""
        return self.tail.mean

    def with_multipliers(self, y: Vector) -> LookedState:
        """The same with other multiplier estimates."""
        return replace(self, inner=replace(self.inner, y=y))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "inner":
            raise AttributeError(name)
        return getattr(self.inner, name)


class Looked:
    """A method with looks."""

    def __init__(
        self,
        method: Method,
        oracle: Oracle,
        certifier: Certifier,
        tolerances: Tolerances,
        scaling: Scaling | None = None,
    ):
        """``scaling`` says in which units the method's multipliers are; None: in the user's."""
        self._method = method
        self._scaling = unscaled(oracle.problem) if scaling is None else scaling
        self._judge = Judge(oracle, certifier)
        self._tolerances = tolerances
        self._problem = oracle.problem

    def start(self, x: Vector) -> LookedState:
        inner = self._method.start(x)
        sizes = Sizes.none(self._problem).with_point(inner.x)
        return LookedState(inner, TailAverage.beginning(inner.x), sizes)

    def step(self, state: LookedState) -> LookedState:
        inner = self._method.step(state.inner)
        if inner.issue is not None:
            return replace(
                state, inner=inner, ended=Stop.EVALUATION_ERROR, message=str(inner.issue)
            )
        if not float(np.abs(inner.x).max(initial=0.0)) < DIVERGED:
            return replace(state, inner=inner, ended=Stop.UNBOUNDED)
        state = replace(
            state,
            inner=inner,
            tail=state.tail.with_iterate(inner.samples, inner.x),
            sizes=state.sizes.with_point(inner.x),
            ended=inner.ended,
        )
        done = inner.samples or inner.k
        if done >= state.next_look or inner.ended is not None:
            return self._looked(state, done)
        return state

    def _looked(self, state: LookedState, done: int) -> LookedState:
        looks = state.looks + 1
        look = Look(looks, state.sizes, look_confidence(looks), narrowing=state.narrowed)
        scenarios = min(max(int(SHARE * (done - state.looked_at)), LEAST), MOST)
        samples = self._judge.samples(looks, scenarios)
        y = self._scaling.user_multipliers(state.inner.y)
        new: Certificate | None = None
        for x in (state.inner.x, state.average):
            made = self._judge.certificate(x, y, samples, look)
            if made is None:
                continue
            doubt = BENEFIT_OF_DOUBT if new is not None and not made.exact else 1.0
            excess = self._tolerances.excess
            if new is None or excess(made) <= doubt * excess(new):
                new = made
        state = replace(state, looks=looks, next_look=2 * done, looked_at=done)
        if new is None:
            return state
        best = new if self._tolerances.better(new, state.best) else state.best
        sizes = state.sizes.with_point(new.x, new.objective)
        ended = Stop.CONVERGED if self._tolerances.met(new) else state.ended
        return replace(state, certificate=new, best=best, sizes=sizes, ended=ended)


class Judge:
    """Certificates on samples of the validation stream."""

    def __init__(self, oracle: Oracle, certifier: Certifier):
        self._oracle = oracle
        self._certifier = certifier

    def samples(self, number: int, scenarios: int) -> Sequence[Sample]:
        """All scenarios if there are no more, otherwise independent replicates."""
        whole = whole_sample(self._oracle)
        if whole is not None and whole.scenarios <= scenarios:
            return [whole]
        sources = len(self._oracle.sources)
        count = replicates_for(self._oracle)
        size = max(2, scenarios // (count * sources))
        return draw_replicates(
            self._oracle, VALIDATION_STREAM, number, [size] * sources, count
        ).parts

    def certificate(
        self,
        x: Vector,
        y: Vector,
        samples: Sequence[Sample],
        look: Look,
    ) -> Certificate | None:
        """None where x is not finite or outside of a function's domain."""
        if not np.isfinite(x).all():
            return None
        curvature = samples[: max(1, len(samples) // 4)]
        made = self._certifier.certify(x, y, samples, curvature, look)
        return None if isinstance(made, EvaluationIssue) else made[0]
