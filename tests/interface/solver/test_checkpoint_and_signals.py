"""Interrupted, killed and resumed runs end as if nothing had happened."""

import multiprocessing
import os
import random
import signal
import time
from pathlib import Path

import numpy as np
import pyomo.environ as pyo
import pytest
from pyomo.contrib.solver.common.factory import SolverFactory
from pyomo.contrib.solver.common.results import TerminationCondition

from pyomo_stochsqp.errors import CheckpointError
from tests.interface.models import TILT_X, WHATEVER_THE_END, regression, service, tilting

#: Algorithm 1 makes as many iterations as one wants
FIXED = {"algorithm": "stochsqp", "batch_growth": "constant", "batch_size": 32, "seed": 4}
MODELS = pytest.mark.parametrize(
    "model",
    [tilting, regression, service, lambda: service(300)],
    ids=["tilting", "regression", "service", "service 300"],
)


def new_solver():
    solver = SolverFactory("stochsqp")
    solver.config.set_value(WHATEVER_THE_END)
    return solver


def solve(m=None, **options):
    return new_solver().solve(m or tilting(), **{**FIXED, **options})


def staged(m=None, **options):
    return new_solver().solve(m or tilting(), **{"seed": 4, **options})


def same(one, two):
    np.testing.assert_array_equal(one.history.table, two.history.table)
    np.testing.assert_array_equal(one.certificates.table, two.certificates.table)
    np.testing.assert_array_equal(one.certificate.x, two.certificate.x)
    assert one.incumbent_objective == two.incumbent_objective


@MODELS
@pytest.mark.parametrize("options", [{}, {"batch_growth": "adaptive", "max_samples": 50_000}])
def test_resume_is_bit_for_bit(tmp_path, model, options):
    options = {"max_iter": 230, "tol_opt": 1e-12, **options}
    whole = solve(model(), **options)
    path = tmp_path / "run.npz"
    solve(model(), **{**options, "max_iter": 70}, checkpoint=path)
    resumed = solve(model(), **options, resume=path)
    same(whole, resumed)
    assert "Resumed      after iteration" in resumed.solver_log


@MODELS
def test_stages_resume_bit_for_bit_after_every_iteration(tmp_path, model):
    """A time limit of zero would stop before the first: the callback stops where it likes."""
    path = tmp_path / "run.npz"
    whole = staged(model())
    assert whole.termination_condition is TerminationCondition.convergenceCriteriaSatisfied
    for last in range(1, whole.iteration_count):
        staged(model(), checkpoint=path, callback=lambda s, last=last: s.iteration == last)
        resumed = new_solver().solve(model(), resume=path)
        same(whole, resumed)
        assert f"Resumed      after iteration {last}\n" in resumed.solver_log


@pytest.mark.parametrize(
    "options",
    [
        {"algorithm": "subgradient"},
        {"algorithm": "tstom"},
        {"preset": "paper"},
        {"return_iterate": "random"},
        {"return_iterate": "average"},
        {"hessian": "bfgs"},
        {"sampling": "sobol", "lipschitz": (2.0, 3.0)},
    ],
)
def test_other_methods_resume_too(tmp_path, options):
    path = tmp_path / "run.npz"
    solve(max_iter=60, checkpoint=path, **options)
    resumed = new_solver().solve(tilting(), max_iter=110, resume=path)
    same(solve(max_iter=110, **options), resumed)


def test_resume_needs_no_options_and_no_values(tmp_path):
    path = tmp_path / "run.npz"
    whole = solve(max_iter=150)
    solve(max_iter=150, checkpoint=path, checkpoint_every=40, callback=lambda s: s.iteration == 90)
    m = tilting()
    m.x.set_value(17.0)  # where the run began is in the checkpoint, too
    resumed = new_solver().solve(m, resume=path)
    same(whole, resumed)
    assert resumed.extra_info.seed == 4


def test_resuming_a_converged_run_gives_its_answer_again(tmp_path):
    path = tmp_path / "run.npz"
    first = staged(regression(), checkpoint=path)
    assert first.termination_condition is TerminationCondition.convergenceCriteriaSatisfied
    again = new_solver().solve(regression(), resume=path)
    assert again.termination_condition is first.termination_condition
    same(first, again)


def test_a_finished_run_can_be_extended(tmp_path):
    path = tmp_path / "run.npz"
    solve(max_iter=60, checkpoint=path)
    longer = solve(max_iter=130, resume=path, checkpoint=path)
    same(longer, solve(max_iter=130))


def other_expression():
    m = tilting()
    m.cost.set_value(m.x**2 + 0.01 * m.x)
    return m


def other_variable():
    m = tilting()
    m.z = pyo.Var(initialize=1.0)
    m.cost.set_value(m.x**2 + m.z**2)
    return m


@pytest.mark.parametrize(
    ("model", "options", "complaint"),
    [
        (other_expression, {}, "the expression of 'cost'"),
        (other_variable, {}, "the list of variables was 'x' then and is 'x, z'"),
        (regression, {}, "the list of variables"),
        (tilting, {"seed": 5}, "seed=5: the run was made with 4"),
        (tilting, {"batch_size": 64}, "batch_size=64: the run was made with 32"),
        (tilting, {"step_rule": "min"}, "step_rule='min'"),
    ],
)
def test_another_run_is_refused(tmp_path, model, options, complaint):
    path = tmp_path / "run.npz"
    solve(max_iter=20, checkpoint=path)
    with pytest.raises(CheckpointError, match=complaint):
        new_solver().solve(model(), resume=path, **options)


def test_another_version_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "run.npz"
    solve(max_iter=20, checkpoint=path)
    monkeypatch.setattr("pyomo_stochsqp.interface.solver.resume.VERSION", "99.0")
    with pytest.raises(CheckpointError, match="the version of pyomo_stochsqp was"):
        solve(resume=path)


def test_functions_must_be_given_again(tmp_path):
    path = tmp_path / "run.npz"
    solve(max_iter=20, checkpoint=path, beta=lambda k: 1.0 / k)
    with pytest.raises(CheckpointError, match="give beta again"):
        solve(resume=path)
    solve(max_iter=30, resume=path, beta=lambda k: 1.0 / k)


def interrupt_at(k, number=signal.SIGINT, times=1):
    def callback(state):
        if state.iteration == k:
            for _ in range(times):
                os.kill(os.getpid(), number)

    return callback


@pytest.mark.parametrize(("solve", "last"), [(solve, 300), (staged, 3)])
def test_ctrl_c_ends_after_the_iteration_with_the_best_point(solve, last):
    m = tilting()
    handler = signal.getsignal(signal.SIGINT)
    results = solve(m, max_iter=10**6, callback=interrupt_at(last))
    assert results.termination_condition is TerminationCondition.interrupted
    assert results.iteration_count == last
    assert "Ctrl-C" in results.message
    assert m.x.value == pytest.approx(TILT_X, abs=0.1)
    assert signal.getsignal(signal.SIGINT) is handler


@pytest.mark.parametrize(("solve", "last"), [(solve, 30), (staged, 3)])
def test_a_second_ctrl_c_interrupts_at_once(solve, last):
    handler = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        solve(max_iter=10**6, callback=interrupt_at(last, times=2))
    assert signal.getsignal(signal.SIGINT) is handler


@pytest.mark.parametrize(("solve", "last"), [(solve, 40), (staged, 3)])
def test_sigterm_writes_a_checkpoint_and_is_passed_on(tmp_path, solve, last):
    path = tmp_path / "run.npz"
    received = []
    before = signal.signal(signal.SIGTERM, lambda *_: received.append(True))
    try:
        solve(max_iter=100, checkpoint=path, checkpoint_every=10**6,
              callback=interrupt_at(last, signal.SIGTERM))  # fmt: skip
    finally:
        signal.signal(signal.SIGTERM, before)
    assert received == [True]
    same(solve(max_iter=100, resume=path), solve(max_iter=100))


def finish(path, iterations):
    """What a process does that may be killed at any time."""
    resume = path if path.exists() else None
    results = solve(
        max_iter=iterations, checkpoint=path, checkpoint_every=50, resume=resume, tol_feas=1e-12
    )
    np.savez(f"{path}.answer", history=results.history.table, x=results.certificate.x)


def killed_runs(path, kills, iterations):
    """Run in processes that are killed at random times; how many were killed before one ended."""
    fork = multiprocessing.get_context("fork")  # a new interpreter would spend its time importing
    rng = random.Random(1)
    killed = 0
    while not Path(f"{path}.answer.npz").exists():
        reached = _age(path)
        process = fork.Process(target=finish, args=(path, iterations))
        process.start()
        if killed < kills:
            # wait for some progress, so that killing can go on for ever and still end
            while process.is_alive() and _age(path) == reached:
                time.sleep(0.001)
            time.sleep(rng.uniform(0.0, 0.01))
            process.kill()
        process.join()
        assert process.exitcode in (0, -signal.SIGKILL)
        killed += process.exitcode != 0
    return killed


def _age(path):
    return path.stat().st_mtime_ns if path.exists() else -1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize(
    ("kills", "iterations"), [(5, 3_000), pytest.param(50, 30_000, marks=pytest.mark.slow)]
)
def test_a_run_killed_at_random_times_ends_bit_for_bit_the_same(tmp_path, kills, iterations):
    path = tmp_path / "run.npz"
    assert killed_runs(path, kills, iterations) == kills
    whole = solve(max_iter=iterations, tol_feas=1e-12)
    with np.load(f"{path}.answer.npz") as answer:
        np.testing.assert_array_equal(answer["history"], whole.history.table)
        np.testing.assert_array_equal(answer["x"], whole.certificate.x)
