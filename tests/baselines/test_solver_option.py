"""The option ``algorithm``: baselines on a Pyomo model, through the solver."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
import pytest

from pyomo_stochsqp import E, RandomParam
from pyomo_stochsqp.errors import OptionError


def nearest_point():
    """min E|x - w|^2 s.t. x_0 + 2 x_1 >= 5, E w = 0: the solution is (1, 2)."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(2), initialize=3.0, bounds=(None, 5))
    w = np.random.default_rng(0).normal(size=(500, 2))
    m.w = RandomParam(range(2), data=w - w.mean(axis=0))
    m.far = pyo.Objective(expr=E(sum((m.x[i] - m.w[i]) ** 2 for i in range(2))))
    m.half = pyo.Constraint(expr=m.x[0] + 2 * m.x[1] >= 5)
    return m


@pytest.mark.parametrize("algorithm", ["stochsqp", "subgradient", "tstom"])
def test_every_algorithm_solves_the_model(algorithm):
    m = nearest_point()
    solver = pyo.SolverFactory("stochsqp")
    solver.solve(m, algorithm=algorithm, seed=1, max_iter=1500, merit_parameter=0.3)
    assert m.x[0].value == pytest.approx(1.0, abs=0.1)
    assert m.x[1].value == pytest.approx(2.0, abs=0.1)


def test_an_unknown_algorithm_is_refused():
    with pytest.raises(OptionError, match="tstom"):
        pyo.SolverFactory("stochsqp").solve(nearest_point(), algorithm="adam")
