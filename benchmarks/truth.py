r"""True errors of iterates, and the paper's rule for the best of them (eq. best_iterate).

    infeasibility  |c(x)|_inf            stationarity  |grad f(x) + J(x)'y_LS|_inf

The least-squares residual is the projection of grad f on the null space of J: with J' = QR it is
g - Q Q'g, so that whole stacks of iterates take one call. Q'g and R also give the true direction
d of eq. linear_system with H = I, and with it the true trial merit parameter. Rows that share no
variable are orthogonal: then Q is J' with columns of unit length, and R is diagonal.

Best iterate of a set: the smallest max(infeasibility, stationarity) if some iterate is feasible to
1e-4; otherwise the smallest infeasibility. It needs true values, which no method sees, and picks
the luckiest of thousands of points; so the last point and the tail are kept beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyomo_stochsqp.oracle import Problem

FEASIBLE = 1e-4
#: |R_jj| below this share of the largest counts as a dependent row
RANK = 1e-10

Array = NDArray[np.float64]


@dataclass(frozen=True)
class TrueValues:
    """Stacks over iterates."""

    infeasibility: Array
    stationarity: Array
    #: (1 - sigma) |c|_1 / (g'd + 1/2 |d|^2), infinite where the denominator is not positive
    trial: Array


def true_values(problem: Problem, g: Array, c: Array, J: Array, sigma: float = 0.1) -> TrueValues:
    """Errors of K iterates from stacked exact values: g (K, n), c (K, m), J (K, nonzeros)."""
    K, n, m = len(g), problem.n, problem.m
    row = np.repeat(np.arange(m), np.diff(problem.jac_indptr))
    transposed = np.zeros((K, n, m))
    transposed[:, problem.jac_indices, row] = J
    r = c - np.clip(c, problem.row_lower, problem.row_upper)
    fine = np.isfinite(g).all(1) & np.isfinite(r).all(1) & np.isfinite(transposed).all((1, 2))
    transposed[~fine] = 0.0
    with np.errstate(all="ignore"):
        share_none = np.bincount(problem.jac_indices, minlength=1).max() <= 1
        Q, R = (_lengths if share_none else np.linalg.qr)(transposed)
        residual = g - (Q @ (Q.transpose(0, 2, 1) @ g[:, :, None]))[:, :, 0]
        pivots = np.abs(np.diagonal(R, axis1=1, axis2=2))
        full_rank = fine & (pivots.min(1) > RANK * pivots.max(1))
        normal = np.zeros((K, m, 1))
        normal[full_rank] = np.linalg.solve(
            R[full_rank].transpose(0, 2, 1), -r[full_rank][:, :, None]
        )
        d = (Q @ normal)[:, :, 0] - residual
        for k in np.flatnonzero(fine & ~full_rank):
            y = np.linalg.lstsq(transposed[k], -g[k], rcond=None)[0]
            residual[k] = g[k] + transposed[k] @ y
            d[k] = np.linalg.lstsq(transposed[k].T, -r[k], rcond=None)[0] - residual[k]
        quadratic = (g * d).sum(1) + 0.5 * (d * d).sum(1)
        trial = np.where(quadratic > 0.0, (1.0 - sigma) * np.abs(r).sum(1) / quadratic, np.inf)
        infeasibility = np.where(fine, np.abs(r).max(1, initial=0.0), np.inf)
        stationarity = np.where(fine, np.abs(residual).max(1, initial=0.0), np.inf)
    return TrueValues(infeasibility, stationarity, trial)


def _lengths(transposed: Array) -> tuple[Array, Array]:
    """Q and R where the columns are orthogonal."""
    lengths = np.sqrt((transposed * transposed).sum(axis=1))
    R = lengths[:, None, :] * np.eye(lengths.shape[1])
    return transposed / np.where(lengths > 0.0, lengths, 1.0)[:, None, :], R


@dataclass(frozen=True)
class Candidates:
    """What the rule for the best iterate needs to know of a set: two pairs of errors."""

    least_error: tuple[float, float]
    least_infeasibility: tuple[float, float]

    @classmethod
    def of(cls, infeasibility: Array, stationarity: Array) -> Candidates:
        """The two candidates of one run."""
        a = int(np.argmin(np.maximum(infeasibility, stationarity)))
        b = int(np.argmin(infeasibility))
        pair = lambda k: (float(infeasibility[k]), float(stationarity[k]))  # noqa: E731
        return cls(pair(a), pair(b))


def best_of(candidates: Sequence[Candidates]) -> tuple[float, float]:
    """(infeasibility, stationarity) of the best iterate of the union of some runs."""
    nearest = min((c.least_infeasibility for c in candidates), key=lambda pair: pair[0])
    if nearest[0] <= FEASIBLE:
        return min((c.least_error for c in candidates), key=max)
    return nearest


def summary(infeasibility: Array, stationarity: Array, tail: int) -> dict[str, Any]:
    """Errors of one run: of the best iterate, of the last, mean and median over the last few."""
    both = (infeasibility, stationarity)
    return {
        "best": best_of([Candidates.of(*both)]),
        "last": [float(e[-1]) for e in both],
        "tail_mean": [float(np.mean(e[-tail:])) for e in both],
        "tail_median": [float(np.median(e[-tail:])) for e in both],
    }
