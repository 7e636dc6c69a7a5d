r"""The value function as an integrand: an oracle in (x, prices), for any algorithm.

    f(x) + E q(x, y(x, price, w), w),      rows of x,      e(x) + E r(x, y(x, price, w), w)

(program.py). With V = min_y q + price'r, which has simple derivatives (sensitivity.py),

    q = V - price'r,      Lagrangian with multipliers v of the rows: V + (v - price)'r,

    its Hessian:  V'' - (e r' + r' e')  +  (v - price) r'',      e the unit vector of the price.

The last term has third derivatives and is left out: v = price at a solution.

V has kinks in x (where a shortage begins), which its mean over w rounds off. So the mean's second
derivatives are not the mean of second derivatives: V is replaced by V_mu, which is rounded off over
a width that mu decides (interior_point.py), narrower from level to level, as kinks are elsewhere.

Solutions of a sample are kept: they answer what is asked next at the same point, and begin those at
the next one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..oracle import (
    Estimate,
    Problem,
    Replicates,
    Sample,
    Vector,
    mean_estimate,
)
from ..oracles import ModelOracle
from .cuts import Cut, cuts_at, moved
from .interior_point import LAST, SecondStages
from .program import SmoothTwoStage
from .scales import prices_of, scales_of
from .sensitivity import Sensitivity
from .solved_samples import Known, SolvedSamples, numbers_of, weights_of

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

#: scenarios that second derivatives are averaged over
CURVATURE = 1 << 15
#: infeasible scenarios that are looked into
LOOKED_AT = 1 << 10
#: the widest barrier, relative to the spread of the second stage's cost, which is taken for at
#: least this share of the cost
WIDEST, LEVEL = 5e-5, 1e-2
#: from level to level it falls a little faster than widths do elsewhere. What is taken for the
#: whole effect of rounding is then a tenth more than a linear one, and covers that of mu log(mu),
#: which means of V_mu have
FALL = 1.0 / 6.0


@dataclass(frozen=True, eq=False)
class Infeasible:
    """Scenarios without a feasible second stage, all that were looked at, the row that is to
    blame, and conditions on x that follow."""

    count: int
    total: int
    row: str
    cuts: Sequence[Cut]


class ValueFunction:
    """The oracle; ``exact`` is that of f, the rows of x and e, and draws the scenarios."""

    rounded = True
    for_curvature = CURVATURE

    def __init__(self, program: SmoothTwoStage, exact: ModelOracle, penalty: float = 1.0):
        self._p, self._exact = program, exact
        self.sources = exact.sources
        self.spreads_evenly = exact.spreads_evenly
        self._link = np.array(program.linking, dtype=np.intp)
        self._rows = np.array(program.mean_rows, dtype=np.intp)
        self._priced = np.array(program.priced, dtype=bool)
        self._nx = program.stage.nx
        self._one = exact.draw(0, 0, [1] * len(exact.sources))
        probe = exact.draw(3, 0, [32] * len(exact.sources))
        numbers = numbers_of(program, probe.payload.batches[0])
        x = self._linked(exact.problem.project(exact.problem.x0))[: self._nx]
        self._x0 = self._start(prices_of(program.stage, x, numbers))
        self.scales = scales_of(program.stage, x, numbers, penalty)
        self.stages = SecondStages(program.stage, self.scales)
        self._sensitivity = Sensitivity(program.stage, self.stages, self.scales, self._priced)
        self._solved = SolvedSamples(program, self.stages, self._sensitivity)
        self.narrowing, self._widest = 0, LAST
        self._patterns()
        known, _ = self._at(exact.problem.project(self._x0), probe)
        self._widest = self._width(known)

    def _start(self, prices: Array) -> Vector:
        """Where algorithms begin: at prices that can be noticed, of the signs that they have."""
        problem, own = self._exact.problem, self._link[self._nx :]
        x = problem.x0.copy()
        up = problem.x_upper[own] > 0.0
        x[own] = np.where(up, 1.0, -1.0) * prices[self._priced]
        return x

    def _width(self, probe: Known) -> float:
        """The widest barrier, from how much the second stage's cost varies."""
        assert probe.responses is not None and probe.found is not None
        values = probe.responses.cost[probe.found.solved & np.isfinite(probe.responses.cost)]
        if not values.size:
            return LAST
        spread = max(float(values.std()), LEVEL * float(np.abs(values).mean()))
        return max(WIDEST * spread * self.scales.cost, LAST)

    # -- samples: those of the model --------------------------------------------------------------

    def draw(self, stream: int, k: int, batch: Sequence[int]) -> Sample:
        return self._exact.draw(stream, k, batch)

    def draw_replicates(self, stream: int, k: int, batch: Sequence[int], count: int) -> Replicates:
        return self._exact.draw_replicates(stream, k, batch, count)

    def draw_prefix(self, batch: Sequence[int]) -> Sample:
        return self._exact.draw_prefix(batch)

    @property
    def mu(self) -> float:
        """The barrier of the present level."""
        return max(self._widest * FALL**self.narrowing, LAST)

    def narrow(self, level: int) -> None:
        """From now on the barrier has fallen so many times."""
        self.narrowing = level

    # -- estimates --------------------------------------------------------------------------------

    def estimate(self, x: Vector, sample: Sample, objective: bool = False) -> Estimate:
        known, which = self._at(x, sample)
        trouble = self._solved.issue(known, which)
        sizes = self.problem.n, self.problem.m, self.problem.jac_indices.size
        if trouble is not None:
            g, c, J = (np.full(size, np.nan) for size in sizes)
            return Estimate(g, c, J, np.nan, trouble)
        r, weights = known.responses, self._weights(sample)
        assert r is not None
        prices = self._linked(x)[self._nx :]
        exact = self._exact.estimate(x, self._one, True)
        means = weights @ r.means[which]
        by_t = np.einsum("s,skt->kt", weights, r.mean_slopes[which])
        g = exact.g.copy()
        g[self._link] += weights @ r.slope[which] - prices @ by_t[self._priced]
        g[self._link[self._nx :]] -= means[self._priced]
        c = exact.c.copy()
        c[self._rows] += means
        J = np.zeros(sizes[2])
        J[self._own] = exact.J
        J[self._by_t] += by_t.ravel()
        f = exact.f
        assert f is not None
        f += float(weights @ r.cost[which]) - float(prices @ means[self._priced])
        return Estimate(g, c, J, f if objective else None, exact.issue)

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
        made = self.estimates(x, samples, objective)
        return (made[-1] if made[-1].issue is not None else mean_estimate(made)), made

    def linearised(
        self, x: Vector, samples: Sequence[Sample], about: Sequence[Sample]
    ) -> list[Estimate]:
        self._solved.together(self._linked(x), self.mu, samples)
        made = [self.estimate(x, sample, objective=True) for sample in samples]
        return [estimate for estimate in made if estimate.issue is None]

    def hessian_pattern(self) -> tuple[Indices, Indices]:
        return self._hess_indptr, self._hess_indices

    def hessian(self, x: Vector, y: Vector, sample: Sample) -> Vector:
        H = np.zeros(self._hess_indices.size)
        H[self._hess_own] = self._exact.hessian(x, y, self._one)
        known, which = self._at(x, sample)
        if self._solved.issue(known, which) is not None:
            return np.full(H.size, np.nan)
        t = self._linked(x)
        weights, plain = self._weights(sample), np.where(self._priced, 0.0, y[self._rows])
        assert known.found is not None
        total = np.zeros((self._link.size, self._link.size))
        for some in self._solved.pieces(np.arange(known.numbers.count)[which]):
            part = self._sensitivity.responses(
                t, known.numbers.some(some), known.found.some(some), plain
            )
            assert part.curvature is not None
            total += np.einsum("s,stu->tu", weights[: some.size], part.curvature)
            by_t = np.einsum("s,skt->kt", weights[: some.size], part.mean_slopes)[self._priced]
            weights = weights[some.size :]
            total[self._nx :] -= by_t
            total[:, self._nx :] -= by_t.T
        total = 0.5 * (total + total.T)
        np.add.at(H, self._hess_link, total[self._upper])
        return H

    # -- second stages ----------------------------------------------------------------------------

    def infeasible(self, x: Vector, sample: Sample) -> Infeasible:
        """What is wrong with the second stages of a sample."""
        t = self._linked(x)
        numbers, which, blame = self._solved.troubled(t, sample)
        row = self._p.stage.row_names[int(blame.argmax())] if blame.any() else ""
        cuts = []
        if which.size:
            some = numbers.some(which[:LOOKED_AT])
            cuts = cuts_at(self._p.stage, self.scales, t[: self._nx], some)
        return Infeasible(which.size, numbers.count, row, cuts)

    def moved(self, x: Vector, cuts: Sequence[Cut]) -> Vector:
        """A point near x that satisfies cuts."""
        x = x.copy()
        x[self._link[: self._nx]] = moved(self._linked(x)[: self._nx], cuts)
        return self.problem.project(x)

    def _linked(self, x: Vector) -> Vector:
        """t: the variables that second stages depend on, and the prices."""
        return x[self._link]

    def _weights(self, sample: Sample) -> Array:
        return weights_of(sample.payload.batches[0])

    def _at(self, x: Vector, sample: Sample) -> tuple[Known, Any]:
        return self._solved.at(self._linked(x), self.mu, sample)

    # -- patterns ---------------------------------------------------------------------------------

    def _patterns(self) -> None:
        problem, link = self._exact.problem, self._link
        n, m = problem.n, problem.m
        own = sparse.csr_matrix(
            (np.ones(problem.jac_indices.size), problem.jac_indices, problem.jac_indptr), (m, n)
        )
        rows, columns = np.repeat(self._rows, link.size), np.tile(link, self._rows.size)
        more = sparse.csr_matrix((np.ones(rows.size), (rows, columns)), (m, n))
        whole = sparse.csr_matrix(own + more)
        whole.sort_indices()
        exact_rows = problem.exact_rows.copy()
        exact_rows[self._rows] = False
        self.problem: Problem = replace(
            problem,
            x0=self._x0,
            jac_indptr=whole.indptr.astype(np.intp),
            jac_indices=whole.indices.astype(np.intp),
            exact_rows=exact_rows,
            objective_constant=problem.objective_constant,
        )
        keys = self.problem.jac_rows * n + self.problem.jac_indices
        self._own = np.searchsorted(keys, problem.jac_rows * n + problem.jac_indices)
        self._by_t = np.searchsorted(keys, rows * n + columns)
        self._hessian_pattern(n)

    def _hessian_pattern(self, n: int) -> None:
        indptr, indices = self._exact.hessian_pattern()
        own = np.repeat(np.arange(n), np.diff(indptr)) * n + indices
        i, j = np.triu_indices(self._link.size)
        self._upper = i, j
        a, b = self._link[i], self._link[j]
        link = np.maximum(a, b) * n + np.minimum(a, b)
        keys = np.unique(np.concatenate((own, link)))
        columns, rows = np.divmod(keys, max(n, 1))
        self._hess_indptr = np.searchsorted(columns, np.arange(n + 1)).astype(np.intp)
        self._hess_indices = rows.astype(np.intp)
        self._hess_own = np.searchsorted(keys, own)
        self._hess_link = np.searchsorted(keys, link)
