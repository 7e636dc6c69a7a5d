"""Callbacks see the run and can stop it."""

import pyomo.environ as pyo
import pytest

from pyomo_stochsqp.errors import CallbackError
from tests.interface.models import TILT_X, tilting

#: sixty iterations of Algorithm 1
ALGORITHM_1 = {
    "algorithm": "stochsqp", "batch_growth": "constant", "batch_size": 64, "max_iter": 60
}  # fmt: skip
BOTH = pytest.mark.parametrize("options", [{}, ALGORITHM_1], ids=["stages", "Algorithm 1"])


def solve(callback, m=None, **options):
    opt = pyo.SolverFactory("stochsqp")
    return opt.solve(m or tilting(), callback=callback, seed=1, **options)


@BOTH
def test_called_after_every_iteration(options):
    seen = []
    results = solve(lambda s: seen.append((s.iteration, s.violation, s.x)), **options)
    assert [k for k, *_ in seen] == list(range(1, results.iteration_count + 1))
    assert [v for _, v, _ in seen] == results.history["violation"].tolist()
    if not options:
        assert {"stage", "objective", "batch"} < set(results.history.columns)


def test_called_every_so_often_with_the_numbers_of_the_iteration():
    seen = []
    results = solve(lambda s: seen.append((s.iteration, s.samples, s.violation)), callback_every=20,
                    **ALGORITHM_1)  # fmt: skip
    assert [k for k, _, _ in seen] == [20, 40, 60]
    history = results.history
    assert [v for _, _, v in seen] == [history["violation"][k - 1] for k in (20, 40, 60)]
    assert all(type(k) is int and type(n) is int for k, n, _ in seen)


@BOTH
def test_true_stops_the_run_and_the_best_point_is_loaded(options):
    m = tilting()
    last = 30 if options else 3
    results = solve(lambda s: s.iteration == last, m, **options)
    assert results.iteration_count == last
    assert results.solver.termination_condition == pyo.TerminationCondition.resourceInterrupt
    assert "the callback asked for it" in results.message
    assert m.x.value == pytest.approx(TILT_X, abs=0.1)


@BOTH
def test_values_and_multipliers_by_component(options):
    m = tilting()
    seen = {}

    def callback(state):
        seen["x"], seen["dual"], seen["vector"] = state.x[m.x], state.duals[m.tilt], state.vector
        seen["certificate"], seen["seconds"] = state.certificate, state.seconds

    solve(callback, m, **{**options, "batch_size": 4000})
    assert seen["x"] == seen["vector"][0] == pytest.approx(TILT_X, abs=0.1)
    assert seen["dual"] == pytest.approx(0.31, abs=0.1)
    assert seen["certificate"] is not None
    assert seen["seconds"] > 0


@BOTH
def test_the_state_is_read_only(options):
    def callback(state):
        with pytest.raises(ValueError, match="read-only"):
            state.vector[0] = 7.0
        with pytest.raises(AttributeError, match="violation"):
            _ = state.violations
        return True

    solve(callback, **options)


@BOTH
def test_an_error_in_a_callback_is_the_users_to_see(options):
    def callback(state):
        raise ZeroDivisionError("mine")

    with pytest.raises(
        CallbackError, match="at iteration 1 raised ZeroDivisionError: mine"
    ) as said:
        solve(callback, **options)
    assert isinstance(said.value.__cause__, ZeroDivisionError)
