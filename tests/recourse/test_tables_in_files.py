"""Two-stage models over tables that are not in memory."""

import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.stats as st

from pyomo_stochsqp import E, RandomParam, Recourse, evaluate
from pyomo_stochsqp.declare.randomness import tables
from pyomo_stochsqp.errors import DataError
from tests.recourse.two_stage_models import newsvendor_cost

pytest.importorskip("highspy")
ROWS = 20_000


@pytest.fixture
def rows(monkeypatch):
    """Demands that are uniform on [50, 150], between two other columns."""
    monkeypatch.setattr(tables, "_SMALL_FILE", 0)  # small ones stay in their files, too
    points = (np.random.default_rng(1).permutation(ROWS) + 0.5) / ROWS
    return np.column_stack([np.full(ROWS, 1e9), st.uniform(50, 100).ppf(points), np.ones(ROWS)])


def npy(folder, rows):
    path = folder / "rows.npy"
    np.save(path, rows)
    return {"data": path, "columns": [1]}


def mapped(folder, rows):
    return {"data": np.load(npy(folder, rows)["data"], mmap_mode="r"), "columns": [1]}


def parquet(folder, rows):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    path = folder / "rows.parquet"
    pq.write_table(pa.table(dict(zip("abc", rows.T, strict=True))), path)
    return {"data": path, "columns": ["b"]}


def stocked(**table):
    m = pyo.ConcreteModel()
    m.stock = pyo.Var(bounds=(0, 1000))
    m.demand = RandomParam([0], **table)
    m.second = Recourse()
    m.second.short = pyo.Var(bounds=(0, None))
    m.second.meet = pyo.Constraint(expr=m.stock + m.second.short >= m.demand[0])
    m.obj = pyo.Objective(expr=m.stock + 4 * E(m.second.short))
    return m


@pytest.mark.parametrize("kind", [npy, mapped, parquet])
def test_tables_in_files_are_read_where_they_are_needed(tmp_path, rows, kind):
    m = stocked(**kind(tmp_path, rows))
    results = pyo.SolverFactory("stochsqp").solve(m, seed=1, gap=5e-3)
    assert results.solver.termination_condition == pyo.TerminationCondition.optimal
    assert newsvendor_cost(m.stock.value) == pytest.approx(137.5, rel=5e-3)
    objective = evaluate(m, samples=3200, seed=2)["obj"]
    assert objective.value == pytest.approx(newsvendor_cost(m.stock.value), rel=0.05)


def test_missing_numbers_in_a_file_are_found(tmp_path, rows):
    broken = rows.copy()
    broken[1000:, 1] = np.nan
    m = stocked(**npy(tmp_path, broken))
    with pytest.raises(DataError, match="'demand': data has NaN or infinity at row"):
        pyo.SolverFactory("stochsqp").solve(m, seed=1)
