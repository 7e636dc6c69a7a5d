r"""Looking for wrong answers: random expectation models at default options.

A run that ends optimal is wrong if SLSQP, started at its point on the exact expectations, gains
more than 1.5 times the tolerance, or if a row is violated by more than that: bounds hold at 95 %,
and a point that has passed may be a little beyond the tolerance.
"""

from __future__ import annotations

import time
from collections import Counter

import numpy as np
import pyomo.environ as pyo

from benchmarks.trust.random_models import RandomModel

#: what makes an answer wrong, in units of the tolerance
MARGIN = 1.5
TIME_LIMIT = 30.0


def run(first: int, count: int, verbose: bool = False) -> int:
    """Solve the models, print endings and wrong answers; returns the number of wrong ones."""
    endings: Counter[str] = Counter()
    wrong = 0
    began = time.process_time()
    for seed in range(first, first + count):
        model = RandomModel(seed)
        m = model.build()
        results = pyo.SolverFactory("stochsqp").solve(m, seed=seed, time_limit=TIME_LIMIT)
        ended = str(results.solver.termination_condition)
        endings[ended] += 1
        if ended != "optimal":
            if verbose:
                print(f"{seed} ({model.kind}): {ended}, {results.message}")
            continue
        gap, violation, tolerance = errors(model, m)
        if max(gap, violation) > MARGIN * tolerance:
            wrong += 1
            c = results.certificate
            print(
                f"{seed} ({model.kind}) WRONG: gap {gap:.1e}, certified {c.relative_gap:.1e}; "
                f"violation {violation:.1e}, certified {c.relative_infeasibility_bound:.1e}",
                flush=True,
            )
    seconds = time.process_time() - began
    told = ", ".join(f"{number} {name}" for name, number in endings.most_common())
    print(f"{count} models: {told}; {wrong} of the optimal ones wrong; {seconds:.0f} s CPU")
    return wrong


def errors(model: RandomModel, m: object) -> tuple[float, float, float]:
    """(relative gap to the solution nearby, relative violation, tolerance)."""
    x = np.array([m.x[j].value for j in range(model.n)])  # type: ignore[attr-defined]
    z = x / model.D
    best, _ = model.polished(z)
    f, f_best = model.objective(z), model.objective(best)
    size = max(abs(f), model.spread(z))
    # a point outside the rows may be better than any inside
    gap = max(f - f_best, 0.0) / size if model.violation(best) < 1e-6 else 0.0
    return gap, model.violation(z), 1e-6 if model.kind == "table" and not model.gamma else 1e-3
