"""The comparison with other solvers: the problem, a measurement, the table."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.peer_workers import RADIUS_SQUARED, examples, kkt_error, model
from benchmarks.peers import main, measure
from benchmarks.trace import errors_at
from pyomo_stochsqp.interface.options.table import validated
from pyomo_stochsqp.solve import prepare


def test_the_error_is_that_of_the_model():
    data = examples(50)
    setup = prepare(model(*data), validated({"seed": 1}))
    x = np.linspace(-1, 1, 20)
    infeasibility, stationarity = errors_at(setup.oracle, [x])
    assert kkt_error(x, *data) == pytest.approx(max(infeasibility[0], stationarity[0]), rel=1e-8)
    assert RADIUS_SQUARED == 4.0


def test_a_measurement_of_ours_and_its_table(tmp_path, capsys):
    path = tmp_path / "results.jsonl"
    common = ["--results", str(path), "--out", str(tmp_path)]
    only = ["--sizes", "100", "--methods", "ours", "--tolerances", "1e-5"]
    assert main(["run", *common, *only]) == 0
    assert len(path.read_text().splitlines()) == 1
    assert main(["table", *common]) == 0
    assert "| 100 | 1e-05 |" in (tmp_path / "tables.md").read_text()


def test_a_run_out_of_time_is_recorded(tmp_path):
    record = measure("ours", 100, 1e-3, tmp_path, limit=0.01)
    assert record["seconds"] is None
    assert "more than 0.01 s" in record["why"]
