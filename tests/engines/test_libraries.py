"""Libraries at work: interrupted, out of time, abandoned, broken; and through a whole solve."""

import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pyomo.environ as pyo
import pytest

from pyomo_stochsqp.deadline import OutOfTime, time_limit
from pyomo_stochsqp.engines import Ending
from pyomo_stochsqp.engines.libraries import catalogue, installed, library
from pyomo_stochsqp.engines.libraries.stepping import Stepping
from pyomo_stochsqp.errors import MissingLibraryError, OptionError
from tests.engines.programs import Program, make, solved, solved_quadratic, steps

ROOT = Path(__file__).parents[2]
EACH = pytest.mark.parametrize("name", installed())


def rosenbrock(trouble=None, after=0):
    """A few dozen iterations; ``trouble`` is raised by a late evaluation."""
    count = 0

    def functions(x):
        nonlocal count
        count += 1
        if trouble is not None and count > after:
            raise trouble
        a, b = x
        g = [-400 * a * (b - a * a) - 2 * (1 - a), 200 * (b - a * a)]
        H = [[1200 * a * a - 400 * b + 2, -400 * a], [-400 * a, 200]]
        return 100 * (b - a * a) ** 2 + (1 - a) ** 2, g, [], [], [np.array(H)]

    return Program([-1.2, 1.0], functions)


@EACH
@pytest.mark.parametrize("trouble", [KeyboardInterrupt(), RuntimeError("a user's function")])
def test_exceptions_of_the_program_come_out_as_they_are(name, trouble):
    nlp = rosenbrock(trouble, after=15)
    with pytest.raises(type(trouble)):
        solved(library(name), nlp)


@EACH
def test_a_time_limit_ends_the_library(name):
    def slow(x):
        time.sleep(0.02)
        return rosenbrock()._functions(x)

    began = time.perf_counter()
    with pytest.raises(OutOfTime), time_limit(0.2):
        solved(library(name), Program([-1.2, 1.0], slow))
    assert time.perf_counter() - began < 1.0


@EACH
def test_a_library_that_is_left_alone_ends(name):
    before = threading.active_count()
    nlp = rosenbrock()
    engine = make(library(name), nlp)
    state = engine.start(nlp.problem.x0, np.zeros(0))
    for _ in range(3):
        state = engine.step(state)
    assert threading.active_count() == before + 1
    del engine
    assert threading.active_count() == before


@EACH
def test_a_library_at_work_when_the_interpreter_ends_does_no_harm(name):
    script = (
        "import numpy as np\n"
        "from tests.engines.programs import make\n"
        "from tests.engines.test_libraries import library, rosenbrock\n"
        "nlp = rosenbrock()\n"
        f"engine = make(library({name!r}), nlp)\n"
        "engine.step(engine.start(nlp.problem.x0, np.zeros(0)))\n"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, cwd=ROOT)
    assert ended.returncode == 0, ended.stderr


@EACH
def test_iterations_are_seen_one_by_one(name):
    nlp = rosenbrock()
    states = list(steps(make(library(name), nlp), nlp.problem.x0, np.zeros(0)))
    assert states[-1].ended is Ending.SOLVED and states[-1].x == pytest.approx([1.0, 1.0])
    objectives = [s.objective for s in states[1:]]
    assert len(objectives) > 10 and min(objectives[:5]) > 10 * objectives[-1]


@EACH
def test_a_warm_start_is_one(name):
    nlp, x, y = solved_quadratic(np.random.default_rng(7), 8, 2, 3, 2, 3)
    assert solved(library(name), nlp, x, y).k < solved(library(name), nlp).k


@EACH
def test_a_model_is_solved_by_it_alone(name):
    m = pyo.ConcreteModel()
    m.x = pyo.Var([1, 2], bounds=(0, None), initialize=1.0)
    m.o = pyo.Objective(expr=(m.x[1] - 2) ** 2 + m.x[2] ** 2)
    m.c = pyo.Constraint(expr=m.x[1] + m.x[2] == 1)
    results = pyo.SolverFactory("stochsqp").solve(m, exact_solver=name)
    pyo.assert_optimal_termination(results)
    assert m.x[1].value == pytest.approx(1.0) and m.x[2].value == pytest.approx(0.0, abs=1e-7)
    assert f"engines: {name}" in str(results.solver_log)


def test_what_is_not_installed_says_how_to_install_it(monkeypatch):
    monkeypatch.setattr(catalogue, "installed", lambda: ())
    catalogue.library.cache_clear()
    with pytest.raises(MissingLibraryError, match=r"unopy.*pip install"):
        library("uno")
    catalogue.library.cache_clear()
    with pytest.raises(OptionError, match="exact_solver"):
        pyo.SolverFactory("stochsqp").solve(pyo.ConcreteModel(), exact_solver="snopt")


def test_a_loop_is_stopped_and_continued():
    done = []

    def loop(report):
        for i in range(3):
            done.append(i)
            report(i)
        return "end"

    stepping = Stepping(loop)
    assert done == []
    assert stepping.advance() == (0, False)
    assert done == [0]
    assert [stepping.advance() for _ in range(4)] == [(1, False), (2, False), *[("end", True)] * 2]


def test_a_loop_that_fails_raises_where_it_is_asked():
    def loop(report):
        report(1)
        raise ValueError("inside")

    stepping = Stepping(loop)
    stepping.advance()
    for _ in range(2):
        with pytest.raises(ValueError, match="inside"):
            stepping.advance()
