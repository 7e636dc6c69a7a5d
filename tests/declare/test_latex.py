"""LaTeX through Pyomo's printer."""

import pyomo.environ as pyo
import scipy.stats as st

from pyomo_stochsqp import E, RandomParam
from pyomo_stochsqp.declare import read_model, to_latex


def test_a_model_with_every_form():
    m = pyo.ConcreteModel()
    m.J = pyo.Set(initialize=[1, 2])
    m.x = pyo.Var(m.J, initialize=1.0, bounds=(0, 1))
    m.w = RandomParam(m.J, distribution=st.norm())
    m.mean = pyo.Expression(m.J, rule=lambda m, j: E(m.w[j] * m.w[1] * m.x[j]))

    @m.Block([1, 2])
    def scenario(b, s):
        b.cost = pyo.Expression(expr=m.x[1] ** 2)

    m.obj = pyo.Objective(expr=E(pyo.exp(m.w[1] * m.x[1])) + E(m.scenario[:].cost))
    m.con = pyo.Constraint(m.J, rule=lambda m, j: m.mean[j] + m.x[j] == 1)
    text = to_latex(m)
    assert r"\mathbb{E} \left( \exp \left( w[1] x[1] \right)" in text
    assert r"\mathbb{E}_s \left( x[1]^{2} \right)" in text
    assert r"\mathbb{E} \left( w[2] w[1] x[2] \right)  + x[2] = 1" in text
    read_model(m)  # the model itself is as it was
