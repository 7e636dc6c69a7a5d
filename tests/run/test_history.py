"""Histories grow, copy and turn into tables."""

import numpy as np
import pytest

from pyomo_stochsqp.run import History
from tests.run.runs import Runner


def test_rows_survive_growth():
    history = History(["iteration", "value"])
    for k in range(1000):
        history.append((k, k**2))
    assert len(history) == 1000
    np.testing.assert_array_equal(history["value"], np.arange(1000.0) ** 2)


def test_a_history_made_from_a_table_grows_on():
    history = History(["a"], np.arange(3.0)[:, None])
    history.append((7.0,))
    np.testing.assert_array_equal(history["a"], [0, 1, 2, 7])


def test_a_copy_is_independent():
    history = History(["a"])
    copy = history.copy()
    history.append((1.0,))
    assert len(copy) == 0


def test_unknown_columns_are_named():
    with pytest.raises(KeyError, match="no column 'b'; there are a"):
        History(["a"])["b"]


def test_pandas_table():
    pytest.importorskip("pandas")
    frame = Runner().run(20).history.to_pandas()
    assert frame.index.name == "iteration"
    assert len(frame) == 20
    assert (frame["merit_parameter"] > 0).all()
