r"""The second stage, solved again and again for a fixed x.

    Q(x, w) = min_y { q(w)'y : lower(w) - T(w) x <= W(w) y <= upper(w) - T(w) x, bounds of y }

One program stays in HiGHS; from scenario to scenario only the numbers that differ are changed, and
the dual simplex starts from the last basis. Q = inf if no y is feasible: then a ray s proves it,

    s'(lower or upper - T x) > s'W y  for all y,

which is a linear condition on x that every feasible x fulfils (a feasibility cut).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..deadline import OutOfTime, check_time, seconds_left
from ..declare.recourse import AffineTwoStage
from ..value_function import Cut
from .programs import LinearProgram, Status, loaded, run_highs, status_of
from .scenarios import Scenarios

Array = NDArray[np.float64]


@dataclass(eq=False)
class Reaction:
    """The second stage of a sample: values, and what else was asked for."""

    #: Q in every scenario: inf where infeasible, -inf where unbounded
    values: Array
    #: multipliers of the rows; decisions
    duals: Array | None = None
    decisions: Array | None = None
    #: one for every infeasible scenario (as many as were wanted)
    cuts: list[Cut] = field(default_factory=list)


class SecondStage:
    """The recourse of one program, kept warm."""

    def __init__(self, program: AffineTwoStage):
        self._p = program
        W = program.W
        self._rows = np.arange(W.shape[0], dtype=np.int32)
        self._columns = np.arange(W.shape[1], dtype=np.int32)
        at = W.entries.positions
        self._random_entries = list(zip(W.rows[at].tolist(), W.columns[at].tolist(), strict=True))
        base = LinearProgram(
            program.q.base, W.fixed,
            program.lower.base, program.upper.base, program.y_lower.base, program.y_upper.base,
            program.y_integer,
        )  # fmt: skip
        self._integer = bool(program.y_integer.any())
        options = {} if self._integer else {"presolve": "off", "solver": "simplex"}
        self._solver = loaded(base, **options)

    def react(
        self, x: Array, to: Scenarios, duals: bool = False, decisions: bool = False, cuts: int = 0
    ) -> Reaction:
        """Solve the second stage of every scenario at x."""
        p, solver, n = self._p, self._solver, to.count
        shift = to.shifts(x)
        lower, upper = to.lower - shift, to.upper - shift
        found = Reaction(np.empty(n))
        if duals:
            found.duals = np.zeros((n, self._rows.size))
        if decisions:
            found.decisions = np.full((n, self._columns.size), np.nan)
        costs, bounds = bool(p.q.random), bool(p.y_lower.random or p.y_upper.random)
        for s in range(n):
            if s % 64 == 0:
                check_time()
            if costs:
                solver.changeColsCost(self._columns.size, self._columns, to.q[s])
            if bounds:
                solver.changeColsBounds(
                    self._columns.size, self._columns, to.y_lower[s], to.y_upper[s]
                )
            for (i, j), entry in zip(self._random_entries, to.W[s], strict=True):
                solver.changeCoeff(i, j, entry)
            solver.changeRowsBounds(self._rows.size, self._rows, lower[s], upper[s])
            status = self._decided()
            if status is Status.OPTIMAL:
                found.values[s] = solver.getObjectiveValue()
                if duals or decisions:
                    solution = solver.getSolution()
                    if found.duals is not None:
                        found.duals[s] = solution.row_dual
                    if found.decisions is not None:
                        found.decisions[s] = solution.col_value
            elif status is Status.UNBOUNDED:
                found.values[s] = -np.inf
            else:
                found.values[s] = np.inf
                if len(found.cuts) < cuts:
                    cut = self._cut(x, to, s, lower[s], upper[s])
                    if cut is not None:
                        found.cuts.append(cut)
        return found

    def _decided(self) -> Status:
        """Run; trouble that comes from the old basis is tried again without it."""
        status = self._run()
        if status is Status.FAILED:
            self._solver.clearSolver()
            status = self._run()
        return status

    def _run(self) -> Status:
        if not self._integer:
            self._solver.run()
            return status_of(self._solver)
        left = seconds_left()  # one program may take for ever
        if np.isfinite(left):
            self._solver.setOptionValue("time_limit", max(left, 0.0))
        run_highs(self._solver)
        status = status_of(self._solver)
        if status is Status.LIMIT:
            raise OutOfTime
        if status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        return status

    def _cut(self, x: Array, to: Scenarios, s: int, lower: Array, upper: Array) -> Cut | None:
        """The condition on x that scenario s proves."""
        ray = self._ray()
        if ray is None:
            return None
        p = self._p
        values = p.W.entries.base.copy()
        values[p.W.entries.positions] = to.W[s]
        reach = sparse.csr_matrix((values, (p.W.rows, p.W.columns)), p.W.shape).T @ ray
        for sign in (1.0, -1.0):
            excess = _excess(sign * ray, sign * reach, to, s, lower, upper)
            if excess is not None:
                slope = -(self._T(to, s).T @ (sign * ray))
                return Cut(slope, float(slope @ x) - excess, int(np.argmax(np.abs(ray))))
        return None

    def _T(self, to: Scenarios, s: int) -> Any:
        T = self._p.T
        if not T.entries.random:
            return T.fixed
        values = T.entries.base.copy()
        values[T.entries.positions] = to.T[s]
        return sparse.csr_matrix((values, (T.rows, T.columns)), T.shape)

    def _ray(self) -> Array | None:
        if self._integer:
            return None
        answer = self._solver.getDualRay()
        if not answer[1]:
            return None
        ray = np.array(answer[2])
        size = np.abs(ray).max()
        return ray / size if np.isfinite(size) and size > 0 else None


def _excess(
    ray: Array, reach: Array, to: Scenarios, s: int, lower: Array, upper: Array
) -> float | None:
    """How far what the rows demand along the ray exceeds what the bounds of y allow.

    With r = ray the rows demand r'W y >= sum r+ lower + sum r- upper, and the bounds of y allow at
    most sum reach+ y_upper + sum reach- y_lower. None: the ray proves nothing.
    """
    demand = _dot(_positive(ray), lower) - _dot(_positive(-ray), upper)
    possible = _dot(_positive(reach), to.y_upper[s]) - _dot(_positive(-reach), to.y_lower[s])
    excess = demand - possible
    return float(excess) if np.isfinite(excess) and excess > 0.0 else None


def _positive(v: Array) -> Array:
    """Its positive part, without rounding errors."""
    return np.where(v > 1e-9 * max(1.0, float(np.abs(v).max(initial=0.0))), v, 0.0)


def _dot(a: Array, b: Array) -> float:
    """The scalar product where 0 times infinity is 0."""
    used = a != 0.0
    return float(a[used] @ b[used])
