"""LandS: which power plants to build before the load is known (Louveaux and Smeers).

Four technologies with investment costs c_i and running costs, three modes of the load curve; at
least 12 units in all, a budget of 120. The loads of the modes are independent, each one of
0, 0.04, ..., 3.96: a million joint scenarios, which nobody wants to write out. This is the
instance of Linderoth, Shapiro and Wright.

The known optimum costs 225.6294, with capacities 0.84, 3.40, 1.88 and 5.88.
"""

import numpy as np
import pyomo.environ as pyo
from scipy import stats

from pyomo_stochsqp import E, RandomParam, Recourse

PLANTS, MODES = range(4), range(3)
INVEST = (10.0, 7.0, 16.0, 6.0)
#: running costs per unit of load in a mode: a plant's own times the mode's hours
RUN = np.outer((4.0, 4.5, 3.2, 5.5), (10.0, 6.0, 1.0))
STEP, STEPS = 0.04, 100
CAPACITY, COST = (0.84, 3.40, 1.88, 5.88), 225.6294

#: the gap and the objective's own error; capacities move along flat directions
TOLERANCE = 2e-3
#: of capacities
NEAR = 0.25


def build():
    m = pyo.ConcreteModel("LandS")
    m.build = pyo.Var(PLANTS, bounds=(0, None))
    m.enough = pyo.Constraint(expr=sum(m.build.values()) >= 12)
    m.budget = pyo.Constraint(expr=sum(INVEST[i] * m.build[i] for i in PLANTS) <= 120)
    m.level = RandomParam(MODES, distribution=[stats.randint(0, STEPS) for _ in MODES])

    @Recourse(m)
    def second(b):
        b.run = pyo.Var(PLANTS, MODES, bounds=(0, None))
        b.capacity = pyo.Constraint(
            PLANTS, rule=lambda b, i: sum(b.run[i, j] for j in MODES) <= m.build[i]
        )
        b.meet = pyo.Constraint(
            MODES, rule=lambda b, j: sum(b.run[i, j] for i in PLANTS) >= STEP * m.level[j]
        )
        b.cost = pyo.Expression(expr=sum(RUN[i, j] * b.run[i, j] for i in PLANTS for j in MODES))

    m.cost = pyo.Objective(expr=sum(INVEST[i] * m.build[i] for i in PLANTS) + E(m.second.cost))
    return m


def main():
    m = build()
    results = pyo.SolverFactory("stochsqp").solve(m, gap=1e-3, seed=1)
    found = results.certificate.objective
    print(results.certificate)
    print(f"cost      found {found:9.4f}   known {COST:9.4f}")
    for i in PLANTS:
        print(f"plant {i}   found {m.build[i].value:9.4f}   known {CAPACITY[i]:9.4f}")
        assert abs(m.build[i].value - CAPACITY[i]) < NEAR
    return {"cost": (found, COST)}


if __name__ == "__main__":
    main()
