r"""Results as plain data for a JSON file."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..solver.results import StochSQPResults


def json_report(results: StochSQPResults) -> dict[str, Any]:
    """Status, solution, multipliers, certificate and history; infinity and NaN become None."""
    loader, info = results.solution_loader, results.extra_info
    certificate = results.certificate
    report = {
        "solver": results.solver_name,
        "version": ".".join(map(str, results.solver_version)),
        "termination_condition": results.termination_condition.name,
        "solution_status": results.solution_status.name,
        "message": info.message,
        "warnings": list(results.warnings),
        "objective": info.get("objective_estimate").value() if certificate else None,
        "iterations": info.iteration_count,
        "samples": info.samples,
        "seed": info.seed,
        "seconds": results.timing_info.wall_time,
        "variables": {v.name: x for v, x in loader.get_vars().items()},
        "duals": {c.name: y for c, y in loader.get_duals().items()} if loader.has_duals else {},
        "certificate": None,
        "history": {c: v.tolist() for c, v in results.history.as_dict().items()},
    }
    if certificate is not None:
        names = ("infeasibility", "infeasibility_bound", "relative_infeasibility_bound", "gap",
                 "relative_gap", "relative_displacement", "objective_error", "confidence",
                 "scenarios", "exact", "heavy_tails", "rare_events")  # fmt: skip
        report["certificate"] = {
            "says": str(certificate),
            **{n: getattr(certificate, n) for n in names if hasattr(certificate, n)},
            "variables": certificate.variables,
            "rows": certificate.rows,
        }
    return _plain(report)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_plain(v) for v in value]
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value
