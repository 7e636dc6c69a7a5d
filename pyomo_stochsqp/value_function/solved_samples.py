r"""Second stages of samples, solved and kept.

Solutions answer what is asked next at the same t = (x, prices), and begin those at the next one;
those of a new sample begin at the solutions of near scenarios. A sample is solved in pieces whose
matrices stay in memory, small samples are solved as one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ..declare.program import Batch
from ..declare.recourse import leaves_of
from ..oracle import EvaluationIssue, Sample, Vector
from ..sample.scenarios import SectionOf
from .cuts import troubled
from .interior_point import LAST, Reaction, SecondStages
from .neighbours import Neighbours
from .program import SmoothTwoStage
from .sensitivity import Responses, Sensitivity
from .stage_functions import Numbers

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

#: numbers in the matrices of scenarios that are solved at once; those that are kept of a sample
AT_ONCE, KEPT = 1_000_000, 50_000_000


@dataclass(eq=False)
class Known:
    """What is known of a sample's second stages."""

    numbers: Numbers
    weights: Array
    t: Vector | None = None
    mu: float = 0.0
    found: Reaction | None = None
    responses: Responses | None = None

    def is_at(self, t: Vector, mu: float) -> bool:
        """Whether that is what holds at t, with this barrier."""
        return self.t is not None and self.mu == mu and np.array_equal(self.t, t)


class SolvedSamples:
    """The samples that a value function has been asked about."""

    def __init__(self, program: SmoothTwoStage, stages: SecondStages, sensitivity: Sensitivity):
        self._p, self._stages, self._sensitivity = program, stages, sensitivity
        self._known: WeakKeyDictionary[Any, Known] = WeakKeyDictionary()
        self._neighbours: Neighbours | None = None

    def at(self, t: Vector, mu: float, sample: Sample) -> tuple[Known, Any]:
        """The second stages of a sample, solved; and which of them it consists of."""
        payload, which = sample.payload, slice(None)
        if isinstance(payload, SectionOf):
            whole = payload.of
            if whole.sizes[0] * self._per_scenario(t.size) <= KEPT:
                start = payload.name[2][0]
                which = slice(start, start + payload.sizes[0])
                sample = replace(sample, payload=whole)
        known = self._known_of(sample)
        if not known.is_at(t, mu):
            self._solve(known, t, mu)
        return known, which

    def together(self, t: Vector, mu: float, samples: Sequence[Sample]) -> None:
        """Solve small samples as one."""
        waiting = [k for k in map(self._known_of, samples) if not k.is_at(t, mu)]
        if not waiting:
            return
        whole = Known(_joined([k.numbers for k in waiting]), np.empty(0))
        self._solve(whole, t, mu)
        assert whole.found is not None and whole.responses is not None
        start = 0
        for k in waiting:
            some = np.arange(start, start + k.numbers.count)
            start += some.size
            k.found, k.t, k.mu = whole.found.some(some), t.copy(), mu
            k.responses = whole.responses.some(some)

    def troubled(self, t: Vector, sample: Sample) -> tuple[Numbers, Indices, Array]:
        """(all scenarios of a sample, those without a feasible second stage, how often each row is
        to blame); nothing is rounded off, and nothing is kept."""
        x, prices = self._parts(t)
        known = self._known_of(sample)
        bad, blame = [], np.zeros(self._p.stage.rows)
        for some in self.pieces(np.arange(known.numbers.count)):
            numbers = known.numbers.some(some)
            found = self._stages.solve(x, prices, numbers, LAST, None, self._near(numbers))
            bad.append(some[troubled(found)])
            blame += (found.violated > 0.0).sum(axis=0)
        return known.numbers, np.concatenate(bad), blame

    def issue(self, known: Known, which: Any) -> EvaluationIssue | None:
        """What is wrong with the solutions of these scenarios."""
        assert known.found is not None
        bad = ~known.found.solved[which]
        if not bad.any():
            return None
        s = int(np.flatnonzero(bad)[0])
        said = "the second stage could not be solved; it may be unbounded"
        if known.found.runaway[which][s]:
            said = "the second stage is unbounded or undefined"
        return EvaluationIssue(self._p.origin.blocks[0].name, said, s)

    def pieces(self, which: Indices) -> list[Indices]:
        """Scenarios, as many at once as there is room for."""
        f = self._p.stage
        size = (f.ny + f.rows) ** 2 + f.functions.count * (f.nx + f.ny) + (f.nx + f.ny) ** 2
        each = max(AT_ONCE // size, 16)
        return [which[i : i + each] for i in range(0, which.size, each)]

    def _solve(self, known: Known, t: Vector, mu: float) -> None:
        x, prices = self._parts(t)
        found, responses = [], []
        for some in self.pieces(np.arange(known.numbers.count)):
            numbers = known.numbers.some(some)
            warm = None if known.found is None else known.found.some(some)
            near = self._near(numbers) if warm is None else None
            found.append(self._stages.solve(x, prices, numbers, mu, warm, near))
            responses.append(self._sensitivity.responses(t, numbers, found[-1]))
        known.found, known.responses = Reaction.joined(found), Responses.joined(responses)
        known.t, known.mu = t.copy(), mu
        if Neighbours.worth_it(known.numbers):
            self._neighbours = Neighbours(known.numbers, known.found)

    def _parts(self, t: Vector) -> tuple[Vector, Vector]:
        """x, and a price for every row under E."""
        nx = self._p.stage.nx
        return t[:nx], self._sensitivity.all_prices(t[nx:])

    def _near(self, numbers: Numbers) -> Reaction | None:
        return None if self._neighbours is None else self._neighbours.near(numbers)

    def _known_of(self, sample: Sample) -> Known:
        payload = sample.payload
        known = self._known.get(payload)
        if known is None:
            (batch,) = payload.batches
            known = Known(numbers_of(self._p, batch), weights_of(batch))
            self._known[payload] = known
        return known

    def _per_scenario(self, size: int) -> int:
        f = self._p.stage
        return 4 * f.ny + 6 * f.rows + (1 + f.priced) * size


def numbers_of(program: SmoothTwoStage, batch: Batch) -> Numbers:
    """The scenarios of a batch."""
    return program.stage.numbers(leaves_of(program.origin, batch), batch.size)


def weights_of(batch: Batch) -> Array:
    """Their probabilities."""
    return np.full(batch.size, 1.0 / batch.size) if batch.weights is None else batch.weights


def _joined(parts: Sequence[Numbers]) -> Numbers:
    w = [np.concatenate(columns) for columns in zip(*(p.w for p in parts), strict=True)]
    rest = ("lower", "upper", "y_lower", "y_upper")
    return Numbers(w, *(np.concatenate([getattr(p, name) for p in parts]) for name in rest))
