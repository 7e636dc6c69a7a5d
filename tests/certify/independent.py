r"""A certificate once more, written from the heads of the package's files: NumPy and loops.

The program is noisy on purpose, with noise of its own in f, g, c and J of every scenario, and
quadratic, so that the Newton step of a replicate is the solution of one linear system:

    [ M    J_A' ] [ d_i    ]       [ g_i + J_i'y  ]
    [ J_A  0    ] [ dy_i   ]  = -  [ c_i - target ]          on the variables that are not held
"""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

import numpy as np
from scipy import stats

from pyomo_stochsqp.oracle import SPREAD_STREAM, Estimate, Problem, Sample, SourceInfo


class NoisyQuadratic:
    """f = 1/2 x'Hx + g'x + constant, c_i = 1/2 x'Q_i x + a_i'x, plus normal noise of deviations.

    ``noise`` are the standard deviations of single scenarios in f, g, c and J. J is stored on the
    pattern of A (an entry of A that is zero is not stored).
    """

    def __init__(self, H, g, A, rows, bounds, noise, Q=None, constant=0.0, seed=0):
        self.H, self.g, self.A = (np.array(v, dtype=float) for v in (H, g, A))
        self.Q = np.zeros((len(self.A), *self.H.shape)) if Q is None else np.array(Q, dtype=float)
        self.constant, self.noise, self.seed = constant, noise, seed
        m, n = self.A.shape
        self.rows_of, self.columns_of = np.nonzero(self.A)
        self.problem = replace(
            Problem.equalities(np.zeros(n), m),
            x_lower=np.array(bounds[0], dtype=float),
            x_upper=np.array(bounds[1], dtype=float),
            row_lower=np.array(rows[0], dtype=float),
            row_upper=np.array(rows[1], dtype=float),
            jac_indptr=np.concatenate(([0], np.cumsum((self.A != 0).sum(axis=1)))),
            jac_indices=self.columns_of,
            objective_constant=constant,
        )
        self.sources = (SourceInfo("w", None),)

    def draw(self, stream, k, batch):
        rng = np.random.default_rng((self.seed, stream, k))
        n, m, entries = self.problem.n, self.problem.m, self.rows_of.size
        return Sample(rng.standard_normal((batch[0], 1 + n + m + entries)).mean(axis=0), batch[0])

    def exactly(self, x):
        """f, g, c and J as a matrix, without noise."""
        f = 0.5 * x @ self.H @ x + self.g @ x + self.constant
        c = 0.5 * np.einsum("i,kij,j->k", x, self.Q, x) + self.A @ x
        return f, self.H @ x + self.g, c, np.einsum("kij,j->ki", self.Q, x) + self.A

    def estimate(self, x, sample, objective=False):
        f, g, c, J = self.exactly(x)
        n, m = g.size, c.size
        of_f, of_g, of_c, of_J = self.noise
        e = sample.payload if sample.scenarios else np.zeros(1 + n + m + self.rows_of.size)
        return Estimate(
            g + of_g * e[1 : 1 + n],
            c + of_c * e[1 + n : 1 + n + m],
            J[self.rows_of, self.columns_of] + of_J * e[1 + n + m :],
            f + of_f * e[0],
        )

    def hessian_pattern(self):
        n = self.problem.n
        return np.cumsum(np.arange(n + 1)), np.concatenate([np.arange(j + 1) for j in range(n)])

    def hessian(self, x, y, sample):
        columns, rows = np.tril_indices(self.problem.n)
        return self.lagrangian_hessian(y)[rows, columns]

    def lagrangian_hessian(self, y):
        return self.H + np.tensordot(y, self.Q, 1)

    def matrix(self, values):
        J = np.zeros(self.A.shape)
        J[self.rows_of, self.columns_of] = values
        return J


def student(confidence, count, numbers):
    """Bonferroni, and 1.3 times as much for up to 16 replicates."""
    t = stats.t.ppf(1 - (1 - confidence) / 2 / max(numbers, 1), count - 1)
    return 1.3 * t if count <= 16 else t


def error_of_mean(values):
    values = np.asarray(values)
    return np.sqrt(((values - values.mean(axis=0)) ** 2).sum(axis=0) / (len(values) - 1)) / sqrt(
        len(values)
    )


def quadratic_part(steps, M, t):
    """(1/2 (|mean|_M + q)^2, 1/2 q^2), q^2 = tr C + (t^2 - 1) |C|_F in the metric of M."""
    R = len(steps)
    L = np.linalg.cholesky(M)  # M = L L', so that |d|_M = |L'd|
    z = np.asarray(steps) @ L
    C = np.cov(z, rowvar=False, ddof=1).reshape(z.shape[1], z.shape[1]) / R
    trace = float(np.trace(C))
    # what R - 1 degrees of freedom add to |C|_F^2 on average is taken off, if that leaves enough
    norm = sqrt(max(float((C**2).sum()) - trace**2 / (R - 1), trace**2 / z.shape[1]))
    q2 = trace + (t * t - 1) * norm
    centre = float(np.linalg.norm(z.mean(axis=0)))
    return 0.5 * (centre + sqrt(q2)) ** 2, 0.5 * q2


def newton(y, M, J, values, active, held):
    """(d_i, mean of dy_i, c_i - target, free variables).

    ``active``: rows -> targets; ``held``: variables -> way to go; J is that of the system.
    """
    n = len(M)
    free = [j for j in range(n) if j not in held]
    a = list(active)
    shift = np.array([held.get(j, 0.0) for j in range(n)])
    K = np.zeros((len(free) + len(a),) * 2)
    K[: len(free), : len(free)] = M[np.ix_(free, free)]
    K[len(free) :, : len(free)] = J[np.ix_(a, free)]
    K[: len(free), len(free) :] = J[np.ix_(a, free)].T
    steps, more, offs = [], [], []
    for v in values:
        off = np.array([v.c[i] - active[i] for i in a]) + J[a] @ shift
        u = np.linalg.solve(K, -np.concatenate(((v.g + v.J.T @ y + M @ shift)[free], off)))
        step = shift.copy()
        step[free] = u[: len(free)]
        steps.append(step)
        dy = np.zeros(y.size)
        dy[a] = u[len(free) :]
        more.append(dy)
        off_all = np.zeros(y.size)
        off_all[a] = [v.c[i] - active[i] for i in a]
        offs.append(off_all)
    return np.array(steps), np.mean(more, axis=0), np.array(offs), free


class Values:
    """f, g, c and J of one replicate, J as a matrix."""

    def __init__(self, oracle, estimate):
        self.f, self.g, self.c = estimate.f, estimate.g, estimate.c
        self.J = oracle.matrix(estimate.J)


def expected(oracle, x, y, samples, look, active, held, sparse=False, multipliers=None):
    """Every number of a certificate, by name. ``active`` and ``held`` are known to the test.

    ``multipliers`` replace those after the step, and y in the noise of the gradients.
    """
    problem, R = oracle.problem, len(samples)
    n, m = problem.n, problem.m
    values = [Values(oracle, oracle.estimate(x, s, objective=True)) for s in samples]
    f, g, c, J = (
        np.mean([getattr(v, name) for v in values], axis=0) for name in ("f", "g", "c", "J")
    )
    # spreads of single scenarios, from 32 means of two
    drawn = [oracle.draw(SPREAD_STREAM, 32 * look.number + i, [2]) for i in range(32)]
    pairs = [Values(oracle, oracle.estimate(x, s, objective=True)) for s in drawn]
    spread_f = sqrt(2) * np.std([v.f for v in pairs], ddof=1)
    spread_c = sqrt(2) * np.std([v.c for v in pairs], axis=0, ddof=1)

    limits = np.array(
        [
            max((abs(b) for b in pair if np.isfinite(b)), default=0.0)
            for pair in zip(problem.row_lower, problem.row_upper, strict=True)
        ]
    )
    terms = np.array([sum(abs(J[i, j] * x[j]) for j in range(n)) for i in range(m)])
    row_size = np.array([max(limits[i], terms[i], spread_c[i]) for i in range(m)])
    size = max(abs(f - oracle.constant), spread_f)
    r = np.maximum(look.sizes.reach, np.abs(x))

    M = oracle.lagrangian_hessian(y)
    t_one, t_c = (student(look.confidence, R, k) for k in (1, m))
    steps, dy, offs, free = newton(y, M, J, values, active, held)
    after = y + dy if multipliers is None else multipliers
    if not sparse:
        # full matrices look again with the multipliers after the step; the step stays the same,
        # but for J_i'dy, whose noise it now has
        steps, _, offs, free = newton(after, M, J, values, active, held)
    y_used = y if sparse else after
    move, error = steps.mean(axis=0), error_of_mean(steps)
    t_x = student(look.confidence, R, n if sparse else len(free))
    linear = -(offs @ after)
    linear_noise = t_one * float(error_of_mean(linear))
    curved, noise = quadratic_part(steps[:, free], M[np.ix_(free, free)], t_one)
    shift = np.array([held.get(j, 0.0) for j in range(n)])
    slope = g + J.T @ after
    at_bounds = float(np.abs(slope * shift).sum()) if sparse else abs(float(slope @ shift))

    # spreads of d over single scenarios, for variables that are as good as zero
    single, *_ = newton(y_used, M, J, pairs, active, held)
    spread_d = sqrt(2) * np.std(single, axis=0, ddof=1)
    zero = np.maximum(np.abs(x), np.abs(x + move)) <= 10 * error
    spread_d = np.where(zero, spread_d, 0.0)

    least, most = _by_rows(J, x, row_size)
    seen = np.maximum(r, 0.1 * spread_d)
    variable_size = np.array(
        [
            max(
                abs(x[j]),
                abs(x[j] + move[j]),
                0.1 * sqrt(size / abs(M[j, j])) if M[j, j] else 0.0,
                0.1 * spread_d[j],
                min(0.1 * least[j], seen[j] if seen[j] > 0 else np.inf),
            )
            for j in range(n)
        ]
    )
    low, high = c - t_c * error_of_mean([v.c for v in values]), None
    high = 2 * c - low
    distance = lambda v: np.maximum(np.maximum(problem.row_lower - v, v - problem.row_upper), 0)  # noqa: E731
    nearest = [
        0.0 if high[i] >= problem.row_lower[i] and low[i] <= problem.row_upper[i]
        else min(distance(low)[i], distance(high)[i])
        for i in range(m)
    ]  # fmt: skip
    return {
        "y": after,
        "reduced_costs": g + J.T @ after,
        "objective": f,
        "objective_error": error_of_mean([v.f for v in values]),
        "objective_spread": spread_f,
        "violation": distance(c),
        "violation_lower": nearest,
        "violation_bound": np.maximum(distance(low), distance(high)),
        "row_size": row_size,
        "row_rounding": [
            sum(
                abs(J[i, j]) * max(1e-15 * r[j], 1e-15 * most[j], 1e-12 * variable_size[j])
                for j in range(n)
            )
            for i in range(m)
        ],
        "move": move,
        "displacement_error": error,
        "displacement": np.abs(move) + t_x * error,
        "variable_size": variable_size,
        "variable_rounding": 3e-14 * r,
        "gap": curved + abs(linear.mean()) + linear_noise + at_bounds,
        "gap_noise": noise + linear_noise,
        "gap_along": curved + at_bounds,
        "gap_along_noise": noise,
        "objective_size": size,
        "objective_rounding": 1e-15
        * min(
            sum(abs(g[j]) * r[j] + 0.5 * abs(M[j, j]) * r[j] ** 2 for j in range(n)),
            max(look.sizes.objective, abs(f)),
        ),
        "scenarios": sum(s.scenarios for s in samples),
        "replicates": R,
        "flat": 0,
        "confidence": look.confidence,
    }


def _by_rows(J, x, size):
    """The least and the largest value of a variable that would make up a row by itself."""
    least, most = np.zeros(x.size), np.zeros(x.size)
    for j in range(x.size):
        own = [
            size[i] / abs(J[i, j])
            for i in range(size.size)
            if J[i, j] != 0 and size[i] > abs(J[i, j] * x[j])
        ]
        if own:
            least[j], most[j] = min(own), max(own)
    return least, most
