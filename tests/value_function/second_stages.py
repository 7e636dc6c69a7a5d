"""Two-stage models with smooth functions whose answers are known, and their oracles."""

import pyomo.environ as pyo
import scipy.stats as st

from pyomo_stochsqp import E, RandomParam, Recourse
from pyomo_stochsqp.compile import compile_program
from pyomo_stochsqp.declare.recourse import read_two_stage
from pyomo_stochsqp.oracles import ModelOracle
from pyomo_stochsqp.sample import Sampler
from pyomo_stochsqp.value_function import ValueFunction, smooth


def shortage(price=0.25, **random):
    """price x + E[(w - x)_+^2], w in [0, 1]: x = 1 - sqrt(price), and price x + price^1.5 / 3."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(0, 2), initialize=0.9)
    m.w = RandomParam(**(random or {"distribution": st.uniform(0, 1)}))

    @Recourse(m)
    def second(b):
        b.y = pyo.Var(bounds=(0, None))
        b.meet = pyo.Constraint(expr=m.x + b.y >= m.w)

    m.cost = pyo.Objective(expr=price * m.x + E(m.second.y**2))
    return m


def licences(price=0.2, **random):
    """max E[w y - y^2/2] - price x, E y <= x: y = (w - price)_+, x = (1 - price)^2 / 2."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(0, 2), initialize=0.1)
    m.w = RandomParam(**(random or {"distribution": st.uniform(0, 1)}))

    @Recourse(m)
    def second(b):
        b.y = pyo.Var(bounds=(0, 5))

    gain = E(m.w * m.second.y - m.second.y**2 / 2)
    m.gain = pyo.Objective(expr=gain - price * m.x, sense=pyo.maximize)
    m.emitted = pyo.Constraint(expr=E(m.second.y) <= m.x)
    return m


def plant(cap=None, **random):
    """Two machines with a yield that saturates, shortages that cost, perhaps a mean to keep."""
    m = pyo.ConcreteModel()
    m.size = pyo.Var([0, 1], bounds=(0.1, 10), initialize=2.0)
    distribution = [st.gamma(4, scale=0.5), st.uniform(0.7, 0.3)]
    m.w = RandomParam([0, 1], **(random or {"distribution": distribution}))

    @Recourse(m)
    def second(b):
        b.run = pyo.Var([0, 1], bounds=(0, None), initialize=0.5)
        b.made = pyo.Var()
        b.short = pyo.Var(bounds=(0, None))
        b.most = pyo.Constraint([0, 1], rule=lambda b, i: b.run[i] <= m.size[i])
        b.yields = pyo.Constraint(
            expr=b.made == m.w[1] * sum(2 * (1 - pyo.exp(-b.run[i] / (1 + i))) for i in (0, 1))
        )
        b.meet = pyo.Constraint(expr=b.made + b.short >= m.w[0])

    run, short = m.second.run, m.second.short
    m.cost = pyo.Objective(
        expr=0.3 * m.size[0] + 0.2 * m.size[1] ** 2
        + E(0.1 * run[0] + 0.1 * run[1] ** 2 + 3 * short + short**2)
    )  # fmt: skip
    if cap is not None:
        m.emitted = pyo.Constraint(expr=E(run[0] + run[1] ** 2) + 0.1 * m.size[0] <= cap)
    return m


def value_function(m, seed=1):
    """(the program, its oracle)."""
    program = smooth(read_two_stage(m))
    model = ModelOracle(
        program.exact, compile_program(program.exact, False), Sampler(program.exact.sources, seed)
    )
    return program, ValueFunction(program, model)
