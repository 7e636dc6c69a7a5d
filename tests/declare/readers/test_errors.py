"""What can be wrong with a file: said by name, and never a dead process."""

import os
import subprocess
import sys

import numpy as np
import pyomo.environ as pyo
import pytest

from pyomo_stochsqp import E, RandomParam
from pyomo_stochsqp.declare.randomness import tables
from pyomo_stochsqp.declare.randomness.readers import opened
from pyomo_stochsqp.errors import DataError
from pyomo_stochsqp.sample import reading
from tests.declare.readers.kinds import Minimal, arrow_table, hdf5, parquet, table

ROWS = 200_000


@pytest.fixture(autouse=True)
def _little_is_kept(monkeypatch):
    monkeypatch.setattr(tables, "_SMALL_FILE", 0)
    monkeypatch.setattr(reading, "KEPT_NUMBERS", 1000)


@pytest.fixture
def path(tmp_path):
    np.save(tmp_path / "t.npy", np.random.default_rng(0).normal(size=(ROWS, 2)))
    return tmp_path / "t.npy"


def model(data):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(2), initialize=0.5)
    m.w = RandomParam(range(2), data=data)
    m.obj = pyo.Objective(expr=E(pyo.exp(m.w[0] * m.x[0]) + (m.w[1] - m.x[1]) ** 2))
    return m


@pytest.mark.parametrize("mapped", [False, True])
@pytest.mark.parametrize("options", [{}, {"algorithm": "stochsqp", "max_iter": 500}], ids=str)
def test_a_file_that_is_cut_off_in_mid_run_ends_it(path, mapped, options):
    m = model(np.load(path, mmap_mode="r") if mapped else path)

    def cut(info):
        if info.iteration == 3:
            os.truncate(path, path.stat().st_size // 2)

    with pytest.raises(DataError, match=r"t\.npy' was changed while it was used \(it has") as e:
        pyo.SolverFactory("stochsqp").solve(m, seed=1, callback=cut, **options)
    assert "The best point so far was loaded into the model." in str(e.value)
    assert abs(m.x[0].value) < 0.1  # the start was .5, the solution is 0


def test_a_file_that_is_written_anew_in_mid_run_ends_it(path):
    def write(info):
        if info.iteration == 3:
            os.utime(path, ns=(1, 1))

    with pytest.raises(DataError, match="its time is another"):
        pyo.SolverFactory("stochsqp").solve(model(path), seed=1, callback=write)


def test_a_file_that_is_gone_in_mid_run_ends_it(path):
    def remove(info):
        if info.iteration == 3:
            path.unlink()

    with pytest.raises(DataError, match=r"t\.npy' cannot be read any more"):
        pyo.SolverFactory("stochsqp").solve(model(path), seed=1, callback=remove)


def test_between_two_solves_a_file_may_change(path):
    m = model(path)
    pyo.SolverFactory("stochsqp").solve(m, seed=1)
    before = m.x[1].value
    np.save(path, np.load(path) + 1.0)
    pyo.SolverFactory("stochsqp").solve(m, seed=1)
    assert m.x[1].value == pytest.approx(before + 1.0, abs=1e-5)


def test_a_file_cut_off_before_the_solve(path):
    m = model(path)
    os.truncate(path, 100_000)
    with pytest.raises(DataError, match="has 100000 bytes, too few for 200000 rows"):
        pyo.SolverFactory("stochsqp").solve(m, seed=1)
    with pytest.raises(DataError, match="too few for 200000 rows: it was cut off"):
        model(path)


def test_a_number_that_is_missing_in_the_middle(path):
    rows = np.load(path)
    rows[123_456, 1] = np.nan
    np.save(path, rows)
    with pytest.raises(DataError, match="'w': data has NaN or infinity at row 123456, column 1"):
        pyo.SolverFactory("stochsqp").solve(model(path), seed=1)


def test_a_missing_entry_of_a_named_column(tmp_path):
    pytest.importorskip("pyarrow")
    rows = table()
    rows[300, 2] = np.nan
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=0.0)
    m.c = RandomParam(data=parquet(tmp_path, rows))
    m.obj = pyo.Objective(expr=E((m.x - m.c) ** 2))
    with pytest.raises(DataError, match="at row 300, column 'c'"):
        pyo.SolverFactory("stochsqp").solve(m, seed=1)


def test_paths_that_lead_nowhere(tmp_path):
    with pytest.raises(DataError, match=r"'w': there is no file .*nothing.parquet"):
        model(tmp_path / "nothing.parquet")
    (tmp_path / "t.csv").write_text("1,2")
    with pytest.raises(DataError, match=r"'w': .*t.csv' ends in none of .npy, .parquet"):
        model(tmp_path / "t.csv")
    (tmp_path / "t.npy").write_text("no numbers")
    with pytest.raises(DataError, match=r"is no \.npy file"):
        model(tmp_path / "t.npy")
    np.save(tmp_path / "texts.npy", np.array(["a", "b"]))
    with pytest.raises(DataError, match="there are texts"):
        model(tmp_path / "texts.npy")
    np.save(tmp_path / "cube.npy", np.zeros((2, 2, 2)))
    with pytest.raises(DataError, match=r"holds an array of shape \(2, 2, 2\)"):
        model(tmp_path / "cube.npy")
    np.save(tmp_path / "empty.npy", np.zeros((0, 2)))
    with pytest.raises(DataError, match="data has no rows"):
        model(tmp_path / "empty.npy")


def test_files_that_do_not_belong_together(tmp_path):
    np.save(tmp_path / "2.npy", np.zeros((5, 2)))
    np.save(tmp_path / "3.npy", np.zeros((5, 3)))
    with pytest.raises(DataError, match=r"3.npy' has other columns than .*2.npy'"):
        model([tmp_path / "2.npy", tmp_path / "3.npy"])


def test_broken_parquet(tmp_path):
    pytest.importorskip("pyarrow")
    (tmp_path / "t.parquet").write_text("no table")
    with pytest.raises(DataError, match=r"'w'.*t\.parquet' cannot be read"):
        model(tmp_path / "t.parquet")


def test_a_filtered_dataset(tmp_path):
    pytest.importorskip("pyarrow")
    from pyarrow.dataset import dataset, field

    data = dataset(parquet(tmp_path, table())).filter(field("a") > 1.0)
    with pytest.raises(DataError, match=r"'w' raised .*[Rr]emove the filtering"):
        model(data)


def test_hdf5_that_is_no_table(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(hdf5(tmp_path, table()), "a") as file:
        file["cube"] = np.zeros((2, 2, 2))
    with pytest.raises(DataError, match=r"holds no columns of equal length.*cube, rows"):
        model(tmp_path / "t.h5")
    with h5py.File(tmp_path / "t.h5") as file:
        with pytest.raises(DataError, match=r"'/cube' .* has shape"):
            model(file["cube"])
        assert model(file["rows"][:, :2]).w.mean()


def test_readers_that_break_their_promise():
    class Short(Minimal):
        def read(self, start, stop):
            return self._rows[start : stop - 1]

    with pytest.raises(DataError, match=r"'w': the row reader returned an array of shape \(3, 2\)"):
        model(Short(table()[:, :2]))

    class Broken(Minimal):
        def read(self, start, stop):
            raise OSError("the disk is gone")

    with pytest.raises(DataError, match="'w': reading rows raised OSError: the disk is gone"):
        model(Broken(table()[:, :2]))


def test_two_names_for_one_file_are_noticed(path, caplog):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=0.5)
    m.a = RandomParam(data=path, columns=[0])
    m.b = RandomParam(data=str(path), columns=[1])
    m.obj = pyo.Objective(expr=E((m.a * m.x - m.b) ** 2))
    pyo.SolverFactory("stochsqp").solve(m, seed=1, max_iter=3)
    assert "read the same table but are independent" in caplog.text


def test_arrow_tables_leave_texts_out():
    content = arrow_table(None, table())
    assert opened("w", content).labels == ["a", "b", "c", "d", "e"]


LIMITED = """
import resource, sys
import numpy as np, pyomo.environ as pyo
from pyomo_stochsqp import E, RandomParam
limit = 480 << 20
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
m = pyo.ConcreteModel()
m.x = pyo.Var(range(2), initialize=0.5)
m.w = RandomParam(range(2), data=sys.argv[1], columns=[0, 39])
assert m.w.origin.matrix.shape[0] * m.w.origin.matrix.shape[1] * 8 > limit
m.obj = pyo.Objective(expr=E((m.x[0] - m.w[0] - 1) ** 2 + (m.w[1] + 2 - m.x[1]) ** 2))
results = pyo.SolverFactory("stochsqp").solve(m, seed=1)
print(round(m.x[0].value, 4), round(m.x[1].value, 4), results.message)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ulimit -v")
def test_a_table_larger_than_the_address_space(tmp_path):
    """A sparse file: zeros that take no space on the disk."""
    shape = (1_600_000, 40)
    np.lib.format.open_memmap(tmp_path / "t.npy", "w+", shape=shape, dtype=float)
    command = [sys.executable, "-c", LIMITED, str(tmp_path / "t.npy")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.stdout == "1.0 2.0 optimal, certified within the tolerances\n", done.stderr
