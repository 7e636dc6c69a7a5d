"""Slices of the campaigns that kill runs, send signals to them, and let their writes fail."""

import errno
import os

import numpy as np
import pytest

from benchmarks.hostile import kills, signals, soak, writes
from benchmarks.hostile.runs import MODELS, same, solved
from pyomo_stochsqp.run.safe_file import SafeFile

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def test_killed_runs_end_bit_for_bit_the_same():
    counts, hit, _ = kills.run(seed=2, kills=2, names=("table",))
    assert hit == 2 and not any(counts[v] for v in kills.WRONG), counts


@pytest.mark.slow
def test_fifty_kills():
    assert kills.report(3) == 0


def test_failing_writes_cost_no_run():
    counts = writes.run(seed=4, every=25)
    assert counts["kept"] > 3 and not any(counts[v] for v in writes.WRONG), counts


@pytest.mark.slow
def test_every_call_of_a_write_may_fail():
    assert sum(writes.report(seed) for seed in (5, 6)) == 0


@pytest.mark.slow
def test_signals_in_all_rooms():
    assert signals.report(7) == 0


@pytest.mark.slow
def test_a_minute_of_solves(monkeypatch):
    monkeypatch.setattr(soak, "SECONDS", 60.0)
    monkeypatch.setattr(soak, "GROWTH", 30.0)  # what is kept for good grows in the first minutes
    assert soak.report(8) == 0


@pytest.mark.parametrize("room", ["certify", "engines", "run"])
def test_ctrl_c_somewhere_in_a_room(tmp_path, room):
    whole = signals.Whole("table", tmp_path)
    at = whole.calls[room] // 2
    found, said = signals.trial(whole, tmp_path, room, at, signals.signal.SIGINT)
    assert found == "kept", said


def test_a_run_continued_where_a_stage_was_just_opened(tmp_path, monkeypatch):
    """Its first point was evaluated by the look, replicate by replicate: the last digits differ
    from those of all scenarios together."""
    path, kept, write = tmp_path / "run.npz", [], SafeFile.write

    def keeping(file, content):
        write(file, content)
        kept.append(path.read_bytes())

    with monkeypatch.context() as patch:
        patch.setattr(SafeFile, "write", keeping)
        whole = solved(MODELS["sampler"](), checkpoint=path, checkpoint_every=1)
    lengths = []
    for content in kept:
        path.write_bytes(content)
        with np.load(path) as file:
            lengths.append(len(file["history"]))
        if len(lengths) > 1 and lengths[-2] == lengths[-1] > 0:  # opened: no iteration
            assert same(whole, solved(MODELS["sampler"](), resume=path))
    assert len(set(lengths)) < len(lengths)


def test_a_lock_that_always_vanishes_is_done_without(tmp_path):
    """As on a file system without locks."""
    error = OSError(errno.ENOENT, os.strerror(errno.ENOENT))
    with (
        writes.system(writes.Faulty("stat", lambda k: True, error)),
        SafeFile(str(tmp_path / "run.npz")),
    ):
        pass
