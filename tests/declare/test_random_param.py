"""RandomParam: where the numbers may come from, fixing them, and what is refused."""

import numpy as np
import pandas as pd
import pyomo.environ as pyo
import pytest
import scipy.stats as st
from scipy import sparse

from pyomo_stochsqp import E, RandomParam
from pyomo_stochsqp.declare import read_model
from pyomo_stochsqp.errors import DataError

ROWS = np.array([[1.0, 10.0], [2.0, 20.0], [6.0, 30.0]])


def model_with(*args, **kwds):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=1.0)
    m.w = RandomParam(*args, **kwds)
    return m


@pytest.mark.parametrize(
    "data",
    [
        ROWS,
        ROWS.tolist(),
        ROWS.astype(int),
        np.asfortranarray(ROWS),
        sparse.csr_matrix(ROWS),
        sparse.csr_array(ROWS),
        sparse.coo_matrix(ROWS),
        pd.DataFrame(ROWS, columns=["a", "b"]),
        pd.DataFrame(ROWS[:, ::-1], columns=["b", "a"]),  # matched by name, not by position
        {"b": ROWS[:, 1], "a": ROWS[:, 0], "unused": ["p", "q", "r"]},
        lambda m: ROWS,
    ],
    ids=[
        "array", "lists", "integers", "fortran", "csr_matrix", "csr_array", "coo", "frame",
        "frame in other order", "mapping", "rule",
    ],
)  # fmt: skip
def test_kinds_of_tables(data):
    m = model_with(["a", "b"], data=data)
    assert m.w.mean() == {"a": 3.0, "b": 20.0}
    assert pyo.value(E(m.w["a"] * m.w["b"] * m.x)) == pytest.approx((10 + 40 + 180) / 3)


def test_a_frame_is_read_by_name_even_with_text_and_gaps_in_other_columns():
    frame = pd.DataFrame({"day": ["mo", "tu"], "gap": [np.nan, 1.0], "wind": [3.0, 5.0]})
    m = pyo.ConcreteModel()
    m.wind = RandomParam(data=frame)  # a scalar one reads the column of its own name
    m.speed = RandomParam(data=frame, columns="wind")
    assert m.wind.mean() == m.speed.mean() == 4.0


def test_weights_may_be_a_column():
    frame = pd.DataFrame({"wind": [3.0, 5.0], "p": [0.75, 0.25]})
    m = model_with(data=frame, columns="wind", weights="p")
    assert m.w.mean() == 3.5


def test_columns_choose_among_more():
    wide = np.random.default_rng(0).normal(size=(5, 4))
    m = model_with([0, 1], data=wide, columns=[3, 1])
    assert m.w.mean() == pytest.approx({0: wide[:, 3].mean(), 1: wide[:, 1].mean()})
    m = model_with([0, 1], data=wide, columns=slice(2, None))
    assert m.w.mean() == pytest.approx({0: wide[:, 2].mean(), 1: wide[:, 3].mean()})


def test_a_float_array_is_not_copied_and_sparse_data_stays_sparse():
    m = model_with([0, 1], data=ROWS)
    assert np.shares_memory(m.w.origin.matrix, ROWS)
    m = model_with([0, 1], data=sparse.csr_array(ROWS))
    m.obj = pyo.Objective(expr=E(m.w[0] * m.x))
    assert sparse.issparse(read_model(m).sources[0].parts[0].fields[0].matrix)


def test_multi_indexed_members_match_tuple_columns():
    index = [("n", 1), ("s", 2)]
    m = model_with(index, data=pd.DataFrame(ROWS, columns=pd.MultiIndex.from_tuples(index)))
    assert m.w.mean() == {("n", 1): 3.0, ("s", 2): 20.0}


@pytest.mark.parametrize(
    ("distribution", "mean"),
    [
        (st.norm(3, 1), (3.0, 3.0)),
        (st.norm([1.0, 2.0], 1), (1.0, 2.0)),
        ([st.norm(1), st.gamma(4)], (1.0, 4.0)),
        ({"b": st.gamma(4), "a": st.norm(1)}, (1.0, 4.0)),
        (st.multivariate_normal([1, 2], np.eye(2)), (1.0, 2.0)),
        (st.dirichlet([1.0, 3.0]), (0.25, 0.75)),
        (st.poisson(3), (3.0, 3.0)),
        (lambda m, i: st.norm({"a": 1, "b": 5}[i]), (1.0, 5.0)),
    ],
)
def test_kinds_of_distributions(distribution, mean):
    m = model_with(["a", "b"], distribution=distribution)
    assert tuple(m.w.mean().values()) == pytest.approx(mean)
    m.obj = pyo.Objective(expr=E(m.w["a"] * m.x + m.w["b"]))
    (part,) = read_model(m).sources[0].parts
    (rows,) = part.draw(np.random.default_rng(1), 4000)
    # five standard errors of a mean of 4000; the largest standard deviation here is 2
    np.testing.assert_allclose(rows.mean(axis=0), mean, atol=5 * 2 / np.sqrt(4000))


def test_samplers():
    m = model_with([0, 1], sampler=lambda rng, size: rng.normal([1.0, 2.0], 1.0, (size, 2)))
    m.obj = pyo.Objective(expr=E(m.w[0] * m.x))
    (part,) = read_model(m).sources[0].parts
    (rows,) = part.draw(np.random.default_rng(1), 7)
    assert rows.shape == (7, 2)
    scalar = model_with(sampler=lambda rng, size: rng.normal(size=size))
    assert scalar.w.origin.width == 1


def test_fixing_gives_the_mean_value_problem_and_unfixing_the_random_one():
    m = model_with([0, 1], data=ROWS)
    m.obj = pyo.Objective(expr=E((m.x - m.w[0]) ** 2))
    assert pyo.value(m.obj) == pytest.approx((0 + 1 + 25) / 3)
    m.w.fix_to("mean")
    assert pyo.value(m.w[0]) == 3.0
    assert pyo.value(m.obj) == pytest.approx(4.0)
    assert read_model(m).sources == []
    for values, first in [(2.0, 2.0), ([5.0, 6.0], 5.0), ({0: 7.0, 1: 8.0}, 7.0)]:
        m.w.fix_to(values)
        assert pyo.value(m.w[0]) == first
    m.w.fix_to(row=2)
    assert [pyo.value(m.w[i]) for i in (0, 1)] == [6.0, 30.0]
    m.w.unfix()
    assert pyo.value(m.obj) == pytest.approx(26 / 3)
    assert len(read_model(m).sources) == 1


def test_a_fixed_random_param_may_stand_outside_of_expectations():
    m = model_with(distribution=st.norm(2, 1))
    m.w.fix_to("mean")
    m.obj = pyo.Objective(expr=m.w * m.x)
    assert pyo.value(m.obj) == 2.0
    read_model(m)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda w: w.fix_to("median"), "say 'mean' or give numbers"),
        (lambda w: w.fix_to([1.0, 2.0, 3.0]), r"shape \(3,\) for 2 members"),
        (lambda w: w.fix_to({0: 1.0}), "no value for 1"),
        (lambda w: w.fix_to(row=3), "no row 3"),
        (lambda w: w.fix_to(), "either values or row="),
    ],
)
def test_wrong_fixing(call, message):
    m = model_with([0, 1], data=ROWS)
    with pytest.raises(DataError, match=message):
        call(m.w)


def test_the_mean_of_a_sampler_must_be_given():
    m = model_with(sampler=lambda rng, size: rng.random(size))
    with pytest.raises(DataError, match=r"'w'.*fix_to\(\[\.\.\.\]\)"):
        m.w.fix_to("mean")
    m.w.fix_to(0.5)


NAN = np.array([[1.0, 2.0], [3.0, np.nan]])


@pytest.mark.parametrize(
    ("kwds", "message"),
    [
        ({}, "exactly one of .* \\(none given\\)"),
        ({"data": ROWS, "sampler": lambda r, n: r}, "data= and sampler= given"),
        ({"data": ROWS[:, :1]}, "1 columns for 2 members"),
        ({"data": np.zeros((0, 2))}, "no rows"),
        ({"data": np.zeros((3, 2, 2))}, r"shape \(3, 2, 2\)"),
        ({"data": [["a", "b"]]}, "there are texts"),
        ({"data": [[1.0], [1.0, 2.0]]}, "not a table of numbers"),
        ({"data": NAN}, "NaN or infinity at row 1, column 1"),
        ({"data": sparse.csr_matrix(NAN)}, "NaN or infinity at row 1, column 1"),
        ({"data": pd.DataFrame(NAN, columns=["a", "b"])}, "row 1, column 'b'"),
        ({"data": pd.DataFrame(ROWS, columns=["a", "c"])}, r"no numeric column 'b'.*'a', 'c'"),
        ({"data": {"a": [1.0], "b": ["x"]}}, "column 'b': there are texts"),
        ({"data": {"a": [1.0], "b": [1.0, 2.0]}}, "one number per scenario"),
        ({"data": ROWS, "weights": [0.5, 0.5, 0.5]}, "sum to 1.5"),
        ({"data": ROWS, "weights": [1.5, -0.5, 0.0]}, "not a probability"),
        ({"data": ROWS, "weights": [0.5, 0.5]}, "for 3 scenarios"),
        ({"data": ROWS, "weights": "p"}, "weights='p' is not a column"),
        ({"data": ROWS, "columns": [0, 7]}, "no numeric column 7"),
        ({"data": ROWS, "columns": [0]}, "names 1 columns for 2 members"),
        ({"distribution": st.norm(), "weights": [1.0]}, "carries its own probabilities"),
        ({"distribution": st.gamma}, "is not a frozen scipy.stats distribution"),
        ({"distribution": st.multivariate_normal(np.zeros(3))}, r"expected \(2, 2\)"),
        ({"distribution": [st.norm()]}, r"expected \(2, 2\)"),
        ({"distribution": {"a": st.norm()}}, "no numeric column 'b'"),
        ({"distribution": [st.norm(), st.dirichlet([1, 1])]}, "one univariate"),
        ({"sampler": lambda rng, size: np.zeros((3, size))}, "one row per scenario"),
        ({"sampler": lambda rng, size: np.zeros((size, 3))}, r"expected \(2, 2\)"),
        ({"sampler": lambda rng, size: np.full((size, 2), np.nan)}, "NaN or infinity"),
        ({"source": "days", "data": ROWS}, "'days' is not a RandomSource"),
    ],
)
def test_unusable_data_names_component_and_remedy(kwds, message):
    with pytest.raises(DataError, match=message) as error:
        model_with(["a", "b"], **kwds)
    assert "RandomParam" in str(error.value)


def test_abstract_models_evaluate_rules_from_their_own_data():
    a = pyo.AbstractModel()
    a.I = pyo.Set()
    a.mu = pyo.Param(a.I)
    a.x = pyo.Var(initialize=1.0)
    a.w = RandomParam(a.I, distribution=lambda m, i: st.norm(m.mu[i], 1))
    a.obj = pyo.Objective(rule=lambda m: E(sum(m.w[i] for i in m.I) * m.x))
    for mu in ({1: 2.0, 2: 3.0}, {7: 5.0}):
        instance = a.create_instance({None: {"I": {None: list(mu)}, "mu": mu}})
        assert instance.w.mean() == mu
        assert read_model(instance).sources[0].parts[0].fields[0].width == len(mu)


def test_instances_of_an_abstract_model_share_the_data():
    a = pyo.AbstractModel()
    a.x = pyo.Var(initialize=1.0)
    a.w = RandomParam([0, 1], data=ROWS)
    a.obj = pyo.Objective(rule=lambda m: E(m.w[0] * m.x))
    first, second = a.create_instance(), a.create_instance()
    assert first.w is not second.w
    assert np.shares_memory(first.w.origin.matrix, ROWS)
    assert np.shares_memory(second.w.origin.matrix, ROWS)


def test_units():
    pytest.importorskip("pint")
    from pyomo.util.check_units import assert_units_consistent, assert_units_equivalent

    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=1.0, units=pyo.units.m)
    m.speed = RandomParam(data=[1.0, 2.0], units=pyo.units.m / pyo.units.s)
    m.time = pyo.Expression(expr=E(m.x / m.speed))
    assert_units_equivalent(m.time, pyo.units.s)
    m.con = pyo.Constraint(expr=E(m.x / m.speed) <= 3 * pyo.units.s)
    assert_units_consistent(m.con)


def test_numpy_numbers_and_arrays_multiply_random_params():
    m = pyo.ConcreteModel()
    m.t = RandomParam(data=[1.0, 3.0])
    m.w = RandomParam(range(2), data=[[1.0, 2.0], [3.0, 5.0]])
    assert pyo.value(E(np.float64(2.0) * m.t)) == 4.0
    assert pyo.value(E(np.array([1.0, 10.0]) @ m.w)) == 2.0 + 35.0
