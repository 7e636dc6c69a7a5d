"""Checkpoints: bit-for-bit resume, refusals, and files that are always complete."""

import os
import time

import numpy as np
import pytest

from pyomo_stochsqp.errors import CheckpointError
from pyomo_stochsqp.run.checkpoint import Keeper, load, save
from pyomo_stochsqp.solve import RECORDS
from tests.run.packing import same_bits
from tests.run.runs import Runner, StagedRunner
from tests.sqp.oracles import noisy_sphere, tilting

LABELS = {"the version": "1"}
SAMPLES = 100_000  # batches that grow would not end otherwise


def saved(path, runner, iterations, progress=None):
    outcome = runner.run(iterations, progress=progress, max_samples=SAMPLES)
    save(str(path), outcome.progress, LABELS, "note", runner.oracle)
    return outcome


def restored(path, runner):
    checkpoint = load(str(path))
    checkpoint.check(LABELS, runner.oracle)
    return checkpoint.restore(runner.beginning(), RECORDS)


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
        load(str(tmp_path / "run.npz")).check({"the version": "2"}, tilting())


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
    with pytest.raises(CheckpointError, match="not hold a run of this version"):
        checkpoint.restore(runner.beginning(), [c for c in RECORDS if c.__name__ != "LookedState"])
    checkpoint.structure["renamed"] = checkpoint.structure.pop("looks")
    with pytest.raises(CheckpointError, match="not hold a run of this version"):
        checkpoint.restore(runner.beginning(), RECORDS)


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


def test_a_write_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    runner = Runner()
    path = tmp_path / "run.npz"
    saved(path, runner, 10)
    before = path.read_bytes()

    def broken(*args, **kwds):
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(OSError, match="disk full"):
        saved(path, runner, 20)
    assert path.read_bytes() == before


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
