r"""Do the bounds of certificates hold? Misses over many seeds, optional stopping included.

Every run stops when its certificate meets the tolerance, which is when a lucky one would: the last
certificate is the one to check. A miss is a true error beyond its bound: some x_j further from the
solution than its displacement, |f(x) - f*| beyond the gap, a row's violation beyond its bound.
"""

from __future__ import annotations

import time

import numpy as np
import pyomo.environ as pyo

from benchmarks.trust.closed_forms import Case, cases


def run(seeds: int, samplings: tuple[str, ...] = ("auto", "monte_carlo")) -> None:
    """Print misses in per cent."""
    print(f"Per cent of {seeds} runs; the median of bound over error of x; CPU seconds")
    print(f"{'model':12} {'sampling':12} {'optimal':>8} {'x':>7} {'gap':>7} {'rows':>7}")
    for sampling in samplings:
        for case in cases():
            began = time.process_time()
            found = np.array([misses(case, seed, sampling) for seed in range(seeds)])
            x, gap, rows, optimal, ratio = found.T
            print(
                f"{case.name:12} {sampling:12} {100 * optimal.mean():8.1f} {100 * x.mean():7.1f} "
                f"{100 * gap.mean():7.1f} {100 * rows.mean():7.1f}  {np.median(ratio):.1f}, "
                f"{time.process_time() - began:.0f}" + ("  (heavy tails)" if case.heavy else ""),
                flush=True,
            )


def misses(case: Case, seed: int, sampling: str) -> tuple[float, float, float, float, float]:
    """(x, gap, rows missed, ended optimal, bound of x over its error) of one run."""
    m = case.build()
    tolerance = 1e-3 if sampling == "auto" else 1e-2
    results = pyo.SolverFactory("stochsqp").solve(
        m, seed=seed, sampling=sampling, tol_feas=tolerance, tol_opt=tolerance, max_samples=1e8
    )
    c = results.certificate
    error = np.abs(c.x - case.x)
    gap = abs(case.f(c.x) - case.f(case.x))
    rows = np.abs(case.c(c.x) - case.target)
    tiny = 1e-12
    return (
        float((error > c.displacement + tiny).any()),
        float(gap > c.gap + tiny),
        float((rows > c.violation_bound + tiny).any()),
        float(str(results.solver.termination_condition) == "optimal"),
        float(c.displacement.max() / max(error.max(), tiny)),
    )
