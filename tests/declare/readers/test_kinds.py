"""Every kind of table on disk is read as the same matrix, and solved as one."""

import pickle

import numpy as np
import pyomo.environ as pyo
import pytest

from pyomo_stochsqp import E, RandomParam, RandomSource, evaluate
from pyomo_stochsqp.declare.randomness import tables
from pyomo_stochsqp.declare.randomness.readers import Stored
from pyomo_stochsqp.errors import DataError
from tests.declare.readers.kinds import (
    COLUMNS,
    KINDS,
    NAMES,
    ROWS,
    WITH_NAMES,
    Minimal,
    Named,
    table,
)


@pytest.fixture(autouse=True)
def _small_files_are_not_read_at_once(monkeypatch):
    monkeypatch.setattr(tables, "_SMALL_FILE", 0)


def name_of(kind):
    return kind.__name__


@pytest.fixture(params=KINDS, ids=name_of)
def stored(request, tmp_path):
    made = tables.table("w", request.param(tmp_path, table()))
    assert made.stored
    return made.matrix


def test_rows_are_those_of_the_table(stored):
    rows = table()
    rng = np.random.default_rng(0)
    assert stored.shape == (ROWS, COLUMNS)
    # on and back, inside a row group and across
    for start, stop in ((0, 10), (10, 200), (205, 206), (3, 650), (650, ROWS), (0, ROWS), (5, 5)):
        np.testing.assert_array_equal(stored.rows(slice(start, stop)), rows[start:stop])
    for count in (1, 7, 500):
        numbers = rng.integers(0, ROWS, count)
        np.testing.assert_array_equal(stored.rows(numbers), rows[numbers])
    np.testing.assert_array_equal(stored[:, [3, 1]], rows[:, [3, 1]])
    np.testing.assert_array_equal(stored[5], rows[5:6])


def test_some_columns_are_read_alone(stored):
    part = stored.only([4, 1])
    assert part is stored.only([4, 1])
    np.testing.assert_array_equal(part.rows(slice(20, 400)), table()[20:400, [4, 1]])
    np.testing.assert_array_equal(part.rows(np.array([9, 3, 9])), table()[[9, 3, 9]][:, [4, 1]])
    np.testing.assert_array_equal(part.only([1])[:], table()[:, [1]])


def test_tables_are_pickled_with_their_model(stored):
    copy = pickle.loads(pickle.dumps(stored.only([2, 0])))
    np.testing.assert_array_equal(copy.rows(slice(100, 300)), table()[100:300, [2, 0]])


@pytest.mark.parametrize("kind", WITH_NAMES, ids=name_of)
def test_names_of_columns(kind, tmp_path):
    data = kind(tmp_path, table())
    m = pyo.ConcreteModel()
    m.w = RandomParam(["d", "a"], data=data)
    m.c = RandomParam(data=data)
    assert m.w.mean() == pytest.approx({"d": table()[:, 3].mean(), "a": table()[:, 0].mean()})
    assert m.c.mean() == pytest.approx(table()[:, 2].mean())
    with pytest.raises(DataError, match="there is no numeric column 'z'"):
        RandomSource(data=data) and setattr(m, "z", RandomParam(["z"], data=data))


@pytest.mark.parametrize("kind", WITH_NAMES, ids=name_of)
def test_weights_by_name(kind, tmp_path):
    rows = np.abs(table())
    rows[:, 1] /= rows[:, 1].sum()
    m = pyo.ConcreteModel()
    m.w = RandomParam(["a"], data=kind(tmp_path, rows), weights="b")
    m.x = pyo.Var(initialize=0.0)
    m.obj = pyo.Objective(expr=E((m.x - m.w["a"]) ** 2))
    pyo.SolverFactory("stochsqp").solve(m, seed=1)
    assert m.x.value == pytest.approx(rows[:, 0] @ rows[:, 1], rel=1e-5)


def regression(data, columns=None):
    m = pyo.ConcreteModel()
    m.J = pyo.RangeSet(0, 3)
    m.x = pyo.Var(m.J, initialize=0.1)
    m.w = RandomParam(m.J, data=data, columns=columns)
    m.obj = pyo.Objective(expr=E((sum(m.w[j] * m.x[j] for j in (0, 1, 3)) - 1) ** 2) + m.x[2] ** 2)
    m.moment = pyo.Constraint(expr=E(pyo.exp(m.w[0] * m.x[0])) == 2)
    return m


@pytest.mark.parametrize("kind", KINDS, ids=name_of)
@pytest.mark.parametrize("options", [{}, {"algorithm": "stochsqp", "max_iter": 90}], ids=str)
def test_solutions_are_those_of_the_array(kind, options, tmp_path):
    expected = regression(table(), columns=slice(0, 4))
    pyo.SolverFactory("stochsqp").solve(expected, seed=2, **options)
    given = kind(tmp_path, table())
    m = regression(given, NAMES[:4] if kind in WITH_NAMES else slice(0, 4))
    pyo.SolverFactory("stochsqp").solve(m, seed=2, **options)
    for j in m.J:
        assert m.x[j].value == pytest.approx(expected.x[j].value, rel=1e-9, abs=1e-12)


def test_evaluate_and_other_data(tmp_path):
    m = regression(Minimal(table()), slice(0, 4))
    expected = evaluate(regression(table(), slice(0, 4)))
    found = evaluate(m)
    assert found["obj"].value == pytest.approx(expected["obj"].value, rel=1e-12)
    spread = found.outcomes["moment"].std
    assert spread == pytest.approx(expected.outcomes["moment"].std, rel=1e-12)
    np.save(tmp_path / "other.npy", table()[::2])
    other = evaluate(m, data=str(tmp_path / "other.npy"))
    half = evaluate(regression(table()[::2], slice(0, 4)))
    assert other["moment"].value == pytest.approx(half["moment"].value, rel=1e-12)


def test_columns_that_no_function_reads_are_left_in_the_file():
    reader = Named(np.column_stack([table(), np.full(ROWS, np.nan)]), [*NAMES, "broken"])
    m = pyo.ConcreteModel()
    days = RandomSource("days", data=reader)
    m.b = RandomParam(source=days)
    m.unused = RandomParam(source=days, columns="c")
    m.e = RandomParam(source=days)
    m.x = pyo.Var(initialize=1.0)
    m.obj = pyo.Objective(expr=E((m.x * m.b - m.e) ** 2))
    pyo.SolverFactory("stochsqp").solve(m, seed=1)
    b, e = table()[:, 1], table()[:, 4]
    assert m.x.value == pytest.approx((b @ e) / (b @ b), rel=1e-6)


def test_tables_in_files_and_in_memory_are_joined_row_by_row():
    rows = table()
    m = pyo.ConcreteModel()
    days = RandomSource("days")
    m.a = RandomParam(data=Minimal(rows[:, :1]), source=days)
    m.b = RandomParam(data=rows[:, 1], source=days)
    m.x = pyo.Var(initialize=0.0)
    m.obj = pyo.Objective(expr=E((m.x * m.a - m.b) ** 2))
    pyo.SolverFactory("stochsqp").solve(m, seed=1)
    assert m.x.value == pytest.approx((rows[:, 0] @ rows[:, 1]) / (rows[:, 0] @ rows[:, 0]))


def test_products_with_other_sources():
    rows = table()
    m = pyo.ConcreteModel()
    m.a = RandomParam(data=Minimal(rows[:, :1]))
    m.b = RandomParam(data=rows[:50, 1])
    m.x = pyo.Var(initialize=0.0)
    m.obj = pyo.Objective(expr=E((m.x - m.a * m.b) ** 2))
    pyo.SolverFactory("stochsqp").solve(m, seed=1)
    assert m.x.value == pytest.approx(rows[:, 0].mean() * rows[:50, 1].mean(), rel=1e-6)


def test_a_small_file_is_read_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "_SMALL_FILE", ROWS * COLUMNS)
    np.save(tmp_path / "t.npy", table())
    m = pyo.ConcreteModel()
    m.w = RandomParam(range(COLUMNS), data=tmp_path / "t.npy")
    assert isinstance(m.w.origin.matrix, np.ndarray)
    monkeypatch.setattr(tables, "_SMALL_FILE", ROWS * COLUMNS - 1)
    m.v = RandomParam(range(COLUMNS), data=tmp_path / "t.npy")
    assert isinstance(m.v.origin.matrix, Stored)
