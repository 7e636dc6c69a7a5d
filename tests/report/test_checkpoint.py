"""Checkpoints: bit-for-bit resume, refusals, and files that are always complete."""

import os

import numpy as np
import pytest

from pyomo_stochsqp.errors import CheckpointError
from pyomo_stochsqp.report.checkpoint import Keeper, load, packed, save, unpacked
from tests.report.runs import Runner
from tests.sqp.oracles import noisy_sphere, tilting

LABELS = {"the version": "1"}
SAMPLES = 100_000  # batches that grow would not end otherwise


def saved(path, runner, iterations):
    outcome = runner.run(iterations, max_samples=SAMPLES)
    save(str(path), outcome.progress, LABELS, "note", runner.oracle)
    return outcome


def resumed(path, runner, iterations):
    checkpoint = load(str(path))
    checkpoint.check(LABELS, runner.oracle)
    progress = checkpoint.restore(runner.beginning())
    return runner.run(iterations, progress=progress, max_samples=SAMPLES)


@pytest.mark.parametrize("oracle", [tilting, noisy_sphere])
@pytest.mark.parametrize("growth", ["adaptive", "constant", "geometric"])
def test_a_resumed_run_is_the_run_that_never_stopped(tmp_path, oracle, growth):
    whole = Runner(oracle(), growth).run(300, max_samples=SAMPLES)
    for stops in ([120], [50], [1, 2, 99, 100, 101, 250]):
        for k in stops:
            runner = Runner(oracle(), growth)
            outcome = (
                saved(tmp_path / "run.npz", runner, k)
                if k == stops[0]
                else resumed(tmp_path / "run.npz", runner, k)
            )
            save(str(tmp_path / "run.npz"), outcome.progress, LABELS, "note", runner.oracle)
        outcome = resumed(tmp_path / "run.npz", Runner(oracle(), growth), 300)
        assert packed_equal(packed("s", outcome.state), packed("s", whole.state))
        np.testing.assert_array_equal(outcome.history.table, whole.history.table)
        np.testing.assert_array_equal(outcome.certificates.table, whole.certificates.table)
        np.testing.assert_array_equal(outcome.best.x, whole.best.x)
        np.testing.assert_array_equal(outcome.best.y, whole.best.y)


def packed_equal(a, b):
    return a.keys() == b.keys() and all(a[k].tobytes() == b[k].tobytes() for k in a)


def test_packing_keeps_types_and_bits():
    state = Runner().run(60).state
    again = unpacked("s", Runner().beginning().state, packed("s", state))
    assert type(again.k) is int and type(again.tau) is float
    assert type(again.constants) is type(state.constants)
    assert packed_equal(packed("s", again), packed("s", state))


def test_another_version_is_refused(tmp_path):
    saved(tmp_path / "run.npz", Runner(), 10)
    with pytest.raises(CheckpointError, match="the version was '1' then and is '2' now"):
        load(str(tmp_path / "run.npz")).check({"the version": "2"}, tilting())


@pytest.mark.parametrize("other", [tilting(seed=2), noisy_sphere()])
def test_another_model_or_seed_is_refused(tmp_path, other):
    saved(tmp_path / "run.npz", Runner(tilting(seed=1)), 10)
    with pytest.raises(CheckpointError, match="the data or the seed has changed"):
        load(str(tmp_path / "run.npz")).check(LABELS, other)


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
    import time

    spent = 0.0

    def write(progress):
        nonlocal spent
        time.sleep(0.002)
        spent += 0.002

    began = time.perf_counter()
    Runner().run(10**9, [Keeper(write, every=None)], time_limit=1.0)
    # the first write, which measures how long one takes, comes on top
    assert spent <= 0.01 * (time.perf_counter() - began) + 0.004
