"""hessian= as a diagonal, a matrix and a function: the same H gives the same run."""

import numpy as np
import pyomo.environ as pyo
import pytest
from scipy import stats

from pyomo_stochsqp import E, RandomParam
from pyomo_stochsqp.interface.options.table import validated
from pyomo_stochsqp.solve import prepare

DIAGONAL = np.array([1000.0, 2000.0, 3000.0])


def model(noise):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(3), initialize=1.0)
    m.w = RandomParam(distribution=stats.norm(0, 0.1))
    m.obj = pyo.Objective(expr=500 * sum((i + 1) * (m.x[i] - i) ** 2 for i in range(3)))
    total = sum(m.x[i] for i in range(3))
    m.row = pyo.Constraint(expr=E(total + m.w) == 2 if noise else total == 2)
    if not noise:
        m.del_component(m.w)
    return m


def run(hessian, noise):
    options = {"algorithm": "stochsqp", "batch_size": 64, "max_iter": 100, "seed": 1}
    return prepare(model(noise), validated(options | {"hessian": hessian})).run()


@pytest.mark.parametrize("noise", [True, False])
def test_a_function_is_asked_before_every_iteration(noise):
    asked = []

    def hessian(k, x, y):
        asked.append(k)
        assert x.shape == (3,) and y.shape == (1,)
        return DIAGONAL

    called, fixed = run(hessian, noise), run(DIAGONAL, noise)
    # Lipschitz constants are first measured in the norm of H, which a function does not give before
    # the first iteration: steps may differ until they are measured again.
    np.testing.assert_allclose(called.best.x, fixed.best.x, rtol=0, atol=0.002 if noise else 1e-12)
    assert asked[-1] == called.state.k
    # min 500 sum (i+1)(x_i - i)^2 with sum x = 2: x_i = i - y / (1000 (i+1))
    y = 1.0 / np.sum(1.0 / DIAGONAL)
    exact = np.arange(3) - y / DIAGONAL
    assert np.abs(called.best.x - exact).max() <= (0.01 if noise else 1e-8)


def test_a_matrix_works_like_its_diagonal():
    full, diagonal = run(np.diag(DIAGONAL), True), run(DIAGONAL, True)
    assert np.allclose(full.best.x, diagonal.best.x, rtol=1e-6)
