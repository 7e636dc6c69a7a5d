r"""Algorithm 1 once more, written from the paper alone: NumPy, no formula of the package.

The KKT system is one matrix given to a general solver, varphi is evaluated as it stands, and the
step size is searched for on the grid 1.1^t alpha_min, t = 0, 1, 2, ... What the package writes in
closed form, rearranges or factorises must come out the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Require:
    """The constants of the "Require" line, with the values of the paper's experiments."""

    tau0: float = 0.1
    xi0: float = 1.0
    eta: float = 0.5
    sigma: float = 0.1
    eps_tau: float = 0.01
    eps_xi: float = 0.01
    theta: float = 10.0


@dataclass
class Iteration:
    """What iteration k computes, and the iterate x_{k+1} that it ends with."""

    d: np.ndarray
    y: np.ndarray
    tau_trial: float
    tau: float
    xi_trial: float
    xi: float
    alpha_min: float
    alpha: float
    x: np.ndarray


def algorithm_1(estimate, x, beta, L, Gamma, require, iterations):
    """Yield iterations; ``estimate(k, x)`` returns (g, c, J) with J as a matrix, H = I."""
    p = require
    tau, xi = p.tau0, p.xi0
    x = np.array(x, dtype=float)
    for k in range(1, iterations + 1):
        b = beta(k)
        assert 0 < 2 * (1 - p.eta) * b * p.xi0 * p.tau0 / (p.tau0 * L + Gamma) <= 1, (
            "eq. beta_requirement"
        )
        g, c, J = estimate(k, x)
        d, y = kkt_solution(g, c, J)
        assert np.any(d != 0)
        c1, dd, gd = np.sum(np.abs(c)), d @ d, g @ d

        # eq. merit_parameter_update
        denominator = gd + 0.5 * dd
        tau_trial = np.inf if denominator <= 0 else (1 - p.sigma) * c1 / denominator
        if tau > (1 - p.eps_tau) * tau_trial:
            tau = (1 - p.eps_tau) * min(tau, tau_trial)

        # eq. linear_model_reduction, eq. ratio_parameter_update
        delta_l = -tau * gd + c1
        xi_trial = delta_l / (tau * dd)
        if xi > xi_trial:
            xi = min((1 - p.eps_xi) * xi, xi_trial)

        # eq. stepsizes, eq. alphaphi and the search on the grid
        alpha_min = 2 * (1 - p.eta) * b * xi * tau / (tau * L + Gamma)

        def varphi(alpha):
            return (
                (p.eta - 1) * alpha * b * delta_l
                + (abs(1 - alpha) - (1 - alpha)) * c1
                + 0.5 * (tau * L + Gamma) * alpha**2 * dd
            )

        t = 0
        while (
            varphi(1.1 ** (t + 1) * alpha_min) <= 0
            and 1.1 ** (t + 1) * alpha_min <= alpha_min + p.theta * b
        ):
            t += 1
        alpha = 1.1**t * alpha_min

        x = x + alpha * d
        yield Iteration(d, y, tau_trial, tau, xi_trial, xi, alpha_min, alpha, x)


def kkt_solution(g, c, J):
    """(d, y) of eq. linear_system with H = I."""
    n, m = g.size, c.size
    K = np.block([[np.eye(n), J.T], [J, np.zeros((m, m))]])
    u = np.linalg.solve(K, -np.concatenate((g, c)))
    return u[:n], u[n:]


def dense(problem, J):
    """A Jacobian given by the values on its pattern, as a matrix."""
    matrix = np.zeros((problem.m, problem.n))
    row = np.repeat(np.arange(problem.m), np.diff(problem.jac_indptr))
    matrix[row, problem.jac_indices] = J
    return matrix
