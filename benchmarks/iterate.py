r"""One whole iteration of Algorithm 1 against an expert's hand-written NumPy loop.

Two problems: the constrained classification problem of the paper's LIBSVM study (n = 123, ten
sampled rows and the sphere, batches 16 and 128), and a small one (n = 5, m = 3). Both sides run the
literal algorithm (H = I, the 1.1^t grid, given L and Gamma) on samples of the same size; ours
includes the sampler and the history. Printed: microseconds of CPU time per iteration and the ratio,
each the median over interleaved repeats in one process, one thread.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python -m benchmarks.iterate
"""

from __future__ import annotations

import time
from collections.abc import Callable
from math import floor, log, sqrt

import numpy as np
import pyomo.environ as pyo
from scipy.linalg.lapack import dpotrf, dpotrs
from scipy.special import expit

from benchmarks.literal import literal_sqp
from pyomo_stochsqp import E, RandomParam, RandomSource
from pyomo_stochsqp.interface.options.table import validated
from pyomo_stochsqp.run import History
from pyomo_stochsqp.solve import prepare

TAU0, XI0, ETA, SIGMA, EPS_TAU, EPS_XI, THETA, BETA = 0.1, 1.0, 0.5, 0.1, 0.01, 0.01, 10.0, 1.0


def hand_written(
    estimate: Callable[[np.ndarray, np.random.Generator], tuple],
    x: np.ndarray,
    L: float,
    Gamma: float,
    iterations: int,
) -> np.ndarray:
    """Algorithm 1 as one would write it for a single problem: dense J, Schur complement."""
    rng = np.random.default_rng(1)
    tau, xi = TAU0, XI0
    for _ in range(iterations):
        g, c, J = estimate(x, rng)
        factor, _ = dpotrf(J @ J.T, 1, overwrite_a=1)
        y, _ = dpotrs(factor, c - J @ g, 1)
        d = -(g + y @ J)
        violation = float(np.abs(c).sum())
        slope, N = float(g @ d), float(d @ d)
        if N > 0.0:
            quadratic = slope + 0.5 * N
            if quadratic > 0.0:
                trial = (1 - SIGMA) * violation / quadratic
                if tau > (1 - EPS_TAU) * trial:
                    tau = (1 - EPS_TAU) * min(tau, trial)
            reduction = -tau * slope + violation
            xi_trial = reduction / (tau * N)
            if xi > xi_trial:
                xi = min((1 - EPS_XI) * xi, xi_trial)
            D = tau * L + Gamma
            low = 2 * (1 - ETA) * BETA * xi * tau / D
            decrease, DN = (1 - ETA) * BETA * reduction, D * N
            if 2 * decrease <= DN:
                phi = 2 * decrease / DN
            else:
                b = 2 * violation - decrease
                phi = 4 * violation / (b + sqrt(b * b + 4 * DN * violation))
            high = min(low + THETA * BETA, phi)
            alpha = low * 1.1 ** floor(log(max(high / low, 1.0)) / log(1.1))
            x = x + alpha * d
    return x


def classification(batch: int, rows: int = 32561, n: int = 123) -> tuple:
    """(Pyomo model, hand-written estimate, x0, L, Gamma): a9a's shape with made-up data."""
    rng = np.random.default_rng(0)
    X = (rng.random((rows, n)) < 0.11).astype(float)
    labels = np.where(rng.random(rows) < 0.25, 1.0, -1.0)
    A1, a1 = rng.normal(1, 100, (10, n)), rng.normal(1, 100, 10)
    A = A1 + rng.normal(0, sqrt(1e-3 / n), (1000, 10, n))
    a = a1 + rng.normal(0, sqrt(1e-3), (1000, 10))
    x0 = rng.standard_normal(n)
    x0 *= 0.1 / np.linalg.norm(x0)

    m = pyo.ConcreteModel()
    m.J, m.I = pyo.RangeSet(0, n - 1), pyo.RangeSet(0, 9)
    m.x = pyo.Var(m.J, initialize=dict(enumerate(x0)))
    data = RandomSource("data")
    m.X = RandomParam(m.J, data=X, source=data)
    m.label = RandomParam(data=labels, source=data)
    rowsource = RandomSource("rows")
    m.A = RandomParam(m.I, m.J, data=A.reshape(1000, -1), source=rowsource)
    m.a = RandomParam(m.I, data=a, source=rowsource)
    margin = sum(m.X[j] * m.x[j] for j in m.J)
    m.obj = pyo.Objective(expr=E(pyo.log(1 + pyo.exp(-m.label * margin))))

    @m.Constraint(m.I)
    def linear(m, i):
        return E(sum(m.A[i, j] * m.x[j] for j in m.J) - m.a[i]) == 0

    m.sphere = pyo.Constraint(expr=sum(m.x[j] ** 2 for j in m.J) == 1)

    J = np.empty((11, n))
    c = np.empty(11)
    flat = A.reshape(1000, -1)
    weights = np.full(batch, 1.0 / batch)

    def estimate(x: np.ndarray, rng: np.random.Generator) -> tuple:
        i = rng.integers(0, rows, batch)
        k = rng.integers(0, 1000, batch)
        Xb, yb = X.take(i, axis=0), labels.take(i)
        g = (-yb * expit(-yb * (Xb @ x))) @ Xb / batch
        J[:10] = (weights @ flat.take(k, axis=0)).reshape(10, n)
        J[10] = 2 * x
        c[:10] = J[:10] @ x - weights @ a.take(k, axis=0)
        c[10] = x @ x - 1
        return g, c, J

    return m, estimate, x0, 1.0, 2.0


def small(batch: int) -> tuple:
    """n = 5, m = 3: a least-squares objective, two nonlinear moments and an exact row."""
    x0 = np.full(5, 0.5)
    rows = np.random.default_rng(0).normal(1.0, 0.3, (100_000, 5))
    m = pyo.ConcreteModel()
    m.I = pyo.RangeSet(0, 4)
    m.x = pyo.Var(m.I, initialize=0.5)
    m.w = RandomParam(m.I, data=rows)
    m.obj = pyo.Objective(expr=E(sum((m.x[i] - m.w[i]) ** 2 for i in m.I)))
    m.first = pyo.Constraint(expr=E(pyo.exp(m.w[0] * m.x[0]) + m.x[1]) == 3)
    m.second = pyo.Constraint(expr=E(pyo.sin(m.w[1] * m.x[2]) * m.x[3]) == 0.3)
    m.third = pyo.Constraint(expr=m.x[3] + m.x[4] == 1)
    J, c = np.zeros((3, 5)), np.empty(3)
    J[2, 3:] = 1.0

    def estimate(x: np.ndarray, rng: np.random.Generator) -> tuple:
        w = rows.take(rng.integers(0, 100_000, batch), axis=0)
        mean = w.sum(axis=0) / batch
        g = 2 * (x - mean)
        x0, x1, x2, x3, x4 = x.tolist()
        w0, w1 = w[:, 0], w[:, 1]
        e = np.exp(w0 * x0)
        s = w1 * x2
        sine = float(np.sin(s).sum()) / batch
        c[:] = float(e.sum()) / batch + x1 - 3, sine * x3 - 0.3, x3 + x4 - 1
        J[0, 0], J[0, 1] = float(w0 @ e) / batch, 1.0
        J[1, 2], J[1, 3] = float(w1 @ np.cos(s)) / batch * x3, sine
        return g, c, J

    return m, estimate, x0, 2.0, 10.0


def compare(name: str, problem: tuple, batch: int, iterations: int, repeats: int = 9) -> float:
    """Print microseconds per iteration of both sides and return their ratio."""
    model, estimate, x0, L, Gamma = problem
    given = {"preset": "paper", "lipschitz": (L, Gamma), "batch_size": batch, "seed": 1}
    setup = prepare(model, validated({**given, "replacement": True}))
    sizes = [batch] * len(setup.oracle.sources)
    method = literal_sqp(setup.oracle, sizes, 1.0, (L, Gamma))
    ours, theirs = [], []
    for _ in range(repeats):
        start = time.process_time()
        hand_written(estimate, x0, L, Gamma, iterations)
        theirs.append(time.process_time() - start)
        state = method.start(x0)
        start = time.process_time()
        history = History(state.COLUMNS)
        for _ in range(iterations):
            state = method.step(state)
            history.append(state.record())
        ours.append(time.process_time() - start)
    scale = 1e6 / iterations
    a, b = np.median(ours) * scale, np.median(theirs) * scale
    print(f"{name:28s} ours {a:7.1f} us   hand-written {b:7.1f} us   ratio {a / b:5.2f}")
    return float(a / b)


def main() -> None:
    for batch in (16, 128):
        compare(f"classification, batch {batch}", classification(batch), batch, 1000)
    for batch in (16, 256):
        compare(f"n=5 m=3, batch {batch}", small(batch), batch, 2000)


if __name__ == "__main__":
    main()
