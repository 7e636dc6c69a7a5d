"""Models with Recourse for every other Pyomo solver: the extensive form."""

import numpy as np
import pyomo.environ as pyo
import pytest

from pyomo_stochsqp import E, RandomParam, Recourse
from pyomo_stochsqp.errors import ModelError, OptionError
from tests.recourse.two_stage_models import (
    BEST_COST,
    BEST_STOCK,
    farmer,
    newsvendor,
    newsvendor_cost,
)

FORM = pyo.TransformationFactory("stochsqp.extensive_form")


def solve(m):
    pyo.SolverFactory("appsi_highs").solve(m)
    return pyo.value(next(m.component_data_objects(pyo.Objective, active=True)))


def test_finite_data_is_the_textbook_answer():
    m = farmer()
    written = FORM.create_using(m)
    assert solve(written) == pytest.approx(-108390.0)
    assert [v.value for v in written.acres.values()] == pytest.approx([170.0, 80.0, 250.0])
    assert written.second_in[2].sell["wheat"].value == pytest.approx(310.0)
    assert m.second.active and not hasattr(m, "second_in")  # the original is untouched


def test_weights_count():
    written = FORM.create_using(farmer(weights=[0.0, 1.0, 0.0]))
    assert solve(written) == pytest.approx(-118600.0)


def test_a_distribution_becomes_scenarios():
    written = FORM.create_using(newsvendor(), n_scenarios=200, method="latin_hypercube", seed=1)
    assert len(written.second_in) == 200
    assert solve(written) == pytest.approx(BEST_COST, rel=0.01)
    assert newsvendor_cost(written.stock.value) == pytest.approx(BEST_COST, rel=1e-3)
    assert BEST_STOCK == pytest.approx(written.stock.value, abs=2)


def test_a_distribution_needs_a_number_of_scenarios():
    with pytest.raises(OptionError, match="n_scenarios"):
        FORM.create_using(newsvendor())


def test_the_solution_comes_back():
    m = farmer()
    written = FORM.create_using(m)
    solve(written)
    FORM.propagate_solution(written)
    assert m.acres["corn"].value == pytest.approx(80.0)


def test_independent_tables_meet_in_the_second_stage():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(0, 9))
    m.a = RandomParam(data=[1.0, 2.0], weights=[0.25, 0.75])
    m.b = RandomParam(data=[3.0, 5.0, 7.0])

    @Recourse(m)
    def later(b):
        b.inner = pyo.Block(["k"])
        b.inner["k"].y = pyo.Var(bounds=(0, m.b))
        b.need = pyo.Constraint(expr=b.inner["k"].y + m.x >= m.a * m.b)

    m.obj = pyo.Objective(expr=1.5 * m.x + E(m.a * m.later.inner["k"].y))
    written = FORM.create_using(m)
    assert len(written.later_in) == 6
    assert [written.later_in[s].inner["k"].y.ub for s in (0, 1, 2)] == [3.0, 5.0, 7.0]
    # x must be 7, for (2, 7); what is left is 2 * 5 - 7 = 3 for (2, 5), and 7 for (2, 7)
    assert solve(written) == pytest.approx(1.5 * 7 + 2 * (3 + 7) * 0.75 / 3)


def test_too_many_scenarios_for_blocks():
    m = newsvendor()
    m.demand.fix_to(100)
    m.w = RandomParam(data=np.arange(1000.0))
    m.v = RandomParam(data=np.arange(1000.0))
    m.second.more = pyo.Constraint(expr=m.second.short >= m.w - m.v)
    with pytest.raises(ModelError, match="too many for blocks"):
        FORM.create_using(m, n_scenarios=10)
    assert len(FORM.create_using(m, n_scenarios=10, sample_finite=True).second_in) == 10


@pytest.mark.parametrize("place", ["bound of a row", "bound of a variable"])
def test_numbers_of_the_second_stage_alone_are_not_missed_once_it_is_written_out(place):
    """They are nowhere but in what was the Recourse, left and right of rows and in bounds."""
    m = pyo.ConcreteModel()
    m.k = pyo.Var(bounds=(0, 10))
    m.d = RandomParam(data=[1.0, 2.0, 5.0])

    @Recourse(m)
    def second(b):
        b.y = pyo.Var(bounds=(m.d, None) if place == "bound of a variable" else (0, None))
        b.meet = pyo.Constraint(expr=b.y >= (0 if place == "bound of a variable" else m.d))
        b.cap = pyo.Constraint(expr=b.y <= m.k)

    m.obj = pyo.Objective(expr=m.k + E(m.second.y))
    written = pyo.TransformationFactory("stochsqp.extensive_form").create_using(m)
    pyo.SolverFactory("stochsqp").solve(written)
    assert written.k.value == pytest.approx(5.0, abs=1e-4)
