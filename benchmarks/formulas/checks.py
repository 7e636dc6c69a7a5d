r"""How default solves of formulas end, and whether that is true."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
import pyomo.environ as pyo

from benchmarks.formulas import chance, portfolios

#: largest differences on tables, relative to |x| <= 1 and to the duals
TABLE = 1e-6
#: chance constraints: of x, relative, and of the true probability
CHANCE_X, CHANCE_P = 1e-2, 5e-3
#: the share of runs whose errors may exceed their bounds
MISSES = 0.03
#: answers further apart than this are different ones; a step away from one, along sum x = 1
OTHER, NEARBY = 1e-2, np.array([2e-3, -1e-3, -2e-3, 1e-3])


def tables(only: Sequence[str]) -> int:
    """Models over 20,000 rows against SLSQP on the natural form; returns how many are wrong."""
    rows = portfolios.table()
    print(f"{'model':26} {'ended':10} {'x':>8} {'objective':>9} {'duals':>8} {'CPU s':>6}")
    wrong = 0
    for entry in _chosen(only):
        truth = portfolios.exact(entry, rows)
        m = portfolios.build(entry, rows)
        began = time.process_time()
        results = pyo.SolverFactory("stochsqp").solve(m, tol_opt=1e-8, tol_feas=1e-8)
        seconds = time.process_time() - began
        x = np.array([m.x[i].value for i in range(portfolios.N)])
        found = np.array([m.dual[c] for c in (*m.equal.values(), *m.at_most.values())])
        off = np.abs(x - truth.x).max()
        note = ""
        if off > OTHER:
            # another local optimum? SLSQP must come back to it from a point nearby
            truth = portfolios.exact(entry, rows, starts=[x + NEARBY])
            off, note = np.abs(x - truth.x).max(), "  another local optimum"
        f = abs(pyo.value(m.obj) - truth.objective) / abs(truth.objective)
        duals = float(
            (np.abs(found - truth.duals) / np.maximum(np.abs(truth.duals), 1e-3)).max(initial=0.0)
        )
        ended = str(results.solver.termination_condition)
        wrong += ended != "optimal" or max(off, f) > TABLE or duals > 1e-5
        print(f"{entry.name:26} {ended:10} {off:8.1e} {f:9.1e} {duals:8.1e} {seconds:6.2f}{note}",
              flush=True)  # fmt: skip
    print(f"{wrong} wrong")
    return wrong


def distributions(only: Sequence[str], seeds: int) -> int:
    """The same over a normal distribution, at default options; returns how many are wrong."""
    rows, weights = portfolios.gauss_hermite()
    runs = outside = 0
    print(f"{'model':26}{'seed':>5} {'ended':10} {'x':>8} {'bound':>8} {'objective':>9} "
          f"{'bound':>8} {'scenarios':>10} {'CPU s':>7}")  # fmt: skip
    wrong = 0
    for entry in _chosen(only):
        truth = portfolios.exact(entry, rows, weights)
        for seed in range(seeds):
            m = portfolios.build(entry)
            began = time.process_time()
            results = pyo.SolverFactory("stochsqp").solve(m, seed=seed)
            seconds = time.process_time() - began
            c = results.certificate
            off = np.abs(c.x - truth.x)
            L = portfolios.NumPyLanguage(weights)
            f = abs(entry.parts(L, rows @ c.x, rows.T).objective - truth.objective)
            ended = str(results.solver.termination_condition)
            inside = (off <= c.displacement + 1e-9).all() and f <= c.gap + 1e-12
            outside += not inside
            wrong += ended != "optimal"
            print(f"{entry.name:26}{seed:5} {ended:10} {off.max():8.1e} "
                  f"{c.displacement.max():8.1e} {f:9.1e} {c.gap:8.1e} {results.samples:10} "
                  f"{seconds:7.2f}"
                  + ("" if inside else "  outside its bounds"), flush=True)  # fmt: skip
            runs += 1
    # bounds of a look hold at 97 % and more: of n runs, so many may be outside, and three
    # standard deviations of a binomial number more
    allowed = MISSES * runs + 3.0 * np.sqrt(MISSES * runs)
    print(
        f"{runs} runs, {wrong} not optimal, {outside} outside their bounds ({allowed:.1f} allowed)"
    )
    return wrong + max(0, int(outside > allowed))


def chances(seeds: int) -> int:
    """Chance constraints; returns how many are wrong."""
    print(f"{'model':10} {'start':>6} {'ended':10} {'x':>8} {'probability':>11} {'CPU s':>7}   "
          f"worst of {seeds} seeds")  # fmt: skip
    wrong = 0
    for name, make in chance.MODELS.items():
        entry = make()
        for start in entry.starts:
            rows = [_chance(entry, start, seed) for seed in range(seeds)]
            off, p, seconds = np.array([row[1:] for row in rows]).max(axis=0)
            endings = {row[0] for row in rows}
            bad = endings != {"optimal"} or off > CHANCE_X or p > CHANCE_P
            wrong += bad
            print(f"{name:10} {start:6.3g} {'/'.join(sorted(endings)):10} {off:8.1e} {p:11.1e} "
                  f"{seconds:7.2f}" + ("  WRONG" if bad else ""), flush=True)  # fmt: skip
    return wrong


def _chance(entry: chance.Chance, start: float, seed: int) -> tuple[str, float, float, float]:
    """(ending, relative error of x, error of the true probability, CPU seconds)."""
    m = entry.build(start)
    began = time.process_time()
    results = pyo.SolverFactory("stochsqp").solve(m, seed=seed)
    seconds = time.process_time() - began
    x = np.array([m.x[i].value for i in m.x])
    off = float((np.abs(x - entry.x) / np.maximum(np.abs(entry.x), 0.1 * entry.x.max())).max())
    p = abs(entry.probability(x) - entry.level)
    return str(results.solver.termination_condition), off, p, seconds


def _chosen(only: Sequence[str]) -> list[portfolios.Portfolio]:
    return [e for name, e in portfolios.REGISTRY.items() if not only or name in only]
