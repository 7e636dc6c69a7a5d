r"""Capacities now, production and shortage once the demand is known: N scenario blocks.

    min  1.5 sum k_j + 1/N sum_s sum_j (y_sj + 0.001 y_sj^2 + 5 short_sj)
    s.t. y_sj <= k_j,   y_sj + short_sj >= demand_sj,   sum_j y_sj^2 <= 40000,   all >= 0

Contestants share the Pyomo model, and nothing is convex but this: the lower of two feasible
objectives is the better answer. The error of one is its distance to the lowest, relative to it.
"""

from __future__ import annotations

from typing import Any

from benchmarks.exact import recourse


def solved(method: str, scenarios: int, tolerance: float) -> Any:
    """The model at its answer."""
    import pyomo.environ as pyo

    m = recourse(scenarios)
    if method == "ours":
        pyo.SolverFactory("stochsqp").solve(m, tol_feas=tolerance, tol_opt=tolerance)
    else:
        pyo.SolverFactory("asl:pounce").solve(m, options={"tol": tolerance})
    return m


def judged(m: Any) -> dict[str, float]:
    """Objective and largest violation, relative to the numbers of its row."""
    import pyomo.environ as pyo

    worst = 0.0
    for row in m.component_data_objects(pyo.Constraint, active=True):
        body = pyo.value(row.body)
        sizes = [abs(body), *(abs(pyo.value(b)) for b in (row.lower, row.upper) if b is not None)]
        worst = max(worst, -min(row.lslack(), row.uslack()) / max(1.0, *sizes))
    objective = pyo.value(next(m.component_data_objects(pyo.Objective)))
    return {"objective": objective, "violation": worst}
