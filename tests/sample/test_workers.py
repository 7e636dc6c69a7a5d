"""Processes that call samplers: the same rows for any number, and a clear end whatever happens."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.stats as st

from pyomo_stochsqp import E, RandomParam, RandomSource, evaluate
from pyomo_stochsqp.declare import read_model
from pyomo_stochsqp.errors import DataError, OptionError, WorkerError
from pyomo_stochsqp.sample import Sampler, workers

PARENT = os.getpid()


def noise(rng, size):
    return rng.normal(1.0, 0.5, (size, 2))


def model(sampler=noise):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(2), initialize=0.5)
    m.w = RandomParam(range(2), sampler=sampler)
    m.t = RandomParam(distribution=st.norm(2, 1))
    m.obj = pyo.Objective(expr=E(sum((m.x[j] - m.w[j]) ** 2 for j in m.x)) + E(m.t * m.x[0]))
    return m


@pytest.fixture(autouse=True)
def _nobody_is_left():
    yield
    assert multiprocessing.active_children() == []


def test_rows_do_not_depend_on_the_number_of_workers():
    sources = read_model(model()).sources
    found = []
    for count in (1, 2, 3, 7):
        sampler = Sampler(sources, 5, workers=count)
        samples = [sampler.batch(1, k, [n, n]) for k, n in enumerate((1, 8, 64, 100, 20_000))]
        samples += [sampler.replicates(3, 0, [16, 16], 32), sampler.replicates(3, 1, [999, 7], 32)]
        found.append([batch.parts[0][0] for s in samples for batch in s.batches])
        sampler.close()
    for other in found[1:]:
        for a, b in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(a, b)


def histories(**options):
    m = model()
    points = []

    def note(info):
        points.append(info.vector.tolist())

    results = pyo.SolverFactory("stochsqp").solve(m, seed=1, callback=note, **options)
    return points, [m.x[j].value for j in m.x], results.iteration_count


@pytest.mark.parametrize("options", [{"tol_opt": 2e-2}, {"algorithm": "stochsqp", "max_iter": 20}])
def test_runs_are_the_same(options):
    assert histories(**options) == histories(workers=3, **options)


def test_calls_are_made_at_the_same_time():
    """Waiting takes no core, so the machine may be as busy as it likes."""

    def slow(rng, size):
        time.sleep(0.004 * size)
        return noise(rng, size)

    seconds = []
    for count in (1, 4):
        sampler = Sampler(read_model(model(slow)).sources, 5, workers=count)
        assert sampler.batch(1, 0, [16, 1]).batches[0].size == 16
        began = time.perf_counter()
        assert sampler.batch(1, 1, [64, 1]).batches[0].size == 64
        seconds.append(time.perf_counter() - began)
        sampler.close()
    assert seconds[0] > 2 * seconds[1]


def test_evaluate_takes_workers_too():
    m = model()
    found = [evaluate(m, samples=640, seed=3, workers=count) for count in (1, 2)]
    assert str(found[0]) == str(found[1])
    assert str(found[0].outcomes) == str(found[1].outcomes)


def test_samplers_of_one_source_and_several(monkeypatch):
    offset = 3.0
    days = RandomSource("days", sampler=lambda rng, size: rng.normal(offset, 0.1, (size, 2)))
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(3), initialize=0.0)
    m.a, m.b = RandomParam(source=days, columns=[0]), RandomParam(source=days, columns=[1])
    m.c = RandomParam(sampler=lambda rng, size: rng.normal(-offset, 0.1, (size, 1)))
    m.obj = pyo.Objective(
        expr=E((m.x[0] - m.a) ** 2 + (m.x[1] - m.b) ** 2) + E((m.x[2] - m.c) ** 2)
    )
    pyo.SolverFactory("stochsqp").solve(m, seed=1, workers=2)
    assert [m.x[j].value for j in m.x] == pytest.approx([3, 3, -3], abs=0.01)


def test_a_sampler_that_raises():
    def broken(rng, size):
        if os.getpid() != PARENT:
            raise ValueError("no such day")
        return noise(rng, size)

    m = model(broken)
    with pytest.raises(DataError, match=r"'w'.* raised ValueError: no such day"):
        pyo.SolverFactory("stochsqp").solve(m, seed=1, workers=2)
    assert m.x[0].value == 0.5


def test_a_sampler_that_leaves():
    def leaving(rng, size):
        if os.getpid() != PARENT:
            sys.exit(3)
        return noise(rng, size)

    with pytest.raises(WorkerError, match=r"A worker process failed: SystemExit: 3"):
        pyo.SolverFactory("stochsqp").solve(model(leaving), seed=1, workers=2)


def test_a_worker_that_is_killed():
    def dying(rng, size):
        if os.getpid() != PARENT:
            os.kill(os.getpid(), signal.SIGKILL)
        return noise(rng, size)

    with pytest.raises(WorkerError, match=r"was ended by signal 9 while it called a sampler"):
        pyo.SolverFactory("stochsqp").solve(model(dying), seed=1, workers=2)


def test_after_trouble_there_are_new_workers():
    broken = [True]

    def sometimes(rng, size):
        if os.getpid() != PARENT and broken[0]:
            raise ValueError("a bad day")
        return noise(rng, size)

    sampler = Sampler(read_model(model(sometimes)).sources, 5, workers=2)
    with pytest.raises(DataError):
        assert sampler.batch(1, 0, [64, 1]).batches
    broken[0] = False
    assert sampler.batch(1, 0, [64, 1]).batches[0].size == 64
    sampler.close()


def test_the_time_limit_holds_while_workers_work():
    def endless(rng, size):
        if os.getpid() != PARENT:
            time.sleep(60)
        return noise(rng, size)

    began = time.perf_counter()
    results = pyo.SolverFactory("stochsqp").solve(
        model(endless), seed=1, workers=2, time_limit=1, load_solutions=False
    )
    assert time.perf_counter() - began < 20
    assert "time limit" in results.solver.message.lower()


def test_where_processes_cannot_be_forked(monkeypatch):
    monkeypatch.setattr(workers.multiprocessing, "get_all_start_methods", lambda: ["spawn"])
    with pytest.raises(OptionError, match="workers=2 needs processes that can be forked"):
        pyo.SolverFactory("stochsqp").solve(model(), seed=1, workers=2)
    with pytest.raises((OptionError, ValueError)):
        pyo.SolverFactory("stochsqp").solve(model(), seed=1, workers=0)


SCRIPT = """
import os, time, numpy as np, pyomo.environ as pyo
from pyomo_stochsqp import E, RandomParam
def slow(rng, size):
    time.sleep(0.01)
    return rng.normal(1.0, 0.5, (size, 1))
m = pyo.ConcreteModel()
m.x = pyo.Var(initialize=0.0)
m.w = RandomParam(sampler=slow)
m.obj = pyo.Objective(expr=E((m.x - m.w) ** 4))
said = []
def say(info):
    if not said:
        said.append(print("running", flush=True))
results = pyo.SolverFactory("stochsqp").solve(
    m, seed=1, workers=2, algorithm="stochsqp", max_iter=10**6, tol_opt=1e-9, callback=say)
print(results.solver.message)
"""


def test_ctrl_c_ends_the_run_as_usual():
    """The terminal sends it to all processes of the job."""
    job = subprocess.Popen(
        [sys.executable, "-c", SCRIPT], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip
    assert job.stdout.readline() == "running\n"
    os.killpg(job.pid, signal.SIGINT)
    out, err = job.communicate(timeout=60)
    assert "interrupted" in out and "Traceback" not in err, (out, err)
    assert job.returncode == 0
