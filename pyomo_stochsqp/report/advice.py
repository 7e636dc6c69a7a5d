r"""What to change when a run ends without convergence, from the numbers of its certificate.

The width of a confidence bound falls like one over the square root of the scenarios used. A bound b
on an error e that should be below the tolerance therefore needs about ((b - e) / tol)^2 times as
many.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .certificate import Certificate
from .termination import Stop

if TYPE_CHECKING:
    from .driver import Tolerances

#: noise beyond this multiple of a tolerance is not a matter of more samples
HOPELESS = 1e6
BUDGETS = (Stop.ITERATION_LIMIT, Stop.SAMPLE_LIMIT, Stop.TIME_LIMIT)


def advice(stop: Stop, best: Certificate, tolerances: Tolerances, worst_row: str) -> str:
    """One sentence, or nothing where there is nothing to say."""
    if stop is Stop.LOCALLY_INFEASIBLE:
        return f"the worst constraint is {worst_row}, violated by {best.infeasibility:.3g}"
    if stop not in BUDGETS or best.exact or tolerances.met(best):
        return ""
    feasibility = _noise_share(best.infeasibility, best.infeasibility_bound)
    optimality = _noise_share(best.stationarity, best.stationarity_bound)
    factor, name, tolerance = max(
        (
            feasibility * best.relative_infeasibility / tolerances.feasibility,
            "tol_feas",
            tolerances.feasibility,
        ),
        (
            optimality * best.relative_stationarity / tolerances.optimality,
            "tol_opt",
            tolerances.optimality,
        ),
    )
    error = max(
        (1.0 - feasibility) * best.relative_infeasibility / tolerances.feasibility,
        (1.0 - optimality) * best.relative_stationarity / tolerances.optimality,
    )
    if factor > HOPELESS:
        return "the point is far from a solution: check the starting point and the scaling"
    if factor <= max(1.0, error):
        return "the error exceeds the noise: raise max_iter or max_samples"
    return (
        f"the certificate's noise alone is {factor:.2g} times {name}; allow about "
        f"{max(2.0, factor**2):.1g} times the samples (max_samples) or set {name} to "
        f"{factor * tolerance:.1g}"
    )


def _noise_share(error: float, bound: float) -> float:
    return (bound - error) / bound if bound > 0.0 else 0.0
