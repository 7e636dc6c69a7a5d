"""Compiled code is taken from nobody else, and no run ends because it cannot be kept."""

import logging
import os
import stat

import numpy as np
import pyomo.environ as pyo
import pytest

from pyomo_stochsqp import E, RandomParam
from pyomo_stochsqp.compile import compile_program
from pyomo_stochsqp.compile.loops import jit, store
from pyomo_stochsqp.declare import read_model
from pyomo_stochsqp.declare.program import Batch

needs_numba = pytest.mark.skipif(not jit.installed(), reason="numba is not installed")
X, BATCHES = np.array([0.3]), [Batch(3, (np.arange(3),))]


@pytest.fixture
def fresh(tmp_path, monkeypatch):
    """A cache of its own."""
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    if jit.installed():
        monkeypatch.setattr("numba.config.CACHE_DIR", "")
    store.usable_folder.cache_clear()
    yield tmp_path / "pyomo_stochsqp"
    store.usable_folder.cache_clear()


def program(number):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=1.0)
    m.w = RandomParam(data=np.array([1.0, 3.0, 4.0]))
    m.obj = pyo.Objective(expr=E(pyo.exp(number * m.x) * m.w + (m.x - m.w) ** 4))
    return read_model(m)


def right(number, jit=True):
    """Whether numbers agree with those of NumPy; the evaluator."""
    evaluator = compile_program(program(number), jit=jit)
    expected = compile_program(program(number), jit=False).evaluate(X, BATCHES, True)
    found = evaluator.evaluate(X, BATCHES, True)
    weighted = evaluator.evaluate(X, [Batch(3, (np.arange(3),), np.full(3, 1 / 3))])
    np.testing.assert_allclose(weighted.g, expected.g, rtol=1e-12)
    np.testing.assert_allclose(found.g, expected.g, rtol=1e-12)
    np.testing.assert_allclose(found.f, expected.f, rtol=1e-12)
    return evaluator


@needs_numba
def test_code_is_kept_in_a_private_directory(fresh):
    right(0.11)
    assert stat.S_IMODE(fresh.stat().st_mode) == 0o700
    assert [path.suffix for path in fresh.iterdir() if path.is_file()] == [".py"] * 2


@needs_numba
def test_source_that_was_changed_is_written_anew(fresh):
    right(0.12)
    for path in fresh.glob("*.py"):
        path.write_text("raise SystemExit('not what was kept here')")
    right(0.12)


@needs_numba
@pytest.mark.parametrize("content", [b"", b"garbage", b"\x80\x05cos\nsystem\n"])
def test_compiled_code_that_was_damaged_is_compiled_anew(fresh, content):
    right(0.13)
    damaged = [path for path in fresh.rglob("*") if path.suffix in (".nbi", ".nbc")]
    assert damaged
    for path in damaged:
        path.write_bytes(content)
    right(0.13)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no users here")
def test_a_directory_in_which_others_can_write_is_not_used(fresh, caplog):
    fresh.mkdir()
    fresh.chmod(0o777)
    assert "others may write" in store.distrusted(fresh)
    with caplog.at_level(logging.WARNING):
        used = store.usable_folder(fresh)
    assert used != fresh and stat.S_IMODE(used.stat().st_mode) == 0o700
    assert "is not kept in" in caplog.text
    fresh.chmod(0o755)
    (fresh / "inside").mkdir()
    assert store.distrusted(fresh / "inside") is None
    fresh.chmod(0o757)
    assert "above it" in store.distrusted(fresh / "inside")
    fresh.chmod(0o1757)  # as /tmp
    assert store.distrusted(fresh / "inside") is None


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no users here")
def test_a_directory_of_somebody_else_is_not_used(fresh, monkeypatch):
    fresh.mkdir()
    mine = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: mine + 1)
    assert "belongs to somebody else" in store.distrusted(fresh)


@needs_numba
def test_a_path_that_is_no_directory(fresh, caplog):
    fresh.write_text("a file")
    with caplog.at_level(logging.WARNING):
        evaluator = right(0.14)
    assert "cannot be used" in caplog.text
    assert all(evaluator._compiled.values())


@needs_numba
def test_without_any_place_for_files_code_is_compiled_all_the_same(fresh, monkeypatch):
    def full(*args, **kwds):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.mkdtemp", full)
    monkeypatch.setattr("tempfile.TemporaryFile", full)
    assert all(right(0.15)._compiled.values())


@needs_numba
@pytest.mark.parametrize("way", [True, "auto"])
def test_what_numba_cannot_compile_is_left_to_numpy(fresh, monkeypatch, caplog, way):
    header = jit._HEADER.replace("def expit(a):", "def expit(a):\n    a.no_such_thing")
    broken = header.replace("out = base.copy()", "out = base.copy()\n    base.no_such_thing()")
    monkeypatch.setattr(jit, "_HEADER", broken)
    monkeypatch.setattr("pyomo_stochsqp.compile.evaluator.JIT_AFTER", 0.0)
    with caplog.at_level(logging.WARNING):
        evaluator = right(0.16, way)
    assert not any(evaluator._compiled.values())
    assert "NumPy goes on" in caplog.text
