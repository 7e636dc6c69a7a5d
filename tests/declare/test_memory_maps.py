"""Large tables on disk: declared in milliseconds, never copied, pickled by file name."""

import pickle
import time

import numpy as np
import pyomo.environ as pyo
import pytest

from pyomo_stochsqp import E, RandomParam
from pyomo_stochsqp.declare import read_model
from pyomo_stochsqp.declare.randomness.readers import Stored
from pyomo_stochsqp.errors import DataError


def on_disk(path, shape):
    """A file of zeros that takes no space until it is read (a sparse file)."""
    return np.lib.format.open_memmap(path, mode="w+", dtype=float, shape=shape)


def model_over(table):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(table.shape[1]), initialize=1.0)
    m.w = RandomParam(range(table.shape[1]), data=table)
    m.obj = pyo.Objective(expr=E(sum(m.w[j] * m.x[j] for j in m.x) ** 2))
    return m


def test_a_million_rows_are_declared_and_read_without_a_copy(tmp_path):
    on_disk(tmp_path / "big.npy", (1_000_000, 100))
    table = np.load(tmp_path / "big.npy", mmap_mode="r")
    m = pyo.ConcreteModel()
    start = time.perf_counter()
    m.w = RandomParam(range(100), data=table)
    seconds = time.perf_counter() - start
    # measured: 2.4 ms, of which most is making 100 members; reading 800 MB would take 200 ms
    assert seconds < 0.05
    assert isinstance(m.w.origin.matrix, Stored)
    m.x = pyo.Var(initialize=1.0)
    m.obj = pyo.Objective(expr=E(m.w[3] * m.x))
    field = read_model(m).sources[0].parts[0].fields[0]
    assert field.matrix.shape == (1_000_000, 1)
    assert m.clone().w.origin is m.w.origin


def test_pickles_name_the_file(tmp_path):
    table = on_disk(tmp_path / "t.npy", (1000, 3))
    table[7] = [1.0, 2.0, 3.0]
    table.flush()
    m = model_over(np.load(tmp_path / "t.npy", mmap_mode="r"))
    content = pickle.dumps(m)
    assert len(content) < 20_000  # the table alone has 24,000 bytes
    copy = pickle.loads(content)
    np.testing.assert_array_equal(copy.w.origin.matrix[7], [[1.0, 2.0, 3.0]])


def test_views_of_a_file_are_pickled_as_such(tmp_path):
    table = on_disk(tmp_path / "t.npy", (100, 3))
    table[:] = np.arange(300.0).reshape(100, 3)
    copy = pickle.loads(pickle.dumps(model_over(table[10:20])))
    np.testing.assert_array_equal(copy.w.origin.matrix[:], table[10:20])


def test_first_rows_are_checked_at_declaration_and_the_mean_reads_in_chunks(tmp_path):
    table = on_disk(tmp_path / "t.npy", (50_000, 30))
    table[:] = np.arange(30.0)
    assert model_over(table).w.mean() == pytest.approx({j: float(j) for j in range(30)})
    table[-1, 4] = np.nan
    model_over(table)  # found out when the row is drawn
    table[1, 4] = np.nan
    with pytest.raises(DataError, match="row 1, column 4"):
        model_over(table)
