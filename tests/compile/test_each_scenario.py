"""Functions scenario by scenario: values and derivatives against differences."""

import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.stats as st

from pyomo_stochsqp import RandomParam
from pyomo_stochsqp.compile.each_scenario import EachScenario
from pyomo_stochsqp.errors import ModelError

STEP = 1e-6


@pytest.fixture
def model():
    m = pyo.ConcreteModel()
    m.x = pyo.Var([0, 1])
    m.y = pyo.Var([0, 1, 2])
    m.w = RandomParam([0, 1], distribution=[st.norm(), st.norm()])
    m.p = pyo.Param(initialize=2.0, mutable=True)
    return m


def compiled(m, *functions):
    named = [(f"f{k}", e) for k, e in enumerate(functions)]
    return EachScenario(named, list(m.x.values()), list(m.y.values()), list(m.w.values()))


def test_derivatives_are_those_of_the_values(model):
    m = model
    f = compiled(
        m,
        m.p * pyo.exp(m.x[0] * m.y[0] * m.w[0]) + m.y[1] ** 2 * m.w[1],
        pyo.log(3 + m.y[2] ** 2) / (1 + m.x[1] ** 2) + m.x[0],
        m.y[0] * m.y[1] * m.y[2] + sum(m.y[i] for i in range(3)) ** 3 + m.w[0] ** m.p,
    )
    rng = np.random.default_rng(0)
    x, y, weights = rng.normal(size=2), rng.normal(size=(5, 3)), rng.normal(size=(5, 3))
    w = list(np.abs(rng.normal(size=(2, 5))))
    at = f.derivatives(x, y, w, weights)
    assert at.values == pytest.approx(f.values(x, y, w))
    for j in range(5):
        ends = []
        for sign in (1.0, -1.0):
            dx, dy = x.copy(), y.copy()
            if j < 2:
                dx[j] += sign * STEP
            else:
                dy[:, j - 2] += sign * STEP
            ends.append(f.derivatives(dx, dy, w))
        slope = (ends[0].values - ends[1].values) / (2 * STEP)
        assert at.slopes[:, :, j] == pytest.approx(slope, abs=1e-6)
        change = (ends[0].slopes - ends[1].slopes) / (2 * STEP)
        curvature = np.einsum("sk,skj->sj", weights, change)
        assert at.curvature[:, j] == pytest.approx(curvature, abs=1e-6)


def test_a_kink_is_refused(model):
    with pytest.raises(ModelError, match="'f0': abs"):
        compiled(model, abs(model.y[0]))
