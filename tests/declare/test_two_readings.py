"""Our evaluator and Pyomo's own arithmetic on the sample average agree, whatever the form."""

import numpy as np
import pyomo.environ as pyo
import pytest
from scipy import sparse

from pyomo_stochsqp import E, RandomParam, RandomSource
from pyomo_stochsqp.evaluation import evaluate

RNG = np.random.default_rng(5)
TABLE = RNG.normal(size=(40, 3))
WEIGHTS = RNG.random(40) / 40
WEIGHTS /= WEIGHTS.sum()


def base():
    m = pyo.ConcreteModel()
    m.J = pyo.RangeSet(0, 2)
    m.x = pyo.Var(m.J, initialize=lambda m, j: 0.3 * (j + 1))
    return m


def template(**random):
    m = base()
    m.w = RandomParam(m.J, **random)
    m.obj = pyo.Objective(expr=E(pyo.exp(sum(m.w[j] * m.x[j] for j in m.J))) * m.x[0] + m.x[1])
    m.con = pyo.Constraint(
        m.J, rule=lambda m, j: E(abs(m.w[j]) * m.x[j] ** 2 + m.x[0]) - 3 * E(m.w[j]) == 0
    )
    return m


def array():
    return template(data=TABLE)


def weighted():
    return template(data=TABLE, weights=WEIGHTS)


def csr():
    return template(data=sparse.csr_array(np.where(TABLE > 0, TABLE, 0.0)), weights=WEIGHTS)


def single_precision_file(tmp_path):
    path = tmp_path / "single.npy"
    np.save(path, TABLE.astype(np.float32))
    return template(data=np.load(path, mmap_mode="r"))


def joint():
    m = base()
    rows = RandomSource(data=TABLE, weights=WEIGHTS)
    m.a = RandomParam([0, 1], source=rows, columns=[2, 0])
    m.b = RandomParam(source=rows, columns=1)
    m.obj = pyo.Objective(expr=E((m.a[0] * m.x[0] + m.a[1] * m.x[1] - m.b) ** 2))
    return m


def labelled():
    m = base()
    rows = RandomSource("rows", weights=WEIGHTS)
    m.b = RandomParam(data=TABLE[:, 0], source=rows)
    m.a = RandomParam([0, 1], data=TABLE[:, 1:], source=rows)
    m.obj = pyo.Objective(expr=E((m.a[0] * m.x[0] + m.a[1] * m.x[1] - m.b) ** 2))
    return m


def product():
    m = base()
    m.a = RandomParam(data=[1.0, 2.0, 4.0])
    m.b = RandomParam(data=[1.0, 3.0], weights=[0.25, 0.75])
    m.c = RandomParam(data=[5.0, 6.0])
    m.obj = pyo.Objective(expr=E(m.a * m.x[0] ** m.b + m.c * m.x[1] + m.x[2]))
    m.con = pyo.Constraint(expr=E((m.a + m.b) ** 2 * m.x[0]) <= 3)
    return m


def partly_fixed():
    m = product()
    m.b.fix_to("mean")
    return m


def blocks():
    m = base()
    m.p = pyo.Param(range(40), initialize=dict(enumerate(WEIGHTS)), mutable=True)

    @m.Block(range(40))
    def scenario(b, s):
        b.scale = pyo.Param(initialize=TABLE[s, 0], mutable=True)
        b.own = pyo.Var(initialize=TABLE[s, 1])
        b.cost = pyo.Expression(expr=pyo.sin(b.scale * m.x[0]) + b.own**2 * m.x[1])
        b.link = pyo.Constraint(expr=b.own <= m.x[2] + 9)

    m.obj = pyo.Objective(expr=2 * E(m.scenario[:].cost, weights=m.p) + m.x[2])
    m.con = pyo.Constraint(expr=E(m.scenario[:].scale) * m.x[0] >= 0)
    m.scenario[3].deactivate()
    m.obj.expr = 2 * E(m.scenario[:].cost, weights=m.p, renormalise=True) + m.x[2]
    m.con.set_value(E(m.scenario[:].scale, weights=m.p, renormalise=True) * m.x[0] >= 0)
    return m


def extensive():
    import scipy.stats as st

    m = template(distribution=[st.norm(), st.uniform(), st.expon()])
    pyo.TransformationFactory("stochsqp.extensive_form").apply_to(
        m, n_scenarios=64, method="quadrature"
    )
    return m


CASES = [array, weighted, csr, joint, labelled, product, partly_fixed, blocks, extensive]


@pytest.mark.parametrize("build", CASES)
def test_values_agree(build):
    m = build()
    table = evaluate(m)
    assert table.exact
    agree(m, table, 1e-12)


def test_single_precision_data_is_computed_in_double(tmp_path):
    m = single_precision_file(tmp_path)
    agree(m, evaluate(m), 1e-12)


def agree(m, table, tolerance):
    for value in table:
        component = m.find_component(value.name)
        expected = pyo.value(component.body if "con" in value.name else component)
        assert value.value == pytest.approx(expected, rel=tolerance, abs=tolerance)
