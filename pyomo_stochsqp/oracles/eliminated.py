r"""Formulas of expectations: the numbers t inside them are eliminated, sample by sample.

    f(x, t), c(x, t)                 the functions of a problem
    t_i = a_i(x, t), a mean over w   what their formulas contain, level by level: a_i depends on t
                                     of lower levels only. A quantile is the t_i that makes
                                     a_i(x, t) zero, and depends on itself, too

On a sample all means are over its scenarios, so t is a function of x there, with

    T = dt/dx,     T_i = (a_x + a_t T)_i / s_i,     s_i = 1, or -da_i/dt_i for a quantile,

and the chain rule gives what an algorithm asks for,

    g = f_x + T'f_t,      J = c_x + c_t T,      H = [I T'] L'' [I; T],

L = f + y'c + sum_i lambda_i a_i in x and t, lambda_i = (dL/dt_i) / s_i from the last level down.

A mean that goes through a curved formula is biased, by O(1/N) in a sample of N scenarios. A pooled
estimate of independent samples has the bias of all their scenarios together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..oracle import (
    Estimate,
    EvaluationIssue,
    Problem,
    Replicates,
    Sample,
    Vector,
    mean_estimate,
)
from .model import ModelOracle
from .reduced_hessian import ReducedHessian
from .roots import increasing_roots

Matrix = NDArray[np.float64]
Indices = NDArray[np.intp]

#: scenarios on which equations are solved before they are solved on all; how near, in standard
#: deviations, the solutions are
STARTING, NEAR = 1 << 11, 0.1
#: scenarios that second derivatives are averaged over; those of quantiles see only scenarios that
#: lie next to them
CURVATURE, CURVATURE_OF_QUANTILES, LARGEST_CURVATURE = 1 << 12, 1 << 15, 1 << 18


@dataclass(frozen=True)
class Level:
    """Definitions of symbols ``first``, ``first + 1``, ..., which depend on those before only.

    ``implicit`` ones are defined by an equation, whose solution is some standard deviations from
    the mean: ``centre`` and ``variance`` are the numbers of symbols.
    """

    oracle: ModelOracle
    first: int
    implicit: Indices
    centre: Indices
    variance: Indices

    @property
    def symbols(self) -> slice:
        return slice(self.first, self.first + self.oracle.problem.m)


@dataclass(frozen=True)
class Point:
    """x and t on some samples, and all that follows from them."""

    z: Vector
    outer: Estimate
    #: dt/dx, da/d(x, t) and s
    T: Matrix
    A: Matrix
    s: Vector


class Eliminated:
    """The oracle of a model with formulas; ``outer`` has symbols behind its variables."""

    def __init__(self, outer: ModelOracle, levels: Sequence[Level]):
        self._outer = outer
        self._levels = levels
        self._k = sum(level.oracle.problem.m for level in levels)
        self._n = outer.problem.n - self._k
        self.sources = outer.sources
        self.rounded = outer.rounded
        self.spreads_evenly = outer.spreads_evenly
        self._supports = self._dependencies()
        self._rows = _ReducedRows(outer.problem, self._n, self._supports)
        self.problem = self._rows.problem
        self._second: ReducedHessian | None = None
        self._last: tuple[Vector, Sequence[Sample], Point] | None = None

    @property
    def oracles(self) -> Sequence[ModelOracle]:
        """What makes the passes: the outermost one first."""
        return [self._outer, *(level.oracle for level in self._levels)]

    @property
    def work_left(self) -> Vector:
        """Until the evaluators change over to machine code."""
        return np.concatenate([oracle.work_left for oracle in self.oracles])

    @work_left.setter
    def work_left(self, left: Vector | None) -> None:
        for i, oracle in enumerate(self.oracles):
            oracle.work_left = None if left is None else left[i : i + 1]

    # -- samples: those of the model --------------------------------------------------------------

    def draw(self, stream: int, k: int, batch: Sequence[int]) -> Sample:
        return self._outer.draw(stream, k, batch)

    def draw_replicates(self, stream: int, k: int, batch: Sequence[int], count: int) -> Replicates:
        return self._outer.draw_replicates(stream, k, batch, count)

    def draw_prefix(self, batch: Sequence[int]) -> Sample:
        return self._outer.draw_prefix(batch)

    def halves(self, sample: Sample, least: int) -> tuple[Sample, Sample] | None:
        """A batch in two equal parts; None if it has fewer scenarios of a source, or an end."""
        return self._outer.halves(sample, least)

    # -- rounding ---------------------------------------------------------------------------------

    @property
    def for_curvature(self) -> int:
        if not any(level.implicit.size for level in self._levels):
            return CURVATURE
        return min(CURVATURE_OF_QUANTILES * 4**self.narrowing, LARGEST_CURVATURE)

    @property
    def narrowing(self) -> int:
        return self._outer.narrowing

    def narrow(self, level: int) -> None:
        if level != self.narrowing:
            self._last = None
            self._outer.narrow(level)

    # -- estimates --------------------------------------------------------------------------------

    def estimate(self, x: Vector, sample: Sample, objective: bool = False) -> Estimate:
        return self._estimate(self._point(x, [sample], objective))

    def estimates(
        self, x: Vector, samples: Sequence[Sample], objective: bool = False
    ) -> list[Estimate]:
        made = []
        for sample in samples:
            made.append(self.estimate(x, sample, objective))
            if made[-1].issue is not None:
                break
        return made

    def replicated(
        self, x: Vector, samples: Sequence[Sample], objective: bool = False
    ) -> tuple[Estimate, list[Estimate]]:
        together = self._point(x, samples, objective)
        pooled, made = self._estimate(together), []
        if not isinstance(together, EvaluationIssue):
            for sample in samples:
                made.append(self._estimate(self._lifted(x, [sample], objective, together.z)))
                if made[-1].issue is not None:
                    break
        return pooled, made

    def _estimate(self, at: Point | EvaluationIssue) -> Estimate:
        issue = at if isinstance(at, EvaluationIssue) else at.outer.issue
        if isinstance(at, EvaluationIssue) or issue is not None:
            sizes = self._n, self.problem.m, self.problem.jac_indices.size
            g, c, J = (np.full(size, np.nan) for size in sizes)
            return Estimate(g, c, J, np.nan, issue)
        return self._reduced(at.outer, at.T)

    def linearised(
        self, x: Vector, samples: Sequence[Sample], about: Sequence[Sample]
    ) -> list[Estimate]:
        at = self._point(x, about, objective=True)
        if isinstance(at, EvaluationIssue):
            return []
        n = self._n
        by_t = np.vstack((at.outer.g[n:], self._rows.by_symbols(at.outer.J)))
        slope = self._multipliers(by_t, at)
        target = np.where(at.s == 1.0, at.z[n:], 0.0)
        for level in self._levels:
            target[level.first + level.implicit] = 0.0
        made = []
        for sample in samples:
            e = self._outer.estimate(at.z, sample, objective=True)
            a = np.concatenate([lv.oracle.estimate(at.z, sample).c for lv in self._levels])
            change = slope @ (a - target)
            if e.issue is None and e.f is not None and np.isfinite(change).all():
                e.f += float(change[0])
                e.c = e.c + change[1:]
                made.append(self._reduced(e, at.T))
        return made

    def hessian_pattern(self) -> tuple[Indices, Indices]:
        second = self._second_order()
        return second.indptr, second.indices

    def hessian(self, x: Vector, y: Vector, sample: Sample) -> Vector:
        second, at = self._second_order(), self._point(x, [sample])
        if isinstance(at, EvaluationIssue):
            return np.full(second.indices.size, np.nan)
        by_t = at.outer.g[self._n :] + y @ self._rows.by_symbols(at.outer.J)
        multipliers = self._multipliers(by_t[None], at)[0]
        parts = [self._outer.hessian(at.z, y, sample)]
        for level in self._levels:
            parts.append(level.oracle.hessian(at.z, multipliers[level.symbols], sample))
        return second.values(parts, at.T)

    def symbol_values(self, x: Vector, samples: Sequence[Sample]) -> Vector | None:
        """The numbers t at x."""
        at = self._point(x, samples)
        return None if isinstance(at, EvaluationIssue) else at.z[self._n :]

    # -- inside -----------------------------------------------------------------------------------

    def _point(
        self, x: Vector, samples: Sequence[Sample], objective: bool = False
    ) -> Point | EvaluationIssue:
        known = self._last
        if known is not None and known[0] is x and _same(known[1], samples):
            at = known[2]
            if objective and at.outer.f is None:
                at = replace(at, outer=_mean(self._outer, at.z, samples, True))
        else:
            found = self._lifted(x, samples, objective)
            if isinstance(found, EvaluationIssue):
                return found
            at = found
        if at.outer.issue is not None:
            return at.outer.issue
        self._last = (x, samples, at)
        return at

    def _lifted(
        self, x: Vector, samples: Sequence[Sample], objective: bool, near: Vector | None = None
    ) -> Point | EvaluationIssue:
        """``near`` is (x, t) of samples like these."""
        n, k = self._n, self._k
        z = np.concatenate((x, np.zeros(k)))
        T, A, s = np.zeros((k, n)), np.zeros((k, n + k)), np.ones(k)
        for level in self._levels:
            here = level.symbols
            if level.implicit.size:
                e = self._solved(level, z, samples, near)
            else:
                e = _mean(level.oracle, z, samples, False)
            if e.issue is not None:
                return e.issue
            problem = level.oracle.problem
            a = np.zeros((problem.m, n + k))
            a[problem.jac_rows, problem.jac_indices] = e.J
            explicit = np.ones(problem.m, dtype=bool)
            explicit[level.implicit] = False
            z[n:][here][explicit] = e.c[explicit]
            own = n + level.first + level.implicit
            s[level.first + level.implicit] = -a[level.implicit, own]
            A[here] = a
            by_x = a[:, :n] + a[:, n : n + level.first] @ T[: level.first]
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                T[here] = by_x / s[here, None]
        if not np.isfinite(T).all():
            return EvaluationIssue("a formula of expectations", "it has no derivative here")
        return Point(z, _mean(self._outer, z, samples, objective), T, A, s)

    def _solved(
        self, level: Level, z: Vector, samples: Sequence[Sample], near: Vector | None
    ) -> Estimate:
        """Put the solutions of a level's equations into z; what the level says there."""
        n, problem = self._n, level.oracle.problem
        numbers = n + level.first + level.implicit
        own = [_entry(problem, i, j) for i, j in zip(level.implicit, numbers, strict=True)]
        e: Estimate | None = None

        def solve(some: Sequence[Sample], t: Vector, unit: Vector) -> Vector:
            def values(t: Vector) -> tuple[Vector, Vector]:
                nonlocal e
                z[numbers] = t
                e = _mean(level.oracle, z, some, False)
                return e.c[level.implicit], e.J[own]

            return increasing_roots(values, t, unit)

        centre, variance = z[n + level.centre], z[n + level.variance]
        unit = np.maximum(np.sqrt(np.abs(variance)), 1e-12 * np.abs(centre))
        unit = np.where(unit > 0.0, unit, 1.0)
        some = level.oracle.beginning(samples[0], STARTING)
        if near is not None:
            centre, unit = near[numbers], NEAR * unit
        elif some is not None:
            # all of them then need two or three steps
            centre, unit = solve([some], centre, unit), NEAR * unit
        solve(samples, centre, unit)
        assert e is not None
        return e

    def _reduced(self, e: Estimate, T: Matrix) -> Estimate:
        g = e.g[: self._n] + e.g[self._n :] @ T
        return Estimate(g, e.c, self._rows.reduced(e.J, T), e.f)

    def _multipliers(self, by_t: Matrix, at: Point) -> Matrix:
        """lambda for functions with these derivatives with respect to t, one line each."""
        found, rest = np.empty_like(by_t), by_t.copy()
        for level in reversed(self._levels):
            here = level.symbols
            found[:, here] = rest[:, here] / at.s[here]
            lower = at.A[here, self._n : self._n + level.first]
            rest[:, : level.first] += found[:, here] @ lower
        return found

    def _dependencies(self) -> NDArray[np.bool_]:
        """Which symbol depends on which variable."""
        n = self._n
        supports = np.zeros((self._k, n), dtype=bool)
        for level in self._levels:
            problem = level.oracle.problem
            a = np.zeros((problem.m, n + self._k))
            a[problem.jac_rows, problem.jac_indices] = 1.0
            lower = a[:, n : n + level.first] @ supports[: level.first]
            supports[level.symbols] = (a[:, :n] + lower) > 0.0
        return supports

    def _second_order(self) -> ReducedHessian:
        if self._second is None:
            oracles = [self._outer, *(level.oracle for level in self._levels)]
            patterns = [oracle.hessian_pattern() for oracle in oracles]
            self._second = ReducedHessian(self._n, patterns, self._supports)
        return self._second


class _ReducedRows:
    """c_x + c_t T on a fixed pattern."""

    def __init__(self, outer: Problem, n: int, supports: NDArray[np.bool_]):
        self._n, self._k, self._m = n, len(supports), outer.m
        rows, columns = outer.jac_rows, outer.jac_indices
        self._own = np.flatnonzero(columns < n)
        self._by_t = np.flatnonzero(columns >= n)
        self._t_places = rows[self._by_t], columns[self._by_t] - n
        #: rows that hold formulas
        self._formulas = np.unique(self._t_places[0])
        ones = np.ones(columns.size)
        pattern = sparse.csr_array((ones, columns, outer.jac_indptr), shape=(outer.m, outer.n))
        depends = sparse.csr_array(supports.astype(float))
        whole = sparse.csr_array(pattern[:, :n] + pattern[:, n:] @ depends)
        whole.sort_indices()
        indptr, indices = whole.indptr.astype(np.intp), whole.indices.astype(np.intp)
        exact_rows = outer.exact_rows.copy()
        exact_rows[self._formulas] = False
        self.problem = replace(
            outer,
            x0=outer.x0[:n],
            x_lower=outer.x_lower[:n],
            x_upper=outer.x_upper[:n],
            jac_indptr=indptr,
            jac_indices=indices,
            exact_rows=exact_rows,
            variable_names=outer.variable_names[:n],
        )
        place = self.problem.jac_rows * n + indices
        self._own_places = np.searchsorted(place, rows[self._own] * n + columns[self._own])
        local = np.full(outer.m, -1)
        local[self._formulas] = np.arange(self._formulas.size)
        self._filled = np.flatnonzero(local[self.problem.jac_rows] >= 0)
        self._filled_from = (
            local[self.problem.jac_rows[self._filled]],
            indices[self._filled],
        )

    def by_symbols(self, J: Vector) -> Matrix:
        """c_t."""
        full = np.zeros((self._m, self._k))
        full[self._t_places] = J[self._by_t]
        return full

    def reduced(self, J: Vector, T: Matrix) -> Vector:
        values = np.zeros(self.problem.jac_indices.size)
        values[self._own_places] = J[self._own]
        if self._formulas.size:
            more = self.by_symbols(J)[self._formulas] @ T
            values[self._filled] += more[self._filled_from]
        return values


def _mean(oracle: ModelOracle, z: Vector, samples: Sequence[Sample], objective: bool) -> Estimate:
    made = oracle.estimates(z, samples, objective)
    return made[0] if len(made) == 1 else mean_estimate(made)


def _same(a: Sequence[Sample], b: Sequence[Sample]) -> bool:
    return len(a) == len(b) and all(one is other for one, other in zip(a, b, strict=True))


def _entry(problem: Problem, row: int, column: int) -> int:
    """The place of one entry among the stored ones of J."""
    start, end = problem.jac_indptr[row], problem.jac_indptr[row + 1]
    return int(start + np.flatnonzero(problem.jac_indices[start:end] == column)[0])
