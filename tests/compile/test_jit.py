"""The compiled path gives the NumPy path's results to rounding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyomo.environ as pyo
import pytest

from pyomo_stochsqp import E, RandomParam
from pyomo_stochsqp.compile import compile_program, evaluator
from pyomo_stochsqp.compile.loops import jit
from pyomo_stochsqp.declare import read_model
from pyomo_stochsqp.declare.program import Batch
from pyomo_stochsqp.errors import MissingLibraryError
from tests.compile import models
from tests.compile.in_pieces import in_pieces
from tests.compile.test_models import draw, point

needs_numba = pytest.mark.skipif(not jit.installed(), reason="numba is not installed")


@needs_numba
@pytest.mark.parametrize("build", [m for m in models.ALL if m is not models.inner_sums])
def test_same_results(build: Callable[[], Any]) -> None:
    program = read_model(build())
    plain = compile_program(program, jit=False)
    fast = compile_program(program, jit=True)
    assert all(fast._compiled.values())
    x = point(plain)
    for weighted in (False, True):
        batches = draw(program, 1, weighted)
        a, b = plain.evaluate(x, batches), fast.evaluate(x, batches)
        scale = 1.0 + np.abs(a.J).max()
        np.testing.assert_allclose(b.g, a.g, rtol=1e-12, atol=1e-13 * scale)
        np.testing.assert_allclose(b.c, a.c, rtol=1e-12, atol=1e-13 * scale)
        np.testing.assert_allclose(b.J, a.J, rtol=1e-12, atol=1e-13 * scale)


@needs_numba
@pytest.mark.parametrize("build", [m for m in models.ALL if m is not models.inner_sums])
def test_same_passes_in_pieces(build: Callable[[], Any]) -> None:
    """Objective values, and sources gone through alone."""
    program = read_model(build())
    plain = compile_program(program, jit=False)
    fast = compile_program(program, jit=True)
    x = point(plain)
    for weighted in (False, True):
        batches = draw(program, 1, weighted)
        results = []
        for evaluator_ in (plain, fast):
            results += [
                evaluator_.evaluate(x, batches, objective=True),
                in_pieces(evaluator_, x, batches, 2),
            ]
        a = results[0]
        scale = 1.0 + np.abs(a.J).max(initial=0.0)
        for b in results[1:]:
            assert b.f == pytest.approx(a.f, rel=1e-12)
            np.testing.assert_allclose(b.g, a.g, rtol=1e-11, atol=1e-13 * scale)
            np.testing.assert_allclose(b.c, a.c, rtol=1e-11, atol=1e-13 * scale)
            np.testing.assert_allclose(b.J, a.J, rtol=1e-11, atol=1e-13 * scale)
    assert len(fast._compiled) >= 2


@needs_numba
def test_auto_compiles_a_long_pass_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether it does so depends on the pass alone: a run that is continued does the same."""
    program = read_model(models.narrow())
    work = compile_program(program, jit=False).work([1000])
    monkeypatch.setattr(evaluator, "JIT_PASS", work)
    auto = compile_program(program)
    x = point(auto)
    auto.evaluate(x, draw(program), objective=True)
    assert not auto._compiled
    (batch,) = draw(program)
    auto.piece(x, 0, batch, [1000])
    assert auto._compiled


@needs_numba
def test_reload_and_issues() -> None:
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=0.5)
    m.p = pyo.Param(mutable=True, initialize=1.0)
    m.w = RandomParam(data=np.arange(4.0))
    m.obj = pyo.Objective(expr=E(pyo.log(m.x + m.w)) + m.p * m.x)
    fast = compile_program(read_model(m), jit=True)
    batch = [Batch(2, (np.array([1, 2]),))]
    before = fast.evaluate(np.array([0.5]), batch).g[0]
    m.p = 3.0
    fast.reload()
    np.testing.assert_allclose(fast.evaluate(np.array([0.5]), batch).g[0], before + 2.0)
    issue = fast.evaluate(np.array([-2.0]), batch).issue
    assert issue is not None and issue.scenario == 1
    assert "log of a negative number" in str(issue)
    with pytest.raises(IndexError):
        fast.evaluate(np.array([0.5]), [Batch(1, (np.array([4]),))])


@needs_numba
def test_auto_switches_after_enough_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """The switch depends on counted work, not on the clock."""
    program = read_model(models.narrow())
    once = compile_program(program, jit=False).work([5])
    monkeypatch.setattr(evaluator, "JIT_AFTER", 2.5 * once)
    auto = compile_program(program)
    x, batches = point(auto), draw(program)
    for k in range(5):
        auto.evaluate(x, batches)
        assert bool(auto._compiled) == (k >= 2)


@pytest.mark.skipif(jit.installed(), reason="numba is installed")
def test_numba_missing() -> None:
    program = read_model(models.narrow())
    with pytest.raises(MissingLibraryError, match="numba"):
        compile_program(program, jit=True)
    compile_program(program, jit="auto")
