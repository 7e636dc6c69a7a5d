"""Checkpoints: bit-for-bit resume, refusals, and files that are always complete."""

import os
import stat
import time

import numpy as np
import pytest

from pyomo_stochsqp.errors import CheckpointError
from pyomo_stochsqp.run.checkpoint import Keeper, load, packed_run
from pyomo_stochsqp.run.identity import Identity
from pyomo_stochsqp.run.safe_file import SafeFile
from pyomo_stochsqp.solve import RECORDS
from tests.run.packing import same_bits
from tests.run.runs import Runner, StagedRunner
from tests.sqp.oracles import noisy_sphere, tilting

LABELS = Identity({"the version": "1"})
SAMPLES = 100_000  # batches that grow would not end otherwise


def saved(path, runner, iterations, progress=None):
    outcome = runner.run(iterations, progress=progress, max_samples=SAMPLES)
    with SafeFile(str(path)) as file:
        file.write(packed_run(outcome.progress, LABELS, "{}", runner.oracle))
    return outcome


def restored(path, runner):
    checkpoint = load(str(path))
    checkpoint.check(LABELS, runner.oracle)
    return checkpoint.restore(runner.beginning(), RECORDS, runner.oracle)


@pytest.mark.parametrize("oracle", [tilting, noisy_sphere])
@pytest.mark.parametrize("growth", ["adaptive", "constant", "geometric"])
def test_a_resumed_run_is_the_run_that_never_stopped(tmp_path, oracle, growth):
    path = tmp_path / "run.npz"
    whole = Runner(oracle(), growth).run(300, max_samples=SAMPLES)
    for stops in ([120], [50], [1, 2, 99, 100, 101, 250]):
        saved(path, Runner(oracle(), growth), stops[0])
        for k in (*stops[1:], 300):
            runner = Runner(oracle(), growth)
            outcome = saved(path, runner, k, restored(path, runner))
        assert same_bits(outcome.state, whole.state)
        np.testing.assert_array_equal(outcome.history.table, whole.history.table)
        np.testing.assert_array_equal(outcome.certificates.table, whole.certificates.table)
        assert same_bits(outcome.best, whole.best)


@pytest.mark.parametrize("oracle", [tilting, noisy_sphere])
def test_a_staged_run_is_resumed_too(tmp_path, oracle):
    path = tmp_path / "run.npz"
    whole = StagedRunner(oracle()).run(np.inf, max_samples=SAMPLES)
    assert whole.state.stage >= 2
    for stop in range(1, whole.state.k, 6):
        saved(path, StagedRunner(oracle()), stop)
        runner = StagedRunner(oracle())
        outcome = runner.run(np.inf, progress=restored(path, runner), max_samples=SAMPLES)
        assert same_bits(outcome.state, whole.state)
        np.testing.assert_array_equal(outcome.history.table, whole.history.table)
        np.testing.assert_array_equal(outcome.certificates.table, whole.certificates.table)


def test_another_version_is_refused(tmp_path):
    saved(tmp_path / "run.npz", Runner(), 10)
    with pytest.raises(CheckpointError, match="the version was '1' then and is '2' now"):
        load(str(tmp_path / "run.npz")).check(Identity({"the version": "2"}), tilting())


@pytest.mark.parametrize("other", [tilting(seed=2), noisy_sphere()])
def test_another_model_or_seed_is_refused(tmp_path, other):
    saved(tmp_path / "run.npz", Runner(tilting(seed=1)), 10)
    with pytest.raises(CheckpointError, match="the data or the seed has changed"):
        load(str(tmp_path / "run.npz")).check(LABELS, other)


def test_records_of_another_version_are_refused(tmp_path):
    """A class that is not known, or has other fields now."""
    runner = Runner()
    saved(tmp_path / "run.npz", runner, 10)
    checkpoint = load(str(tmp_path / "run.npz"))
    known = [c for c in RECORDS if c.__name__ != "LookedState"]
    with pytest.raises(CheckpointError, match="not hold a run of this version"):
        checkpoint.restore(runner.beginning(), known, runner.oracle)
    checkpoint.structure["renamed"] = checkpoint.structure.pop("looks")
    with pytest.raises(CheckpointError, match="not hold a run of this version"):
        checkpoint.restore(runner.beginning(), RECORDS, runner.oracle)


def test_files_that_are_no_checkpoints(tmp_path):
    with pytest.raises(CheckpointError, match="no such file"):
        load(str(tmp_path / "missing.npz"))
    for content in (b"", b"not a checkpoint", b"PK\x03\x04 torn"):
        (tmp_path / "wrong.npz").write_bytes(content)
        with pytest.raises(CheckpointError, match="not a checkpoint"):
            load(str(tmp_path / "wrong.npz"))
    np.savez(tmp_path / "other.npz", a=np.ones(2))
    with pytest.raises(CheckpointError, match="not a checkpoint"):
        load(str(tmp_path / "other.npz"))


@pytest.mark.parametrize("call", ["open", "write", "fsync", "close", "replace"])
def test_a_write_that_fails_leaves_the_old_file(tmp_path, monkeypatch, call):
    path = tmp_path / "run.npz"
    path.write_bytes(b"old")
    real = getattr(os, call)

    def broken(*args, **kwds):
        if call == "close":
            real(*args)
        raise OSError("disk full")

    with SafeFile(str(path)) as file:
        with monkeypatch.context() as patch:
            patch.setattr(os, call, broken)
            with pytest.raises(OSError, match="disk full"):
                file.write(b"new")
        assert path.read_bytes() == b"old"
        file.write(b"newer")
    assert path.read_bytes() == b"newer"
    assert os.listdir(tmp_path) == ["run.npz"]


def test_permissions_and_links_stay(tmp_path):
    (tmp_path / "real.npz").write_bytes(b"old")
    (tmp_path / "real.npz").chmod(0o640)
    (tmp_path / "link.npz").symlink_to("real.npz")
    with SafeFile(str(tmp_path / "link.npz")) as file:
        file.write(b"new")
    assert (tmp_path / "link.npz").is_symlink()
    assert (tmp_path / "real.npz").read_bytes() == b"new"
    assert stat.S_IMODE((tmp_path / "real.npz").stat().st_mode) == 0o640


def test_what_is_no_regular_file_is_refused_and_stays(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "directory").mkdir()
    for path, complaint in (
        (tmp_path / "pipe", "not a regular file"),
        (tmp_path / "directory", "not a regular file"),
        (tmp_path / "missing" / "run.npz", "there is no directory"),
        ("/dev/null", "not a regular file"),
    ):
        with pytest.raises(CheckpointError, match=complaint), SafeFile(str(path)):
            pass
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    with SafeFile(str(tmp_path / "run.npz")) as file:
        os.mkfifo(tmp_path / "run.npz")  # while the run goes on
        with pytest.raises(OSError, match="not a regular file"):
            file.write(b"new")


def test_two_runs_cannot_share_a_file(tmp_path):
    path = str(tmp_path / "run.npz")
    with SafeFile(path):
        with pytest.raises(CheckpointError, match="being written by another run"), SafeFile(path):
            pass
        with SafeFile(str(tmp_path / "other.npz")):
            pass
    (tmp_path / "run.npz.12-0123abcd.new").write_bytes(b"left by a run that was killed")
    (tmp_path / "run.npz.new").write_bytes(b"the user's")
    with SafeFile(path):
        pass
    assert os.listdir(tmp_path) == ["run.npz.new"]


def test_a_keeper_that_cannot_write_tells_it_once_and_tries_again():
    told, written = [], []

    def write(progress):
        if 20 < progress.state.k < 70:
            raise OSError(28, "No space left on device")
        written.append(progress.state.k)

    keeper = Keeper(write, every=10, tell=told.append)
    Runner().run(60, [keeper])
    assert written == [10, 20]
    assert told == [
        "the checkpoint of iteration 30 could not be written (No space left on device); the file "
        "still holds iteration 20"
    ]
    assert "iteration 60" in keeper.trouble
    Runner().run(100, [keeper])
    assert written[-1] == 100 and not keeper.trouble


def test_the_keeper_writes_at_its_interval():
    written = []
    keeper = Keeper(lambda progress: written.append(progress.state.k), every=30)
    outcome = Runner().run(100, [keeper])
    keeper.keep(outcome.progress)
    keeper.keep(outcome.progress)
    assert written == [30, 60, 90, 100]


def test_without_an_interval_the_keeper_stays_cheap():
    spent = 0.0

    def write(progress):
        nonlocal spent
        time.sleep(0.002)
        spent += 0.002

    began = time.perf_counter()
    Runner().run(10**9, [Keeper(write, every=None)], time_limit=1.0)
    # the first write, which measures how long one takes, comes on top
    assert spent <= 0.01 * (time.perf_counter() - began) + 0.004
