"""Linear programs in scenario blocks: vertices with too many active rows, and flat faces.

The certificate of such a point cannot rest on one Newton step with full matrices.
"""

import numpy as np
import pyomo.environ as pyo
import pytest

from pyomo_stochsqp import E

CROPS = ("wheat", "corn", "beets")
YIELD = {"wheat": (2.0, 2.5, 3.0), "corn": (2.4, 3.0, 3.6), "beets": (16.0, 20.0, 24.0)}
QUOTA = {"wheat": 1e5, "corn": 1e5, "beets": 6000.0}
FEED = {"wheat": 200, "corn": 240, "beets": 0}
PLANT = {"wheat": 150, "corn": 230, "beets": 260}
BUY = {"wheat": 238, "corn": 210, "beets": 1e5}
SELL, SURPLUS = {"wheat": 170, "corn": 150, "beets": 36}, {"wheat": 0, "corn": 0, "beets": 10}


def farmer(scenarios, seed):
    """The farmer of the textbook; yields beyond the first three scenarios are random."""
    rng = np.random.default_rng(seed)
    m = pyo.ConcreteModel()
    m.acres = pyo.Var(CROPS, bounds=(0, 500))
    m.land = pyo.Constraint(expr=sum(m.acres.values()) <= 500)

    @m.Block(range(scenarios))
    def scenario(b, s):
        harvest = {
            c: (YIELD[c][s % 3] + (rng.random() if s > 2 else 0)) * m.acres[c] for c in CROPS
        }
        b.bought = pyo.Var(CROPS, within=pyo.NonNegativeReals)
        b.sold = pyo.Var(CROPS, within=pyo.NonNegativeReals)
        b.surplus = pyo.Var(CROPS, within=pyo.NonNegativeReals)
        b.feed = pyo.Constraint(
            CROPS, rule=lambda b, c: harvest[c] + b.bought[c] - b.sold[c] - b.surplus[c] >= FEED[c]
        )
        b.harvest = pyo.Constraint(
            CROPS, rule=lambda b, c: b.sold[c] + b.surplus[c] - harvest[c] <= 0
        )
        b.quota = pyo.Constraint(CROPS, rule=lambda b, c: b.sold[c] <= QUOTA[c])
        b.cost = pyo.Expression(
            expr=sum(
                BUY[c] * b.bought[c] - SELL[c] * b.sold[c] - SURPLUS[c] * b.surplus[c]
                for c in CROPS
            )
        )

    m.cost = pyo.Objective(expr=sum(PLANT[c] * m.acres[c] for c in CROPS) + E(m.scenario[:].cost))
    return m


def transport(sources, sinks, seed):
    """Balanced transport: one row depends on the others, and many optimal plans are degenerate."""
    rng = np.random.default_rng(seed)
    m = pyo.ConcreteModel()
    m.flow = pyo.Var(range(sources), range(sinks), bounds=(0, None))
    cost = rng.integers(1, 6, (sources, sinks))
    m.supply = pyo.Constraint(
        range(sources), rule=lambda m, i: sum(m.flow[i, j] for j in range(sinks)) == 10 * sinks
    )
    m.demand = pyo.Constraint(
        range(sinks), rule=lambda m, j: sum(m.flow[i, j] for i in range(sources)) == 10 * sources
    )
    m.cost = pyo.Objective(
        expr=sum(int(cost[i, j]) * m.flow[i, j] for i in range(sources) for j in range(sinks))
    )
    return m


@pytest.mark.parametrize(
    "build",
    [
        *(
            lambda s=s, k=k: farmer(s, k)
            for s, k in ((3, 0), (4, 2), (5, 0), (6, 1), (10, 3), (30, 7))
        ),
        *(lambda k=k: transport(5, 7, k) for k in range(3)),
        lambda: transport(12, 12, 5),
    ],
)
def test_the_optimum_of_a_linear_program_is_found_and_certified(build):
    m, other = build(), build()
    pyo.assert_optimal_termination(pyo.SolverFactory("stochsqp").solve(m, seed=1))
    pyo.SolverFactory("appsi_highs").solve(other)
    objectives = [
        pyo.value(next(model.component_data_objects(pyo.Objective))) for model in (m, other)
    ]
    # twice the default tolerance: the certificate promises 1e-6, HiGHS is exact
    assert objectives[0] == pytest.approx(objectives[1], rel=2e-6)
