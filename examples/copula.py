"""An airline hedges its fuel with crude oil and a temperature index: a copula joins the marginals.

    minimise Var[f - a c - b t],   f, c lognormal, t normal, Gaussian copula with correlations R

With ln f = s_f z_1, ln c = s_c z_2, t = z_3 and (z_1, z_2, z_3) normal with correlations R the
covariances are known,

    Cov[f, c] = exp((s_f^2 + s_c^2)/2) (exp(R_12 s_f s_c) - 1),   Cov[f, t] = R_13 s_f exp(s_f^2/2),

and the hedge solves one linear system. Correlations of the logarithms, which is what the copula
keeps, are not those of the prices.
"""

import numpy as np
import pyomo.environ as pyo
from scipy import stats

from pyomo_stochsqp import RandomParam, Variance

FUEL, CRUDE = 0.4, 0.3
CORRELATION = np.array([[1.0, 0.8, 0.3], [0.8, 1.0, 0.1], [0.3, 0.1, 1.0]])
MARGINALS = {
    "fuel": stats.lognorm(FUEL),
    "crude": stats.lognorm(CRUDE),
    "degrees": stats.norm(0, 1),
}

#: certified: within 3 tol_opt
TOLERANCE = 3e-3


def build():
    m = pyo.ConcreteModel("hedge")
    m.a = pyo.Var(initialize=0.0)
    m.b = pyo.Var(initialize=0.0)
    m.w = RandomParam(list(MARGINALS), distribution=MARGINALS, copula=CORRELATION)
    m.rest = pyo.Expression(expr=m.w["fuel"] - m.a * m.w["crude"] - m.b * m.w["degrees"])
    m.risk = pyo.Objective(expr=Variance(m.rest))
    return m


def covariance():
    """Of fuel, crude and degrees."""
    s = np.array([FUEL, CRUDE])
    scale = np.exp(0.5 * s**2)
    C = np.eye(3)
    C[:2, :2] = np.outer(scale, scale) * np.expm1(CORRELATION[:2, :2] * np.outer(s, s))
    C[:2, 2] = C[2, :2] = CORRELATION[:2, 2] * s * scale
    return C


def closed_form():
    """(a, b, variance of what is left)."""
    C = covariance()
    hedge = np.linalg.solve(C[1:, 1:], C[1:, 0])
    return *hedge.tolist(), C[0, 0] - C[0, 1:] @ hedge


def answers(m, results):
    """What was found, beside the exact numbers."""
    a, b, variance = closed_form()
    return {
        "crude": (m.a.value, a),
        "degrees": (m.b.value, b),
        "variance": (results.certificate.objective, variance),
    }


def main():
    m = build()
    results = pyo.SolverFactory("stochsqp").solve(m, seed=1)
    pairs = answers(m, results)
    for name, (found, exact) in pairs.items():
        print(f"{name:9} found {found:8.5f}   exact {exact:8.5f}")
    return pairs


if __name__ == "__main__":
    main()
