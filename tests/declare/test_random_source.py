"""RandomSource: joint rows for several RandomParams."""

import logging

import numpy as np
import pandas as pd
import pyomo.environ as pyo
import pytest
import scipy.stats as st

from pyomo_stochsqp import E, RandomParam, RandomSource
from pyomo_stochsqp.declare import read_model
from pyomo_stochsqp.errors import DataError

FRAME = pd.DataFrame({"price": [1.0, 2.0, 3.0], "wind": [10.0, 0.0, 5.0], "p": [0.5, 0.25, 0.25]})


def test_a_joint_table_is_one_field_without_copies():
    data = np.arange(12.0).reshape(4, 3)
    rows = RandomSource("rows", data=data)
    m = pyo.ConcreteModel()
    m.x = pyo.Var([0, 1], initialize=1.0)
    m.features = RandomParam([0, 1], source=rows, columns=[0, 2])
    m.label = RandomParam(source=rows, columns=1)
    m.obj = pyo.Objective(expr=E(m.label * sum(m.features[i] * m.x[i] for i in m.x)))
    program = read_model(m)
    (source,) = program.sources
    (part,) = source.parts
    assert (source.name, source.size, len(part.fields)) == ("rows", 4, 1)
    assert np.shares_memory(part.fields[0].matrix, data)
    assert program.leaves[id(m.features[1])].column == 2
    assert program.leaves[id(m.label)].column == 1
    exact = np.mean(data[:, 1] * (data[:, 0] + data[:, 2]))
    assert pyo.value(m.obj) == pytest.approx(exact)


def test_columns_of_a_frame_by_name_and_weights_by_column():
    days = RandomSource(data=FRAME, weights="p")
    m = pyo.ConcreteModel()
    m.price = RandomParam(source=days)
    m.supply = RandomParam(["wind"], source=days)
    assert m.price.mean() == pytest.approx(1.75)
    # joint: E[price wind] over rows, not the product of the means
    assert pyo.value(E(m.price * m.supply["wind"])) == pytest.approx(0.5 * 10 + 0 + 0.25 * 15)


def test_a_label_joins_tables_row_by_row():
    rows = RandomSource("patients", weights=[0.25, 0.75])
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=1.0)
    m.a = RandomParam(data=[1.0, 2.0], source=rows)
    m.b = RandomParam(data=[3.0, 5.0], source=rows)
    m.obj = pyo.Objective(expr=E(m.a * m.b * m.x))
    assert pyo.value(m.obj) == pytest.approx(0.25 * 3 + 0.75 * 10)
    program = read_model(m)
    assert [f.name for f in program.sources[0].parts[0].fields] == ["a", "b"]
    assert program.leaves[id(m.b)].field == 1


def test_a_joint_distribution_read_by_two_random_params():
    cov = np.array([[1.0, 0.9], [0.9, 1.0]])
    joint = RandomSource("market", distribution=st.multivariate_normal([1.0, 2.0], cov))
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=1.0)
    m.a = RandomParam(source=joint, columns=0)
    m.b = RandomParam(source=joint, columns=1)
    m.obj = pyo.Objective(expr=E(m.a * m.b * m.x))
    (part,) = read_model(m).sources[0].parts
    (rows,) = part.draw(np.random.default_rng(0), 20000)
    # standard error of a covariance of 20000 pairs is below 0.01; five of them
    np.testing.assert_allclose(np.cov(rows.T), cov, atol=0.05)
    assert part.dimension == 2


def test_named_distributions():
    joint = RandomSource(distribution={"a": st.norm(1), "b": st.norm(2)})
    m = pyo.ConcreteModel()
    m.b = RandomParam(source=joint)
    assert m.b.mean() == 2.0


def test_independent_sources_stay_apart_unless_an_integrand_mixes_them():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=1.0)
    for name in "abc":
        m.add_component(name, RandomParam(distribution=st.norm()))
    m.obj = pyo.Objective(expr=E(m.a * m.x + m.b * m.x**2 + 3 * m.a + m.x + m.c * m.x))
    program = read_model(m)
    assert [s.name for s in program.sources] == ["a", "b", "c"]
    assert [str(t.integrand) for t in program.objective.terms] == ["a*x + 3*a", "b*x**2", "c*x"]
    assert str(program.objective.exact) == "x"
    m.con = pyo.Constraint(expr=E(m.b * m.c * m.x) == 0)
    program = read_model(m)
    assert [s.name for s in program.sources] == ["a", "b x c"]
    assert program.leaves[id(m.c)].part == 1


def test_one_table_in_two_random_params_is_probably_a_mistake(caplog):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=1.0)
    m.a = RandomParam(data=FRAME, columns="price")
    m.b = RandomParam(data=FRAME, columns="wind")
    m.obj = pyo.Objective(expr=E(m.a * m.x) + E(m.b * m.x))
    with caplog.at_level(logging.WARNING, "pyomo_stochsqp"):
        read_model(m)
        assert caplog.text == ""  # separate expectations do not see the difference
        m.obj.expr = E(m.a * m.b * m.x)
        read_model(m)
    assert "read the same table but are independent" in caplog.text


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            lambda m: RandomParam(data=[1.0], source=RandomSource(data=FRAME)),
            "'w'.*already holds the numbers",
        ),
        (lambda m: RandomParam(source=RandomSource(data=FRAME)), "'w'.*no numeric column 'w'"),
        (
            lambda m: RandomParam(source=RandomSource(data=np.ones((2, 3)))),
            "'w': 3 columns for 1 members.*columns=",
        ),
        (lambda m: RandomParam(source=RandomSource()), "'w'.*exactly one of"),
        (
            lambda m: RandomParam(data=[1.0], weights=[1.0], source=RandomSource()),
            "'w': weights= belong to the shared source",
        ),
        (
            lambda m: RandomParam(data=[1.0, 2.0], source=m.w0.source),
            "'w' has 2 rows, but 'w0' of the same source has 3 rows",
        ),
        (lambda m: RandomSource("s", data=FRAME, sampler=len), "'s'.*data= and sampler= given"),
        (lambda m: RandomSource("s", data=FRAME, weights=[1.0]), "'s': weights of shape"),
    ],
)
def test_wrong_sources(build, message):
    m = pyo.ConcreteModel()
    m.w0 = RandomParam(data=[1.0, 2.0, 3.0], source=RandomSource("label"))
    with pytest.raises(DataError, match=message):
        m.w = build(m)
