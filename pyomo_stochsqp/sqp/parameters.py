r"""The constants of Algorithm 1's "Require" line, under the paper's letters.

eq. beta_requirement asks 2 (1 - eta) beta_k xi_0 tau_0 / (tau_0 L + Gamma) to lie in (0, 1], so
that alpha_min <= 1. :func:`curvature_floor` is the smallest tau_0 L + Gamma that grants it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Parameters:
    """Defaults are those of the paper's Section "Numerical Results"."""

    tau0: float = 0.1
    xi0: float = 1.0
    eta: float = 0.5
    sigma: float = 0.1
    eps_tau: float = 0.01
    eps_xi: float = 0.01
    theta: float = 10.0
    step_rule: str = "max"
    #: largest alpha; None leaves it to varphi, as in the paper
    step_cap: float | None = None
    #: tau and xi start anew at iterations 8, 16, 32, ...; the paper's never rise
    restarts: bool = False


def curvature_floor(p: Parameters, beta: float) -> float:
    """The least tau_0 L + Gamma that satisfies eq. beta_requirement."""
    return 2.0 * (1.0 - p.eta) * beta * p.xi0 * p.tau0
