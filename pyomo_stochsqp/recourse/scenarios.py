r"""Scenarios of a two-stage program as arrays: everything random in its matrices, drawn.

What is drawn depends on seed, stream, block and number of scenarios alone, so any process can draw
any replicate. Latin hypercubes are the default: the value of recourse is often nearly a sum of
functions of single random numbers, whose means they get right.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..declare.program import Batch, Part, Source
from ..declare.recourse import AffineTwoStage, leaves_of
from ..errors import DataError
from ..sample.draws import Name, SourceDraws
from ..sample.reading import Reading
from ..sample.rows import joined, whole_batch

Array = NDArray[np.float64]

#: how scenarios are spread unless somebody says otherwise
DEFAULT = "latin_hypercube"


@dataclass(frozen=True, eq=False)
class Scenarios:
    """n scenarios of an affine two-stage program; arrays have one row per scenario."""

    program: AffineTwoStage
    #: probabilities
    weights: Array
    #: random coefficients of x in the objective; costs of y; the rest
    c: Array
    q: Array
    constant: Array
    #: random entries of T and W
    T: Array
    W: Array
    lower: Array
    upper: Array
    y_lower: Array
    y_upper: Array

    @property
    def count(self) -> int:
        return int(self.weights.size)

    def first_cost(self) -> tuple[Array, float]:
        """The mean of c(w), and of the constant."""
        mean = self.program.c.base.copy()
        mean[self.program.c.positions] += self.weights @ self.c
        return mean, float(self.weights @ self.constant)

    def shifts(self, x: Array) -> Array:
        """T(w) x, one row per scenario."""
        T = self.program.T
        terms = T.entries.base * x[T.columns]
        fixed = np.bincount(T.rows, terms, T.shape[0])  # for few entries faster than scipy
        if not T.entries.random:
            return np.broadcast_to(fixed, (self.count, fixed.size))
        return fixed + (self.T * x[T.columns[T.entries.positions]]) @ T.random_to_rows

    def some(self, which: Any) -> Scenarios:
        """A part of them, equally probable."""
        arrays = (self.c, self.q, self.constant, self.T, self.W, self.lower, self.upper,
                  self.y_lower, self.y_upper)  # fmt: skip
        parts = [a[which] for a in arrays]
        return Scenarios(self.program, np.full(len(parts[0]), 1.0 / len(parts[0])), *parts)


def together(samples: Sequence[Scenarios]) -> Scenarios:
    """Samples of equal size as one."""
    names = ("c", "q", "constant", "T", "W", "lower", "upper", "y_lower", "y_upper")
    arrays = [np.concatenate([getattr(s, name) for s in samples]) for name in names]
    weights = np.concatenate([s.weights for s in samples]) / len(samples)
    return Scenarios(samples[0].program, weights, *arrays)


class BatchDrawing:
    """Draws rows of a source."""

    def __init__(self, source: Source, seed: int, method: str = "auto"):
        spread = all(p.size is not None or p.from_uniform is not None for p in source.parts)
        if method == "auto":
            method = DEFAULT if spread else "monte_carlo"
        elif method != "monte_carlo" and not spread:
            method = "monte_carlo"
        self._source = source
        self._draws = SourceDraws(seed, 0, source, method)
        self._tables = _Tables(source)

    def batch(self, stream: int, block: int, count: int) -> Batch:
        """So many rows."""
        name = Name(stream, block, count, count)
        return self._tables.read(
            joined(self._draws.drawn(self._draws.chunks(name, 0, count)), count)
        )

    def everything(self) -> Batch:
        """All rows of finite data."""
        return self._tables.read(whole_batch(self._source))


class Drawing(BatchDrawing):
    """Draws the scenarios of a program."""

    def __init__(self, program: AffineTwoStage, seed: int, method: str = "auto"):
        super().__init__(program.origin.source, seed, method)
        self._program = program

    def draw(self, stream: int, block: int, count: int) -> Scenarios:
        """So many scenarios, equally probable."""
        return numbers(self._program, self.batch(stream, block, count))

    def whole(self) -> Scenarios:
        """All scenarios of finite data."""
        return numbers(self._program, self.everything())


class _Tables:
    """Rows of tables in files. A table in which few rows cost as much as all of them is read once,
    if there is room for it."""

    def __init__(self, source: Source):
        stored = any(part.stored for part in source.parts)
        self._reading = Reading(source) if stored else None
        self._parts = source.parts
        self._held: dict[int, tuple[Array, ...]] = {}

    def read(self, batch: Batch) -> Batch:
        """A batch with the rows in place of their numbers."""
        if self._reading is None:
            return batch
        parts = [
            self._rows(self._reading, p, part, drawn) if part.stored else drawn
            for p, (part, drawn) in enumerate(zip(self._parts, batch.parts, strict=True))
        ]
        return Batch(batch.size, tuple(parts), batch.weights)

    def _rows(self, reading: Reading, p: int, part: Part, drawn: Any) -> tuple[Array, ...]:
        if p not in self._held:
            size = part.size or 0
            if not (reading.scans and reading.holds(size)):
                return reading.fields(part, drawn)
            self._held[p] = reading.fields(part, slice(0, size))
        return tuple(field[drawn] for field in self._held[p])


def numbers(program: AffineTwoStage, batch: Batch) -> Scenarios:
    """The arrays of drawn rows."""
    count = batch.size
    weights = np.full(count, 1.0 / count) if batch.weights is None else batch.weights
    return looked_up(program, leaves_of(program.origin, batch), weights)


def looked_up(program: AffineTwoStage, lookup: Callable[[Any], Any], weights: Array) -> Scenarios:
    """The arrays of scenarios whose numbers are looked up."""
    count = weights.size
    made = Scenarios(
        program,
        weights,
        program.c.drawn(lookup, count),
        program.q.complete(lookup, count),
        program.constant.complete(lookup, count)[:, 0],
        program.T.entries.drawn(lookup, count),
        program.W.entries.drawn(lookup, count),
        program.lower.complete(lookup, count),
        program.upper.complete(lookup, count),
        program.y_lower.complete(lookup, count),
        program.y_upper.complete(lookup, count),
    )
    _check(made)
    return made


def _check(made: Scenarios) -> None:
    """Numbers are finite, whatever was drawn, but for bounds that are absent."""
    p, rows, y = made.program, made.program.origin.second_rows, made.program.origin.second
    objective = p.origin.objective_component
    for which, numbers, place in (
        (p.c, made.c, lambda j: objective),
        (p.constant, made.constant[:, None], lambda j: objective),
        (p.q, made.q, lambda j: y[j]),
        (p.T.entries, made.T, lambda j: rows[int(p.T.rows[p.T.entries.positions[j]])].component),
        (p.W.entries, made.W, lambda j: rows[int(p.W.rows[p.W.entries.positions[j]])].component),
    ):
        if which.random:
            _refuse(numbers, ~np.isfinite(numbers), place)
    for which, bounds, named in (
        (p.lower, made.lower, [row.component for row in rows]),
        (p.upper, made.upper, [row.component for row in rows]),
        (p.y_lower, made.y_lower, y),
        (p.y_upper, made.y_upper, y),
    ):
        if which.random:
            wrong = np.zeros(bounds.shape, dtype=bool)
            wrong[:, which.positions] = ~np.isfinite(bounds[:, which.positions])
            _refuse(bounds, wrong, named.__getitem__)


def _refuse(numbers: Array, wrong: Any, place: Callable[[int], Any]) -> None:
    if wrong.any():
        s, j = np.argwhere(wrong)[0]
        raise DataError(
            f"'{place(int(j)).name}': a number in it is {numbers[s, j]} in a drawn scenario. Check "
            "the distribution, or the function of the random numbers."
        )
