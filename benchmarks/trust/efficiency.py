r"""How much of what was drawn is in the answer? Statistical efficiency.

With N independent scenarios drawn in all, certificates included, no method can do better than the
sample average approximation, whose error has covariance V / N (closed_forms.py). Efficiency is

    tr(D V / N D) / mean of |D (x - x*)|^2,        D = 1 / max(|x*|, largest |x*| / 10),

1 is the limit.
"""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo

from benchmarks.trust.closed_forms import Case, cases


def run(seeds: int) -> None:
    """Print efficiencies of plain Monte Carlo runs."""
    print(f"{'model':12} {'efficiency':>10} {'+-':>5}   scenarios (median)")
    for case in cases():
        if case.heavy:
            continue
        V = case.covariance()
        ratios, drawn = np.array([ratio(case, V, seed) for seed in range(seeds)]).T
        mean = ratios.mean()
        error = ratios.std(ddof=1) / np.sqrt(seeds)
        print(
            f"{case.name:12} {1 / mean:10.2f} {error / mean**2:5.2f}   {np.median(drawn):.0f}",
            flush=True,
        )


def ratio(case: Case, V: np.ndarray, seed: int) -> tuple[float, float]:
    """(squared error relative to what N scenarios can give, N) of one run."""
    m = case.build()
    results = pyo.SolverFactory("stochsqp").solve(
        m, seed=seed, sampling="monte_carlo", tol_feas=1e-2, tol_opt=1e-2
    )
    free = V.shape[0]
    unit = 1 / np.maximum(np.abs(case.x), 0.1 * np.abs(case.x).max())[:free]
    N = results.samples
    error = (results.certificate.x - case.x)[:free] * unit
    return float(error @ error / np.trace(V / N * np.outer(unit, unit))), float(N)
