"""What is it worth to know the demand, and what to take its uncertainty seriously?

    minimise E[2 q + 5 (D - q)+],   D ~ N(100, 20^2)

The best order is the 60 % quantile of D, and with l(z) = pdf(z) - z (1 - cdf(z)) an order of
100 + 20 z costs 200 + 40 z + 100 l(z) on average. Whoever knows D orders D and pays 2 D, 200 on
average; whoever orders the mean demand pays 200 + 100 l(0). So

    EVPI = 40 z + 100 l(z),   z the 60 % quantile of N(0, 1);     VSS = 100 l(0) - EVPI.

The demands are 60 equally probable quantiles: as many single problems are solved, without sampling
error.
"""

import numpy as np
import pyomo.environ as pyo
from scipy import stats

from pyomo_stochsqp import E, RandomParam, positive_part, value_of_information

MEAN, DEVIATION, COST, PENALTY = 100.0, 20.0, 2.0, 5.0
DEMANDS = stats.norm(MEAN, DEVIATION).ppf((np.arange(60) + 0.5) / 60)

#: the 60 quantiles in place of the distribution, kinks rounded off
TOLERANCE = 1e-2


def build():
    m = pyo.ConcreteModel("newsvendor")
    m.q = pyo.Var(initialize=MEAN)
    m.demand = RandomParam(data=DEMANDS)
    m.cost = pyo.Objective(expr=E(COST * m.q + PENALTY * positive_part(m.demand - m.q)))
    return m


def closed_form():
    """(EVPI, VSS)."""
    z = stats.norm.ppf(1 - COST / PENALTY)

    def shortage(z):
        return stats.norm.pdf(z) - z * stats.norm.sf(z)

    evpi = DEVIATION * (COST * z + PENALTY * shortage(z))
    return evpi, DEVIATION * PENALTY * shortage(0.0) - evpi


def comparison(m, found):
    """The order of the solved model and what was found of it, beside the exact numbers."""
    evpi, vss = closed_form()
    return {
        "order": (m.q.value, stats.norm(MEAN, DEVIATION).ppf(1 - COST / PENALTY)),
        "EVPI": (found.evpi.value, evpi),
        "VSS": (found.vss.value, vss),
    }


def main():
    m = build()
    pyo.SolverFactory("stochsqp").solve(m)
    found = value_of_information(m)
    print(found)
    pairs = comparison(m, found)
    for name, (number, exact) in pairs.items():
        print(f"{name} found {number:8.4f}   exact {exact:8.4f}")
    return pairs


if __name__ == "__main__":
    main()
