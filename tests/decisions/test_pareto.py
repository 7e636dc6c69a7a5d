"""Frontiers along a parameter."""

import numpy as np
import pyomo.environ as pyo
import pytest

from pyomo_stochsqp import E, RandomParam, pareto
from pyomo_stochsqp.errors import ModelError


def model():
    """min E[(x - w)^2] s.t. x >= p: f = 1 + (p - 2)^2 beyond the mean, 2."""
    m = pyo.ConcreteModel("quadratic")
    m.x = pyo.Var(initialize=1.0, bounds=(0, 5))
    m.p = pyo.Param(initialize=0.5, mutable=True)
    m.w = RandomParam(data=[1.0, 3.0])
    m.cost = pyo.Objective(expr=E((m.x - m.w) ** 2))
    m.row = pyo.Constraint(expr=m.x >= m.p)
    return m


def test_points_are_solutions_and_nothing_is_changed():
    m = model()
    f = pareto(m, m.p, [1.0, 3.0, 4.0], m.x, E((m.w - m.x) ** 4))
    np.testing.assert_allclose([p.objective for p in f], [1.0, 2.0, 5.0], rtol=1e-6)
    np.testing.assert_allclose([p.values[0] for p in f], [2.0, 3.0, 4.0], rtol=1e-5)
    assert f[1].values[1] == pytest.approx(8.0, rel=1e-4)
    assert (pyo.value(m.p), m.x.value) == (0.5, 1.0)
    frame = f.to_pandas()
    assert list(frame.columns)[:3] == ["p", "cost", "x"]
    assert len(frame) == len(f) == 3


def test_a_point_without_solution_does_not_end_the_frontier():
    m = model()
    f = pareto(m, m.p, [3.0, 6.0, 4.0])
    assert [bool(p.failure) for p in f] == [False, True, False]
    assert np.isnan(f[1].objective)
    assert "constraints cannot be satisfied" in str(f)


def test_other_solvers():
    highspy = pytest.importorskip("highspy")
    assert highspy
    m = model()
    m.cost.deactivate()
    m.linear = pyo.Objective(expr=E(m.w * m.x) + m.x)
    f = pareto(m, m.p, [3.0], solver="appsi_highs")
    assert f[0].objective == pytest.approx(9.0)


def test_pictures(tmp_path):
    m = model()
    pareto(m, m.p, [1.0, 3.0], m.x).plot(tmp_path / "frontier.png")
    assert (tmp_path / "frontier.png").stat().st_size > 1000


def test_only_params_can_be_varied():
    m = model()
    m.many = pyo.Param([0, 1], initialize=1.0, mutable=True)
    for wrong in (m.x, m.row, 3.0, m.many):
        with pytest.raises(ModelError, match="no mutable Param"):
            pareto(m, wrong, [1.0])
