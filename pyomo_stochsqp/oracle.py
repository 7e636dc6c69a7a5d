r"""The narrow waist: what an algorithm may ask of a problem, and nothing else.

The problem, as the algorithms see it, is

    min f(x)   s.t.   row_lower <= c(x) <= row_upper,   x_lower <= x <= x_upper,

with f(x) = E[F(x, w)] and c(x) = E[C(x, w)] (row_lower = row_upper for an equality). An
:class:`Oracle` draws samples of w and returns estimates (g, c, J) of (grad f, c, grad c^T) on them.
Drawing and estimating are separate calls, so that two points can be compared on the same sample.

The Jacobian keeps one compressed-sparse-row pattern for the whole run; an estimate carries only its
values. Nothing in this file, or in anything built on it alone, knows Pyomo: a hand-written class
with these attributes and methods is as good an oracle as a compiled model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

Vector = NDArray[np.float64]

#: distance from a bound, relative to it, of points that are meant to be inside
INSIDE = 1e-2

#: widths over which kinks are rounded off, from one level to the next; the level that is good
#: enough for values, and the last one (PlugInOracle)
NARROWER, CLOSELY, NARROWEST = 0.25, 6, 8

#: Sample streams are independent of each other for every iteration number.
ITERATION_STREAM, VALIDATION_STREAM, SETUP_STREAM, PROBE_STREAM, EVALUATION_STREAM = range(5)
STAGE_STREAM, SPREAD_STREAM, PREFIX_STREAM = range(5, 8)


@dataclass(frozen=True)
class Problem:
    """The fixed shape of a problem: sizes, bounds, starting point, Jacobian pattern, names."""

    x0: Vector
    x_lower: Vector
    x_upper: Vector
    row_lower: Vector
    row_upper: Vector
    jac_indptr: NDArray[np.intp]
    jac_indices: NDArray[np.intp]
    #: rows evaluated without sampling error (ordinary constraints)
    exact_rows: NDArray[np.bool_]
    #: the part of f that depends on nothing
    objective_constant: float = 0.0
    variable_names: Sequence[str] = ()
    row_names: Sequence[str] = ()

    @property
    def n(self) -> int:
        return self.x0.size

    @property
    def m(self) -> int:
        return self.row_lower.size

    @cached_property
    def jac_rows(self) -> NDArray[np.intp]:
        """The row of every stored entry of J."""
        return np.repeat(np.arange(self.m), np.diff(self.jac_indptr))

    @cached_property
    def bound_sizes(self) -> Vector:
        """The larger absolute bound of every row, 0 where there is none."""
        lower, upper = np.abs(self.row_lower), np.abs(self.row_upper)
        return np.maximum(
            np.where(np.isfinite(lower), lower, 0.0), np.where(np.isfinite(upper), upper, 0.0)
        )

    @property
    def bounded(self) -> bool:
        """Whether any variable has a bound."""
        return bool(np.isfinite(self.x_lower).any() or np.isfinite(self.x_upper).any())

    @property
    def equalities_only(self) -> bool:
        """The paper's form: c(x) = 0 and nothing else."""
        return not self.bounded and bool((self.row_lower == self.row_upper).all())

    def project(self, x: Vector) -> Vector:
        """The nearest point within the bounds."""
        return np.minimum(np.maximum(x, self.x_lower), self.x_upper)

    def inside(self, x: Vector) -> Vector:
        """The nearest point that keeps a little away from the bounds, as far as there is room."""
        width = np.minimum(self.x_upper - self.x_lower, 1e300)
        low = self.x_lower + np.minimum(INSIDE * np.maximum(1.0, np.abs(self.x_lower)), 0.5 * width)
        high = self.x_upper - np.minimum(
            INSIDE * np.maximum(1.0, np.abs(self.x_upper)), 0.5 * width
        )
        low = np.where(np.isfinite(self.x_lower), low, -np.inf)
        high = np.where(np.isfinite(self.x_upper), high, np.inf)
        return np.minimum(np.maximum(x, low), np.maximum(low, high))

    def violation(self, c: Vector) -> Vector:
        """The distance of every row to its interval [row_lower, row_upper]."""
        return np.maximum(np.maximum(self.row_lower - c, c - self.row_upper), 0.0)

    def excess(self, c: Vector) -> Vector:
        """The same with a sign: positive above row_upper, negative below row_lower."""
        return c - np.minimum(np.maximum(c, self.row_lower), self.row_upper)

    def signed(self, y: Vector) -> Vector:
        """Multipliers without those that push a row towards a bound that it does not have."""
        idle = ((y > 0.0) & np.isposinf(self.row_upper)) | ((y < 0.0) & np.isneginf(self.row_lower))
        return np.where(idle, 0.0, y)

    def relaxed(self, by: Vector) -> Problem:
        """The same with the bounds of the rows moved apart by so much, on each side."""
        return replace(self, row_lower=self.row_lower - by, row_upper=self.row_upper + by)

    @classmethod
    def equalities(cls, x0: Vector, m: int) -> Problem:
        """m sampled equalities c(x) = 0, no bounds, every entry of J stored (row by row)."""
        x0 = np.asarray(x0, dtype=float)
        n = x0.size
        return cls(
            x0=x0,
            x_lower=np.full(n, -np.inf),
            x_upper=np.full(n, np.inf),
            row_lower=np.zeros(m),
            row_upper=np.zeros(m),
            jac_indptr=np.arange(m + 1) * n,
            jac_indices=np.tile(np.arange(n), m),
            exact_rows=np.zeros(m, dtype=bool),
        )


@dataclass(frozen=True)
class SourceInfo:
    """One independent source of randomness: its name and its number of scenarios, if finite."""

    name: str
    size: int | None
    #: its numbers are known to have no finite mean or variance
    heavy: bool = False


class EvaluationIssue:
    """A domain error, overflow or NaN met while evaluating: which component, which scenario."""

    __slots__ = ("component", "message", "scenario")

    def __init__(self, component: str, message: str, scenario: int | None = None):
        self.component = component
        self.message = message
        self.scenario = scenario

    def __str__(self) -> str:
        where = "" if self.scenario is None else f" (scenario row {self.scenario})"
        return f"{self.component}: {self.message}{where}"


class Estimate:
    """Estimates of (grad f, c, nonzeros of grad c^T) at one point; f only when it was asked for."""

    __slots__ = ("J", "c", "f", "g", "issue")

    def __init__(
        self,
        g: Vector,
        c: Vector,
        J: Vector,
        f: float | None = None,
        issue: EvaluationIssue | None = None,
    ):
        self.g = g
        self.c = c
        self.J = J
        self.f = f
        self.issue = issue


def mean_estimate(estimates: Sequence[Estimate]) -> Estimate:
    """The mean of estimates on samples of equal size."""
    issue = next((e.issue for e in estimates if e.issue is not None), None)
    values = [e.f for e in estimates if e.f is not None]
    return Estimate(
        np.mean([e.g for e in estimates], axis=0),
        np.mean([e.c for e in estimates], axis=0),
        np.mean([e.J for e in estimates], axis=0),
        float(np.mean(values)) if len(values) == len(estimates) else None,
        issue,
    )


@dataclass(frozen=True)
class Sample:
    """Scenarios drawn for one estimate. ``payload`` belongs to the oracle that drew it."""

    payload: Any
    #: scenarios in it, over all sources (what a sample budget counts)
    scenarios: int
    #: it holds every scenario of every source, so that estimates on it are exact
    exact: bool = False
    #: its scenarios are in memory; otherwise they are drawn again in every estimate
    kept: bool = True


@dataclass(frozen=True)
class Replicates:
    """A fixed sample in independent parts of equal size.

    ``pooled`` are the same scenarios in as few samples as the oracle can make of them.
    """

    parts: tuple[Sample, ...]
    pooled: tuple[Sample, ...]

    @property
    def scenarios(self) -> int:
        return sum(sample.scenarios for sample in self.parts)


@runtime_checkable
class Oracle(Protocol):
    """Everything an algorithm may ask."""

    problem: Problem
    sources: Sequence[SourceInfo]

    def draw(self, stream: int, k: int, batch: Sequence[int]) -> Sample:
        """Draw ``batch[s]`` scenarios of each source s; equal arguments give the same sample."""

    def estimate(self, x: Vector, sample: Sample, objective: bool = False) -> Estimate:
        """Average over the sample; arrays of the answer belong to the caller."""


@runtime_checkable
class ReplicatingOracle(Oracle, Protocol):
    """An oracle with a way of its own to draw large samples: evenly spread, or not kept at all."""

    #: errors of its fixed samples fall faster than one over the square root of their size
    spreads_evenly: bool

    def draw_replicates(self, stream: int, k: int, batch: Sequence[int], count: int) -> Replicates:
        """``count`` independent samples with ``batch[s]`` scenarios of each source s."""

    def draw_prefix(self, batch: Sequence[int]) -> Sample:
        """The first scenarios of one random order of finite sources."""

    def estimates(
        self, x: Vector, samples: Sequence[Sample], objective: bool = False
    ) -> list[Estimate]:
        """Those on several samples; the first issue ends the list."""


@runtime_checkable
class PlugInOracle(Oracle, Protocol):
    """An oracle whose functions contain formulas of expectations: its estimates are not linear in
    the sample, so that the mean of estimates is not the estimate on all scenarios."""

    #: kinks are rounded off over widths that :meth:`narrow` changes
    rounded: bool

    @property
    def narrowing(self) -> int:
        """The level that they have."""

    @property
    def for_curvature(self) -> int:
        """Scenarios that second derivatives need."""

    def narrow(self, level: int) -> None:
        """From now on widths are NARROWER^level times what they were at first."""

    def replicated(
        self, x: Vector, samples: Sequence[Sample], objective: bool = False
    ) -> tuple[Estimate, list[Estimate]]:
        """The estimate on all scenarios of samples of equal size together, and that on each; the
        first issue ends the list."""

    def linearised(
        self, x: Vector, samples: Sequence[Sample], about: Sequence[Sample]
    ) -> list[Estimate]:
        """Estimates on small samples, those that can be made, with formulas linearised about the
        expectations of larger ones."""


def spreads_evenly(oracle: Oracle) -> bool:
    """Whether errors of fixed samples fall faster than one over the square root of their size."""
    return isinstance(oracle, ReplicatingOracle) and oracle.spreads_evenly


def draw_replicates(
    oracle: Oracle, stream: int, k: int, batch: Sequence[int], count: int
) -> Replicates:
    """Independent samples of any oracle."""
    if isinstance(oracle, ReplicatingOracle):
        return oracle.draw_replicates(stream, k, batch, count)
    parts = tuple(oracle.draw(stream, k * count + r, batch) for r in range(count))
    return Replicates(parts, parts)


def draw_prefix(oracle: Oracle, batch: Sequence[int]) -> Sample:
    """Some scenarios of finite sources; those of a smaller batch are, if possible, among them."""
    if isinstance(oracle, ReplicatingOracle):
        return oracle.draw_prefix(batch)
    return oracle.draw(PREFIX_STREAM, 0, batch)


def estimates(
    oracle: Oracle, x: Vector, samples: Sequence[Sample], objective: bool = False
) -> list[Estimate]:
    """Those on several samples; the first issue ends the list."""
    if isinstance(oracle, ReplicatingOracle):
        return oracle.estimates(x, samples, objective)
    made = []
    for sample in samples:
        made.append(oracle.estimate(x, sample, objective))
        if made[-1].issue is not None:
            break
    return made


def whole_sample(oracle: Oracle) -> Sample | None:
    """All scenarios of all sources; None if they have no end."""
    sizes = [source.size for source in oracle.sources]
    if any(size is None for size in sizes):
        return None
    return oracle.draw(SETUP_STREAM, 0, [size for size in sizes if size is not None])


def exact_estimate(oracle: Oracle, x: Vector, objective: bool = False) -> Estimate:
    """Average over all scenarios. Only if every source is finite."""
    sample = whole_sample(oracle)
    assert sample is not None, "an endless source has no exact averages"
    return oracle.estimate(x, sample, objective)


@runtime_checkable
class SecondOrderOracle(Oracle, Protocol):
    """An oracle that also has second derivatives."""

    def hessian_pattern(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """(indptr, indices): upper triangle of the Lagrangian's Hessian, compressed columns."""

    def hessian(self, x: Vector, y: Vector, sample: Sample) -> Vector:
        """Values of grad^2 f + sum_i y_i grad^2 c_i on that pattern, averaged over the sample.

        Not finite where a second derivative does not exist.
        """


class Jacobian:
    """Products with a Jacobian given by its values: times(J, d) = J d, transposed(J, y) = J'y.

    A full pattern is a plain matrix; otherwise one sparse matrix and its transpose (the same index
    arrays, read by columns) are kept and only their values are exchanged, because building one
    costs more than a small product.
    """

    def __init__(self, problem: Problem):
        self.shape = (problem.m, problem.n)
        self.dense = problem.jac_indices.size == problem.m * problem.n
        if not self.dense:
            values = np.zeros(problem.jac_indices.size)
            self._matrix = csr_array(
                (values, problem.jac_indices, problem.jac_indptr), shape=self.shape
            )
            self._transpose = self._matrix.T

    def times(self, values: Vector, d: Vector) -> Vector:
        if self.dense:
            return values.reshape(self.shape) @ d
        self._matrix.data = values
        return self._matrix @ d

    def transposed(self, values: Vector, y: Vector) -> Vector:
        if self.dense:
            return y @ values.reshape(self.shape)
        self._transpose.data = values
        return self._transpose @ y


class CountingOracle(Oracle, Protocol):
    """An oracle that changes over to machine code after some work: from then on last bits differ.

    So the work that is left until then is a part of a run's state.
    """

    work_left: Vector


def work_left(oracle: Oracle) -> Vector:
    """Until an oracle changes over; nothing if it never does."""
    left = getattr(oracle, "work_left", None)
    return np.empty(0) if left is None else left


def set_work_left(oracle: Oracle, left: Vector | None = None) -> None:
    """Continue a count, or begin a new one."""
    if hasattr(oracle, "work_left"):
        oracle.work_left = left
