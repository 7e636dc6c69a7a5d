"""A run is not lost because something beside it cannot be written."""

import errno
import io
import logging
import os
import re

import pytest

from pyomo_stochsqp.errors import CheckpointError
from tests.interface.models import tilting
from tests.interface.solver.test_checkpoint_and_signals import same, solve, staged


@pytest.mark.parametrize("call", ["open", "write", "fsync", "replace"])
@pytest.mark.parametrize("first", [0, 3])
def test_a_disk_that_fills_up_costs_checkpoints_only(tmp_path, monkeypatch, caplog, call, first):
    """From the first write on, or from the fourth."""
    path = tmp_path / "run.npz"
    whole = staged()
    real, calls = getattr(os, call), []
    opened_before = 2 if call == "open" else 0  # to try, and the lock

    def full(place, *args, **kwds):
        calls.append(place)
        if len(calls) > first + opened_before:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(place, *args, **kwds)

    with monkeypatch.context() as patch, caplog.at_level(logging.WARNING):
        patch.setattr(f"pyomo_stochsqp.run.safe_file.os.{call}", full)
        results = staged(checkpoint=path, checkpoint_every=1)
    same(whole, results)
    (warning,) = results.warnings
    assert "No space left on device" in warning
    assert len([r for r in caplog.records if "could not be written" in r.message]) == 1
    assert "warning: the checkpoint of iteration" in results.solver_log
    assert path.exists() == (first > 0)
    if first:
        assert re.search("still holds iteration [123]", warning)
        same(whole, staged(resume=path))
    assert [name for name in os.listdir(tmp_path) if name != "run.npz"] == []


@pytest.mark.parametrize(
    ("path", "complaint"),
    [("/dev/null", "not a regular file"), ("missing/run.npz", "no directory"), (".", "regular")],
)
def test_paths_that_cannot_be_written_are_refused_before_the_model_is_read(path, complaint):
    m = tilting()
    m.broken = "no model at all"
    with pytest.raises(CheckpointError, match=complaint):
        solve(m, checkpoint=path)


def test_two_runs_on_one_checkpoint(tmp_path):
    path = tmp_path / "run.npz"

    def callback(state):
        with pytest.raises(CheckpointError, match="by another run"):
            solve(checkpoint=path, max_iter=2)
        return True

    solve(checkpoint=path, callback=callback)
    solve(checkpoint=path, max_iter=2)
    assert os.listdir(tmp_path) == ["run.npz"]


class Broken(io.StringIO):
    """A pipe whose reader goes away after a few lines."""

    def write(self, text):
        if self.tell() > 300:
            raise BrokenPipeError(errno.EPIPE, "Broken pipe")
        return super().write(text)


def test_a_log_that_cannot_be_written_does_not_end_a_run():
    results = staged(tee=Broken())
    same(staged(), results)
    assert results.warnings == ("the log could not be written ([Errno 32] Broken pipe)",)
    assert "Ended:" in results.solver_log
