r"""The merit function's parameters: tau, the model reduction Delta l, and the ratio xi.

Merit function (eq. merit_func), with v the l1 distance to feasibility (|c|_1 for equalities):

    phi(x, tau) = tau f(x) + v(c(x))

Model reduction of a direction d (eq. linear_model_reduction):

    Delta l(tau, d) = -tau g'd + v(c) - v(c + J d)

Its last two terms are the direction's feasibility reduction; it equals |c|_1 when c + J d = 0.
"""

from __future__ import annotations

from math import inf


def trial_merit_parameter(feasibility_reduction: float, quadratic: float, sigma: float) -> float:
    """tau_trial of eq. merit_parameter_update; ``quadratic`` is g'd + 1/2 d'Hd."""
    if quadratic <= 0.0:
        return inf
    return (1.0 - sigma) * feasibility_reduction / quadratic


def updated_merit_parameter(tau: float, tau_trial: float, eps_tau: float) -> float:
    """eq. merit_parameter_update: keep tau while it is sufficiently below its trial value."""
    if tau <= (1.0 - eps_tau) * tau_trial:
        return tau
    return (1.0 - eps_tau) * min(tau, tau_trial)


def model_reduction(tau: float, slope: float, feasibility_reduction: float) -> float:
    """Delta l with slope = g'd."""
    return -tau * slope + feasibility_reduction


def updated_ratio_parameter(xi: float, xi_trial: float, eps_xi: float) -> float:
    """eq. ratio_parameter_update; xi_trial = Delta l / (tau |d|^2)."""
    if xi <= xi_trial:
        return xi
    return min((1.0 - eps_xi) * xi, xi_trial)
