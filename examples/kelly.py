"""Kelly's criterion, and a cautious gambler's: how much of one's wealth to bet, again and again.

    maximise E[log W] - c Variance[log W],   W = 1 + f b if w = 1, else 1 - f,   w ~ Bernoulli(p)

Without caution (c = 0) the answer is Kelly's, f = p - (1 - p)/b. With it, log W takes two values
L1, L0, its variance is p (1 - p) (L1 - L0)^2, and f is the root of a derivative. An expectation
cannot be told from a long average here: log W grows by E[log W] per bet.
"""

import pyomo.environ as pyo
from scipy import optimize, stats

from pyomo_stochsqp import E, RandomParam, Variance

CHANCE, ODDS, CAUTION = 0.6, 1.5, 1.0

#: certified: within 3 tol_opt
TOLERANCE = 5e-3


def build(caution=CAUTION):
    m = pyo.ConcreteModel("Kelly")
    m.f = pyo.Var(bounds=(0, 0.99), initialize=0.1)
    m.w = RandomParam(distribution=stats.bernoulli(CHANCE))
    growth = pyo.log(1 - m.f + m.w * m.f * (1 + ODDS))
    m.goal = pyo.Objective(expr=E(growth) - caution * Variance(growth), sense=pyo.maximize)
    return m


def closed_form(caution):
    """The best fraction."""

    def slope(f):
        win, lose = ODDS / (1 + ODDS * f), -1 / (1 - f)
        apart = pyo.log(1 + ODDS * f) - pyo.log(1 - f)
        spread = 2 * CHANCE * (1 - CHANCE) * apart * (win - lose)
        return CHANCE * win + (1 - CHANCE) * lose - caution * spread

    return optimize.brentq(slope, 0.0, 0.9)


def main():
    pairs = {}
    for caution in (0.0, CAUTION):
        m = build(caution)
        results = pyo.SolverFactory("stochsqp").solve(m, seed=1)
        pyo.assert_optimal_termination(results)
        pairs[f"f, caution {caution:g}"] = (m.f.value, closed_form(caution))
    assert abs(closed_form(0.0) - (CHANCE - (1 - CHANCE) / ODDS)) < 1e-12
    for name, (found, exact) in pairs.items():
        print(f"{name:12} found {found:10.6f}   exact {exact:10.6f}")
    return pairs


if __name__ == "__main__":
    main()
