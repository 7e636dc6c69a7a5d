"""Second stages one by one: what interior points find, and what they say where there is nothing."""

import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.stats as st

from pyomo_stochsqp import E, RandomParam, Recourse
from pyomo_stochsqp.value_function.interior_point import LAST
from tests.value_function.second_stages import plant, shortage, value_function


def solved(m, x, **random):
    """The second stages for given random numbers."""
    program, oracle = value_function(m)
    members = program.stage.random
    columns = {id(v): np.asarray(c, dtype=float) for v, c in zip(members, random["w"], strict=True)}
    numbers = program.stage.numbers(
        lambda leaf: columns[id(leaf)] if id(leaf) in columns else pyo.value(leaf),
        len(random["w"][0]),
    )
    prices = np.zeros(program.stage.priced)
    return oracle.stages.solve(np.asarray(x, dtype=float), prices, numbers, LAST)


def test_a_closed_form():
    found = solved(shortage(), [0.4], w=[[0.1, 0.4, 0.9]])
    assert found.solved.all()
    assert found.at.y[:, 0] == pytest.approx([0.0, 0.0, 0.5], abs=2e-5)


def test_rows_of_all_kinds():
    found = solved(plant(), [2.0, 2.0], w=[[0.2, 2.0, 9.0], [0.8, 0.9, 0.7]])
    run, made, short = found.at.y[:, :2], found.at.y[:, 2], found.at.y[:, 3]
    yields = np.array([0.8, 0.9, 0.7]) * (2 * (1 - np.exp(-run / [1.0, 2.0]))).sum(axis=1)
    assert found.solved.all() and not found.violated.any()
    assert made == pytest.approx(yields, abs=1e-8)
    assert (made + short >= np.array([0.2, 2.0, 9.0]) - 1e-8).all()
    assert run[2] == pytest.approx([2.0, 2.0], abs=1e-6)


def hard(spoil=None):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(0, 5), initialize=1.0)
    m.w = RandomParam(distribution=st.uniform(0, 1))

    @Recourse(m)
    def second(b):
        b.y = pyo.Var(bounds=(0, 2), initialize=0.3)
        b.other = pyo.Constraint(expr=b.y**2 <= 4)
        b.meet = pyo.Constraint(expr=m.x * b.y >= m.w)

    m.cost = pyo.Objective(expr=m.x + E(m.second.y**2))
    return m


def test_infeasible_scenarios_are_known_with_their_row():
    found = solved(hard(), [0.25], w=[[0.2, 0.4, 0.8, 3.0]])
    assert found.solved.all()
    assert (found.violated > 0).tolist() == [[False, False]] * 2 + [[False, True]] * 2
    # x y <= 0.5
    assert found.violated[2:, 1] / found.violated[3, 1] == pytest.approx([0.3 / 2.5, 1.0], rel=1e-5)


def test_infeasible_scenarios_prove_conditions():
    _, oracle = value_function(hard())
    sample = oracle.draw(3, 1, [64])
    known = oracle.infeasible(np.array([0.25]), sample)
    assert known.row == "second.meet" and 20 < known.count < 44
    x = oracle.moved(np.array([0.25]), known.cuts)
    assert oracle.infeasible(x, sample).count == 0
    # not further than it must: 2 x >= max w
    assert 2 * x[0] == pytest.approx(sample.payload.batches[0].parts[0][0].max(), rel=1e-4)


def test_nonconvex_second_stages_end_at_minima():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(-1, 1), initialize=0.0)
    m.w = RandomParam(distribution=st.uniform(0, 1))

    @Recourse(m)
    def second(b):
        b.y = pyo.Var(bounds=(-5, 5), initialize=0.01)

    y = m.second.y
    m.cost = pyo.Objective(expr=m.x**2 + E(y**4 / 4 - y**2 / 2 - m.w * y))
    found = solved(m, [], w=[[0.0, 0.5, 1.0]])
    y = found.at.y[:, 0]
    assert found.solved.all()
    assert y**3 - y - [0.0, 0.5, 1.0] == pytest.approx([0.0] * 3, abs=1e-7)
    assert (3 * y**2 - 1 > 0).all()


def test_random_bounds():
    m = shortage()
    m.second.y.setlb(m.w / 2)
    found = solved(m, [0.4], w=[[0.1, 0.4, 0.9]])
    assert found.at.y[:, 0] == pytest.approx([0.05, 0.2, 0.5], abs=1e-5)
