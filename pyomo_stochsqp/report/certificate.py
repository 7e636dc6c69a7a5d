r"""Certificates: how feasible and how stationary a point is, with confidence bounds.

Two errors at x, with least-squares multipliers y (argmin |grad f + J'y|):

    infeasibility  max_i dist(c_i(x), [lower_i, upper_i])     stationarity  |grad f(x) + J(x)'y|_inf

If every source is finite and a full pass is affordable, both are exact. Otherwise they are
estimated on R independent replicates of a validation stream that the iterations never see. With
mean and standard error of each component over the replicates, the upper bounds are

    max_i ( |mean_i| + t se_i ),

t the Student quantile with R - 1 degrees of freedom at joint level 95 % (Bonferroni over the
components).

Tolerances are relative. An infeasibility counts in units of the row's gradient times
max(1, |x|_inf), which makes it the relative distance to the row's surface; a stationarity error in
units of the objective's gradient. Both gradients are those near the starting point, a row's the one
at x if that is smaller (but not less than one).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import stats

from ..oracle import VALIDATION_STREAM, Estimate, EvaluationIssue, Jacobian, Oracle, Vector

REPLICATES = 16
LEVEL = 0.95


@dataclass(frozen=True)
class Units:
    """The size of the rows' and the objective's gradients: what makes errors comparable."""

    rows: Vector
    objective: float


Multipliers = Callable[[Vector, Estimate], tuple[Vector, Vector]]


@dataclass(frozen=True)
class Certificate:
    """Errors of one point. Bounds equal the errors when they are exact."""

    x: Vector
    y: Vector
    infeasibility: float
    stationarity: float
    infeasibility_bound: float
    stationarity_bound: float
    #: the bounds in units of the problem, which the tolerances speak of
    relative_infeasibility: float
    relative_stationarity: float
    #: grad f + J'y, the reduced costs of a minimisation
    reduced_costs: Vector
    objective: float
    objective_error: float
    #: row with the largest violation, or -1
    worst_row: int
    rows: int
    exact: bool

    #: how far the violation is from being stationary itself, relative to the rows' gradients
    infeasible_slope: float = np.inf

    @property
    def lower_infeasibility(self) -> float:
        """The lower confidence bound of the relative infeasibility."""
        if not self.infeasibility_bound > 0.0:
            return 0.0
        share = 2.0 * self.infeasibility / self.infeasibility_bound - 1.0
        return share * self.relative_infeasibility

    @property
    def error(self) -> float:
        """The larger of the two errors."""
        return max(self.infeasibility, self.stationarity)

    @property
    def error_bound(self) -> float:
        """The larger of their two upper bounds."""
        return max(self.infeasibility_bound, self.stationarity_bound)


class Certifier:
    """Makes certificates of points for one problem."""

    def __init__(self, oracle: Oracle, multipliers: Multipliers, units: Units | None = None):
        self._oracle = oracle
        self._multipliers = multipliers
        self._units = units or Units(np.ones(oracle.problem.m), 1.0)
        self._jacobian = Jacobian(oracle.problem)

    @property
    def full_pass(self) -> int | None:
        """Scenario rows of a full pass, if there is one."""
        sizes = [s.size for s in self._oracle.sources]
        if any(s is None for s in sizes):
            return None
        return sum(s for s in sizes if s is not None)

    def row_name(self, row: int) -> str:
        """The name of a row, where rows have names."""
        names = self._oracle.problem.row_names
        return names[row] if 0 <= row < len(names) else f"row {row}"

    def certify(self, x: Vector, rows: int, number: int) -> Certificate | None:
        """A certificate that may use about ``rows`` scenarios; None where x is out of domain.

        ``number`` (the iteration) chooses the validation sample: a resumed run sees the same.
        """
        full = self.full_pass
        if full is not None and full <= rows:
            estimate = self._oracle.full(x, objective=True)
            return self._assemble(x, [estimate], full)
        size = max(2, rows // (REPLICATES * len(self._oracle.sources)))
        batch = [size] * len(self._oracle.sources)
        estimates = [
            self._oracle.estimate(
                x,
                self._oracle.draw(VALIDATION_STREAM, number * REPLICATES + r, batch),
                objective=True,
            )
            for r in range(REPLICATES)
        ]
        return self._assemble(x, estimates, REPLICATES * sum(batch))

    def _assemble(self, x: Vector, estimates: list[Estimate], rows: int) -> Certificate | None:
        if any(e.issue is not None for e in estimates):
            return None
        problem = self._oracle.problem
        mean = Estimate(
            np.mean([e.g for e in estimates], axis=0),
            np.mean([e.c for e in estimates], axis=0),
            np.mean([e.J for e in estimates], axis=0),
        )
        y, residual = self._multipliers(x, mean)
        violation = problem.violation(mean.c)
        worst = int(violation.argmax()) if problem.m else -1
        f, f_error = _mean_and_error([float(e.f) for e in estimates if e.f is not None])
        c_error, residual_error = np.zeros(problem.m), np.zeros(problem.n)
        if len(estimates) > 1:
            spread_c = _standard_error([e.c for e in estimates])
            spread_r = _standard_error([e.g + self._jacobian.transposed(e.J, y) for e in estimates])
            c_error = spread_c * _quantile(problem.m)
            residual_error = spread_r * _quantile(problem.n)
        stationarity_bound = float((np.abs(residual) + residual_error).max(initial=0.0))
        rows_unit = self._row_units(x, mean)
        return Certificate(
            x=x,
            y=y,
            infeasibility=float(violation.max(initial=0.0)),
            stationarity=float(np.abs(residual).max(initial=0.0)),
            infeasibility_bound=float((violation + c_error).max(initial=0.0)),
            stationarity_bound=stationarity_bound,
            relative_infeasibility=float(((violation + c_error) / rows_unit).max(initial=0.0)),
            relative_stationarity=stationarity_bound / self._units.objective,
            reduced_costs=mean.g + self._jacobian.transposed(mean.J, y),
            objective=f,
            objective_error=f_error,
            worst_row=worst,
            rows=rows,
            exact=len(estimates) == 1,
            infeasible_slope=self._infeasible_slope(x, mean, rows_unit),
        )

    def _row_units(self, x: Vector, mean: Estimate) -> Vector:
        """What a violation counts in: the row's gradient near the start or, if less, at x.

        A row may be very steep where a run begins and flat where it ends. At least 1 is kept, so
        that gradients that vanish at x do not ask for more than an absolute tolerance.
        """
        here = np.sqrt(self._jacobian.times(mean.J**2, np.ones(x.size)))
        units = np.minimum(self._units.rows, np.maximum(here, 1.0))
        return units * max(1.0, float(np.abs(x).max(initial=0.0)))

    def _infeasible_slope(self, x: Vector, mean: Estimate, rows_unit: Vector) -> float:
        """|P(x - J'r) - x|_inf over sum_i |grad c_i| |r_i|, r the signed violation of the rows.

        It vanishes at stationary points of the violation: where r is not zero there, the rows
        cannot be satisfied nearby.
        """
        problem = self._oracle.problem
        r = problem.excess(mean.c)
        size = float(np.abs(r) @ rows_unit)
        if not size > 0.0:
            return np.inf
        slope = problem.project(x - self._jacobian.transposed(mean.J, r)) - x
        return float(np.abs(slope).max(initial=0.0)) / size

    def issue_at(self, x: Vector, number: int = 0) -> EvaluationIssue | None:
        """What keeps the objective or a row from being evaluated at x, if anything does."""
        batch = [REPLICATES] * len(self._oracle.sources)
        sample = self._oracle.draw(VALIDATION_STREAM, number, batch)
        return self._oracle.estimate(x, sample, objective=True).issue


def _standard_error(values: list[Vector]) -> Vector:
    return np.std(values, axis=0, ddof=1) / np.sqrt(len(values))


def _mean_and_error(values: list[float]) -> tuple[float, float]:
    spread = float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0
    return float(np.mean(values)), spread


def _quantile(components: int) -> float:
    return float(stats.t.ppf(1 - (1 - LEVEL) / (2 * max(components, 1)), REPLICATES - 1))
