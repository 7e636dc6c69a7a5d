"""Kinks inside a chance constraint make expectations on the way that nobody else holds."""

import gc

import pyomo.environ as pyo
import pytest
import scipy.stats as st

from pyomo_stochsqp import Probability, RandomParam, smooth_max
from pyomo_stochsqp.interface.options.table import validated
from pyomo_stochsqp.solve import prepare


def joint_chance():
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(initialize=0.0), pyo.Var(initialize=0.0)
    m.a = RandomParam(distribution=st.norm(3, 1))
    m.b = RandomParam(distribution=st.norm(5, 2))
    m.cost = pyo.Objective(expr=m.x + 2 * m.y)
    m.safe = pyo.Constraint(expr=Probability(smooth_max(m.a - m.x, m.b - m.y) <= 0) >= 0.9)
    return m


@pytest.mark.parametrize("collect", [gc.collect, lambda: None])
def test_a_definition_is_known_by_a_node_that_lives(collect):
    # An id that was given to another node would exchange their symbols: every reading differs.
    seen = set()
    for _ in range(6):
        oracle = prepare(joint_chance(), validated({"seed": 1})).oracle
        collect()
        x = oracle.problem.x0
        estimate = oracle.estimate(x, oracle.draw(0, 1, [512] * len(oracle.sources)))
        assert estimate.issue is None
        seen.add(estimate.c.tobytes() + estimate.J.tobytes())
    assert len(seen) == 1
