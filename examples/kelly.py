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
    m.caution = pyo.Param(initialize=caution, mutable=True)
    m.w = RandomParam(distribution=stats.bernoulli(CHANCE))
    growth = pyo.log(1 - m.f + m.w * m.f * (1 + ODDS))
    m.goal = pyo.Objective(expr=E(growth) - m.caution * Variance(growth), sense=pyo.maximize)
    return m


def closed_form(caution):
    """The best fraction."""

    def slope(f):
        win, lose = ODDS / (1 + ODDS * f), -1 / (1 - f)
        apart = pyo.log(1 + ODDS * f) - pyo.log(1 - f)
        spread = 2 * CHANCE * (1 - CHANCE) * apart * (win - lose)
        return CHANCE * win + (1 - CHANCE) * lose - caution * spread

    return optimize.brentq(slope, 0.0, 0.9)


def answers(m, results):
    """What was found for the present caution, beside the exact number."""
    caution = m.caution.value
    return {f"f, caution {caution:g}": (m.f.value, closed_form(caution))}


def main():
    m = build()
    solver = pyo.SolverFactory("stochsqp")
    pairs = {"Kelly's f": (closed_form(0.0), CHANCE - (1 - CHANCE) / ODDS)}
    for caution in (0.0, CAUTION):
        m.caution = caution
        results = solver.solve(m, seed=1)
        pyo.assert_optimal_termination(results)
        pairs |= answers(m, results)
    for name, (found, exact) in pairs.items():
        print(f"{name:12} found {found:10.6f}   exact {exact:10.6f}")
    return pairs


if __name__ == "__main__":
    main()
