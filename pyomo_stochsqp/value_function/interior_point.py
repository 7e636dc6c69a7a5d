r"""Interior points for the second stages of many scenarios at once.

    min  q(y) + M sum (p + n)     s.t.  c(y) - s + p - n = 0,   low <= s <= up,   y within bounds,

p, n >= 0: rows are elastic, so that every scenario has a solution, and p + n > 0 in it only where
the rows cannot be met at all (the price M is higher than any multiplier). With multipliers m of the
rows and z of the bounds, a step of Newton's method for the perturbed optimality conditions

    grad q + J'm - z_low + z_up = 0,    c - s + p - n = 0,    (distance to a bound) * z = mu

reduces to one symmetric system in (dy, dm) for each scenario,

    [ H + Z/Y   J' ] [dy]            Z/Y, D > 0 diagonal: of bounds of y, of s, p and n
    [ J         -D ] [dm]  =  ...

The barrier mu falls scenario by scenario whenever its conditions hold well enough, down to a last
one that the caller chooses; steps are cut back to the bounds, and until a merit function falls. H
gets a multiple of the identity where it has negative curvature along the step.

The last barrier smooths: V_mu = q - mu sum log(distances) is as often differentiable as q and c
are, where V itself has kinks in x; its derivative is that of the Lagrangian.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..deadline import check_time
from .iterate import Box, Iterate, boxes, first_iterate
from .newton_step import Local, Step, newton_step
from .stage_functions import Numbers, StageFunctions

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

#: the barrier at first, and in the end where nothing is to be smoothed
FIRST, LAST = 1e-1, 1e-10
#: the barrier from which solutions of other scenarios go on, times the last one
FARTHER = 10.0
#: conditions hold if their residuals are below this multiple of mu; in the end, below this number,
#: or this multiple of mu
WELL_ENOUGH, ACCURACY, CENTRED = 10.0, 1e-9, 1e-6
#: what is accepted where rounding allows no more
ACCEPTABLE = 1e-6
#: iterations, those without progress after which the last accuracy is looked at, halvings
MOST, PATIENCE, HALVINGS = 150, 12, 14
#: share of the way to a bound; decrease of the merit function
BOUNDARY, ARMIJO = 0.995, 1e-4
#: elastic parts of a row that make it infeasible, in units of its scale
VIOLATED = 1e-6
#: variables this large run away; in units of where they began, where no solution is found
RUNAWAY, FAR = 1e12, 1e6


@dataclass(frozen=True, eq=False)
class Scales:
    """Units: cost and rows are multiplied by these; the price of elastic rows in these units."""

    cost: float
    rows: Array
    penalty: float


@dataclass(eq=False)
class Reaction:
    """The second stages of scenarios, at one x and prices."""

    at: Iterate
    mu: Array
    solved: Mask
    #: rows that cannot be met: by how much, in units of their scale
    violated: Array
    runaway: Mask
    iterations: int

    def some(self, which: Any) -> Reaction:
        """Those of some scenarios."""
        mu, solved, violated, runaway = (getattr(self, name)[which] for name in _PER_SCENARIO)
        return Reaction(self.at.some(which), mu, solved, violated, runaway, self.iterations)

    def put(self, which: Any, other: Reaction) -> None:
        """Replace those of some scenarios."""
        self.at.put(which, other.at)
        for name in _PER_SCENARIO:
            getattr(self, name)[which] = getattr(other, name)

    @classmethod
    def joined(cls, found: Sequence[Reaction]) -> Reaction:
        """Those of several samples, one after the other."""
        parts: list[Any] = [
            np.concatenate([getattr(f, name) for f in found]) for name in _PER_SCENARIO
        ]
        mu, solved, violated, runaway = parts
        at = Iterate.joined([f.at for f in found])
        return cls(at, mu, solved, violated, runaway, max(f.iterations for f in found))


_PER_SCENARIO = ("mu", "solved", "violated", "runaway")


class SecondStages:
    """Solves them for any x; see the module's docstring."""

    def __init__(self, stage: StageFunctions, scales: Scales):
        self._f, self._scales = stage, scales

    def weights(self, prices: Array, multipliers: Array) -> Array:
        """Multipliers of all functions in the Lagrangian, in scaled units."""
        cost, rows = self._scales.cost, self._scales.rows
        first = np.concatenate(([cost], cost * prices))
        return np.hstack((np.broadcast_to(first, (len(multipliers), first.size)),
                          multipliers * rows))  # fmt: skip

    def local(self, x: Array, prices: Array, at: Iterate, w: Any) -> Local:
        """Values and derivatives at an iterate, in scaled units."""
        f = self._f
        weights = self.weights(prices, at.multipliers)
        d = f.functions.derivatives(x, at.y, w, weights)
        assert d.curvature is not None
        first = 1 + f.priced
        return Local(
            cost=d.values[:, :first] @ weights[0, :first],
            c=d.values[:, first:] * self._scales.rows,
            cost_gradient=np.einsum("k,skj->sj", weights[0, :first], d.slopes[:, :first, f.nx :]),
            J=d.slopes[:, first:, f.nx :] * self._scales.rows[:, None],
            H=d.curvature[:, f.nx :, f.nx :],
            whole=d,
        )

    def solve(
        self, x: Array, prices: Array, numbers: Numbers, last: float,
        warm: Reaction | None = None, near: Reaction | None = None,
    ) -> Reaction:  # fmt: skip
        """The second stage of every scenario, down to the barrier ``last``; ``warm`` are their
        solutions at another x, ``near`` are solutions of other scenarios."""
        of_y, of_s = boxes(numbers, self._scales.rows)
        if warm is not None:
            at, begin = warm.at.copy(), np.maximum(warm.mu, last)
        elif near is not None:
            c = self._rows(x, near.at.y, numbers)
            at, begin = near.at.adapted(c, of_y, of_s), np.maximum(near.mu, FARTHER * last)
        else:
            return self._cold(x, prices, numbers, of_y, of_s, last)
        found = self._run(x, prices, numbers, of_y, of_s, at, begin, last)
        again = np.flatnonzero(~found.solved)
        if again.size:
            part = self._cold(
                x, prices, numbers.some(again), of_y.some(again), of_s.some(again), last
            )
            found.put(again, part)
        return found

    def _cold(
        self, x: Array, prices: Array, numbers: Numbers, of_y: Box, of_s: Box, last: float
    ) -> Reaction:
        y = of_y.inside(np.tile(self._f.y_start[:, None], numbers.count).T)
        c = self._rows(x, y, numbers)
        mu = np.full(numbers.count, max(FIRST, last))
        at = first_iterate(y, c, of_y, of_s, float(mu[0]), self._scales.penalty)
        return self._run(x, prices, numbers, of_y, of_s, at, mu, last)

    def _rows(self, x: Array, y: Array, numbers: Numbers) -> Array:
        values = self._f.functions.values(x, y, numbers.w)
        return np.asarray(values[:, 1 + self._f.priced :] * self._scales.rows)

    def _run(
        self, x: Array, prices: Array, numbers: Numbers, of_y: Box, of_s: Box, at: Iterate,
        mu: Array, last: float,
    ) -> Reaction:  # fmt: skip
        count, shift, mu = numbers.count, np.zeros(numbers.count), mu.copy()
        accuracy = max(ACCURACY, min(CENTRED * last, ACCEPTABLE))
        best, since = np.full(count, np.inf), np.zeros(count, dtype=int)
        solved, runaway = np.zeros(count, dtype=bool), np.zeros(count, dtype=bool)
        active, iterations = np.arange(count), 0
        while active.size and iterations < MOST:
            check_time()
            iterations += 1
            everything = active.size == count
            own = numbers if everything else numbers.some(active)
            box_y, box_s = (of_y, of_s) if everything else (of_y.some(active), of_s.some(active))
            here = at.some(active)
            local = self.local(x, prices, here, own.w)
            own_mu = mu[active]
            error, own_mu = self._conditions(local, here, box_y, box_s, own_mu, last)
            mu[active] = own_mu
            at_end = own_mu <= last
            better = ~at_end | (error < 0.9 * best[active])
            since[active] = np.where(better, 0, since[active] + 1)
            best[active] = np.where(at_end, np.minimum(best[active], error), np.inf)
            done = at_end & (error <= accuracy)
            done |= at_end & (since[active] >= PATIENCE) & (error <= ACCEPTABLE)
            gone = ~(np.abs(here.y).max(axis=1, initial=0.0) < RUNAWAY) | np.isnan(error)
            solved[active], runaway[active] = done & ~gone, gone
            go = ~(done | gone)
            if not go.any():
                active = active[go]
                break
            if not go.all():
                active, here, own = active[go], here.some(go), own.some(go)
                box_y, box_s, local = box_y.some(go), box_s.some(go), local.some(go)
            step, shift[active] = newton_step(local, here, box_y, box_s, mu[active], shift[active])
            at.put(active, self._moved(x, prices, own, here, local, step, box_y, box_s, mu[active]))
        # p (M + m) = mu: what is left of p and n at the barrier is no violation
        least = 2.0 * mu[:, None] / self._scales.penalty
        violated = at.p + at.n
        violated = np.where(violated > VIOLATED + 10.0 * least, violated, 0.0)
        violated = np.maximum(violated, of_s.crossed)
        solved &= ~(of_y.crossed > 0.0).any(axis=1)
        begun = 1.0 + float(np.abs(self._f.y_start).max(initial=0.0))
        runaway |= ~solved & (np.abs(at.y).max(axis=1, initial=0.0) > FAR * begun)
        return Reaction(at, mu, solved, violated, runaway, iterations)

    def _conditions(
        self, local: Local, at: Iterate, of_y: Box, of_s: Box, mu: Array, last: float
    ) -> tuple[Array, Array]:
        """The error of the perturbed conditions, for mu after it has fallen as far as it may."""
        stationary = local.cost_gradient + np.einsum("ski,sk->si", local.J, at.multipliers)
        stationary = np.where(of_y.fixed, 0.0, stationary - at.y_low + at.y_up)
        of_slack = np.where(of_s.fixed, 0.0, at.multipliers + at.s_low - at.s_up)
        rows = local.c - at.s + at.p - at.n
        size = 1.0 + 0.01 * np.abs(at.multipliers).max(axis=1, initial=0.0)
        fixed_part = np.maximum(
            np.maximum(_largest(stationary), _largest(of_slack)) / size, _largest(rows)
        )
        products = [
            np.where(of_y.has_low, of_y.below(at.y) * at.y_low, np.nan),
            np.where(of_y.has_up, of_y.above(at.y) * at.y_up, np.nan),
            np.where(of_s.has_low, of_s.below(at.s) * at.s_low, np.nan),
            np.where(of_s.has_up, of_s.above(at.s) * at.s_up, np.nan),
            at.p * at.of_p,
            at.n * at.of_n,
        ]
        with np.errstate(invalid="ignore"):
            together = np.hstack(products)
            for _ in range(20):
                off = _largest(np.where(np.isnan(together), 0.0, together - mu[:, None]))
                error = np.maximum(fixed_part, off)
                falls = (error <= WELL_ENOUGH * mu) & (mu > last)
                if not falls.any():
                    break
                mu = np.where(falls, np.maximum(np.minimum(0.1 * mu, mu**1.5), last), mu)
        return error, mu

    def _moved(
        self, x: Array, prices: Array, numbers: Numbers, at: Iterate, local: Local, step: Step,
        of_y: Box, of_s: Box, mu: Array,
    ) -> Iterate:  # fmt: skip
        """The next iterate: as far along the step as bounds and the merit function allow."""
        primal, dual = step.lengths(at, of_y, of_s, BOUNDARY)
        price = 1.5 * np.abs(at.multipliers + step.multipliers) + mu[:, None]
        before = self._merit(at, local.cost, local.c, of_y, of_s, mu, price)
        slope = step.slope(local, at, of_y, of_s, mu, price, self._scales.penalty)
        length, trying = primal.copy(), np.arange(len(primal))
        slack = 1e-12 * (1.0 + np.abs(before))
        for _ in range(HALVINGS):
            trial = step.primal(at, length).some(trying)
            values = self._f.functions.values(x, trial.y, [column[trying] for column in numbers.w])
            first = np.concatenate(([1.0], prices)) * self._scales.cost
            merit = self._merit(
                trial, values[:, : first.size] @ first, values[:, first.size :] * self._scales.rows,
                of_y.some(trying), of_s.some(trying), mu[trying], price[trying],
            )  # fmt: skip
            wanted = before[trying] + ARMIJO * length[trying] * slope[trying] + slack[trying]
            failed = ~(merit <= wanted)
            if not failed.any():
                break
            trying = trying[failed]
            length[trying] *= 0.5
        return step.taken(at, length, dual, of_y, of_s, mu)

    def value(self, found: Reaction, cost: Array, numbers: Numbers) -> Array:
        """V_mu in the user's units; logarithms are relative to the square root of mu, which makes
        them about as often positive as negative."""
        of_y, of_s = boxes(numbers, self._scales.rows)
        at, mu, M = found.at, found.mu, self._scales.penalty
        logs = np.zeros(len(mu))
        for d, there in (
            (of_y.below(at.y), of_y.has_low), (of_y.above(at.y), of_y.has_up),
            (of_s.below(at.s), of_s.has_low), (of_s.above(at.s), of_s.has_up),
        ):  # fmt: skip
            logs += np.where(there, np.log(d / np.sqrt(mu)[:, None]), 0.0).sum(axis=1)
        for elastic in (at.p, at.n):
            logs += np.log(elastic * (M / mu)[:, None]).sum(axis=1)
        scaled = M * (at.p + at.n - 2.0 * mu[:, None] / M).sum(axis=1) - mu * logs
        return np.asarray(cost + scaled / self._scales.cost)

    def _merit(
        self, at: Iterate, cost: Array, c: Array, of_y: Box, of_s: Box, mu: Array, price: Array
    ) -> Array:
        with np.errstate(invalid="ignore", divide="ignore"):
            logs = sum(
                np.log(d).sum(axis=1)
                for d in (of_y.below(at.y), of_y.above(at.y), of_s.below(at.s), of_s.above(at.s),
                          at.p, at.n)
            )  # fmt: skip
            rows = (price * np.abs(c - at.s + at.p - at.n)).sum(axis=1)
            elastic = self._scales.penalty * (at.p + at.n).sum(axis=1)
            return np.asarray(cost + elastic - mu * logs + rows)


def _largest(v: Array) -> Array:
    return np.abs(v).max(axis=1, initial=0.0)
