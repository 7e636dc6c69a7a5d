"""Runs that a signal, a callback or a sampler ends: the best point is loaded, nothing is lost."""

import os
import signal

import pyomo.environ as pyo
import pytest
from pyomo.contrib.solver.common.factory import SolverFactory
from pyomo.contrib.solver.common.results import TerminationCondition

import pyomo_stochsqp  # noqa: F401  (registers the solver)
from pyomo_stochsqp import E, RandomParam
from pyomo_stochsqp.errors import CallbackError, DataError
from pyomo_stochsqp.run.looks import Judge
from tests.interface.models import TILT_X, WHATEVER_THE_END, tilting
from tests.interface.solver.test_checkpoint_and_signals import same, staged


def failing(state):
    if state.certificate is not None:
        raise ZeroDivisionError("mine")


def new_interface(m, **options):
    solver = SolverFactory("stochsqp")
    solver.config.set_value(WHATEVER_THE_END)
    return solver.solve(m, **options)


def legacy_interface(m, **options):
    return pyo.SolverFactory("stochsqp").solve(m, **options)


BOTH = pytest.mark.parametrize("solve", [new_interface, legacy_interface])


@BOTH
def test_a_callback_that_raises_leaves_the_best_point_and_a_checkpoint(tmp_path, solve):
    m, path = tilting(), tmp_path / "run.npz"
    with pytest.raises(CallbackError, match="The best point so far was loaded into the model") as e:
        solve(m, callback=failing, seed=4, checkpoint=path)
    assert isinstance(e.value.__cause__, ZeroDivisionError)
    assert m.x.value == pytest.approx(TILT_X, abs=0.1)
    assert m.dual[m.tilt] != 0.0
    same(staged(), staged(resume=path))


@BOTH
def test_without_load_solutions_the_model_stays_as_it_was(solve):
    m = tilting()
    with pytest.raises(CallbackError, match=r"Correct what was given there\.$") as error:
        solve(m, callback=failing, seed=4, load_solutions=False)
    assert m.x.value == 0.5
    (x,) = error.value.solution_loader.get_vars().values()
    assert x == pytest.approx(TILT_X, abs=0.1)


def test_before_the_first_certificate_the_last_point_is_the_best():
    m = tilting()

    def callback(state):
        raise KeyError("mine")

    with pytest.raises(CallbackError):
        new_interface(m, callback=callback, seed=4)
    assert m.x.value is not None


@BOTH
def test_a_sampler_that_raises_in_mid_run(solve):
    calls = []

    def sampler(rng, size):
        calls.append(size)
        if sum(calls) > 20_000:
            raise OSError("the simulator has no licence left")
        return rng.normal(1.0, 1.0, size)

    m = tilting()
    m.del_component(m.w)
    m.w = RandomParam(sampler=sampler)
    m.tilt.set_value(E(pyo.exp(m.x * m.w)) == pyo.exp(1.0))
    with pytest.raises(DataError, match=r"(?s)w.*no licence left.*best point so far") as error:
        solve(m, seed=4)
    assert isinstance(error.value.__cause__, OSError)
    assert m.x.value == pytest.approx(TILT_X, abs=0.2)


@pytest.fixture
def at_the_last_look(monkeypatch):
    """Something happens when the first of the last certificates is made, and at the second."""
    happens, count = [], []
    before = Judge.certificate

    def certificate(self, *args):
        count.append(1)
        if len(count) <= len(happens):
            happens[len(count) - 1]()
        return before(self, *args)

    monkeypatch.setattr(Judge, "certificate", certificate)
    return happens


def ctrl_c():
    os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.parametrize("limit", [{"max_iter": 5}, {"time_limit": 0.3, "tol_opt": 1e-9}])
def test_ctrl_c_during_the_last_certificates_leaves_them_out(at_the_last_look, limit):
    at_the_last_look.append(ctrl_c)
    m = tilting()
    handler = signal.getsignal(signal.SIGINT)
    results = new_interface(m, seed=4, **limit)
    assert results.termination_condition is TerminationCondition.interrupted
    assert "Ctrl-C was pressed during the last certificates" in results.message
    assert results.certificate is not None
    assert m.x.value == pytest.approx(TILT_X, abs=0.1)
    assert signal.getsignal(signal.SIGINT) is handler


def test_a_second_one_interrupts_with_the_best_point(at_the_last_look):
    at_the_last_look += [lambda: (ctrl_c(), ctrl_c())]
    m = tilting()
    with pytest.raises(KeyboardInterrupt):
        new_interface(m, seed=4, max_iter=5)
    assert m.x.value == pytest.approx(TILT_X, abs=0.1)


@pytest.mark.parametrize("times", [1, 2])
def test_sigterm_during_the_last_certificates_is_passed_on(tmp_path, at_the_last_look, times):
    received = []
    before = signal.signal(signal.SIGTERM, lambda *_: received.append(True))
    at_the_last_look += [lambda: os.kill(os.getpid(), signal.SIGTERM)] * times
    path = tmp_path / "run.npz"
    try:
        results = new_interface(tilting(), seed=4, max_iter=5, checkpoint=path)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert received == [True] * times
    assert results.iteration_count == 5
    at_the_last_look.clear()
    same(staged(max_iter=5), staged(max_iter=5, resume=path))


@BOTH
def test_ctrl_c_just_after_the_run_leaves_its_point(monkeypatch, solve):
    def closing(self):
        raise KeyboardInterrupt

    monkeypatch.setattr("pyomo_stochsqp.solve.Task.close", closing)
    m = tilting()
    with pytest.raises(KeyboardInterrupt):
        solve(m, seed=4)
    assert m.x.value == pytest.approx(TILT_X, abs=0.1)
