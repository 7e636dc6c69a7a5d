"""The main loop: budgets, observers, ends, the point that is returned."""

from dataclasses import replace

import numpy as np
import pytest

from pyomo_stochsqp.certify import Tolerances
from pyomo_stochsqp.method import Stop
from pyomo_stochsqp.oracle import EvaluationIssue
from pyomo_stochsqp.run import Judge
from tests.run.runs import Runner, StagedRunner
from tests.sqp.oracles import noisy_sphere, tilting

ALL = pytest.mark.parametrize("runner", [Runner, StagedRunner])
TILT = np.sqrt(3.0) - 1.0


@ALL
def test_each_budget_has_its_own_end(runner):
    assert runner().run(3).stop is Stop.ITERATION_LIMIT
    assert runner().run(np.inf, max_samples=5000).stop is Stop.SAMPLE_LIMIT
    assert runner().run(np.inf, time_limit=0.01).stop is Stop.TIME_LIMIT


@ALL
def test_no_budget_at_all_returns_the_starting_point(runner):
    for outcome in (runner().run(0), runner().run(100, time_limit=0.0)):
        assert outcome.state.k == 0
        assert outcome.best is not None
        np.testing.assert_array_equal(outcome.best.x, [0.5])


@ALL
def test_observers_see_every_iteration_and_can_stop(runner):
    seen = []

    def observer(progress):
        seen.append(progress.state.k)
        return "enough" if progress.state.k == 6 else None

    outcome = runner().run(100, [observer])
    assert list(dict.fromkeys(k for k in seen if k)) == list(range(1, 7))
    assert outcome.stop is Stop.INTERRUPTED
    assert outcome.message == "enough"
    assert len(outcome.history) == 6


@ALL
def test_the_history_has_one_row_per_iteration(runner):
    outcome = runner().run(9)
    assert outcome.history["iteration"].tolist() == list(range(1, 10))
    assert (np.diff(outcome.history["samples"]) >= 0).all()


@ALL
def test_a_run_that_was_stopped_returns_the_best_of_its_points(runner):
    """Also the start is a candidate: nothing is ever worse than that."""
    started_well = runner()
    started_well.oracle.problem = replace(started_well.oracle.problem, x0=np.array([TILT]))

    def astray(progress):
        return progress.state.k == 1

    started_well.method.step = elsewhere(started_well.method.step)
    outcome = started_well.run(10, [astray])
    assert outcome.best.x == pytest.approx([TILT])
    assert outcome.state.x != pytest.approx([TILT], abs=0.1)


def elsewhere(step):
    """A step that ends far from any solution."""

    def stepped(state):
        state = step(state)
        if hasattr(state, "inner"):
            return replace(state, inner=replace(state.inner, x=state.inner.x + 1.0))
        return replace(state, x=state.x + 1.0)

    return stepped


@pytest.mark.parametrize("answer", ["best", "last", "average"])
def test_the_answer_can_be_chosen(answer):
    outcome = Runner().run(400, answer=answer)
    x = outcome.best.x
    if answer == "last":
        np.testing.assert_array_equal(x, outcome.state.x)
    if answer == "average":
        np.testing.assert_array_equal(x, outcome.state.average)
    assert x == pytest.approx([TILT], abs=0.1)


def test_looks_take_about_a_tenth_of_the_samples():
    outcome = Runner().run(3000)
    looks = outcome.certificates["iteration"] < 3000
    assert looks.sum() >= 3
    # the first look has at least 1024 scenarios, whatever came before
    assert outcome.certificates["scenarios"][looks].sum() <= 0.12 * outcome.state.samples + 1024


def test_looks_come_when_the_samples_have_doubled():
    outcome = Runner().run(3000)
    at = outcome.certificates["samples"][outcome.certificates["iteration"] < 3000]
    assert (at[1:] / at[:-1] >= 1.9).all()


def test_later_looks_need_more_confidence():
    """0.05 * 6 / pi^2 / j^2 sums up to 0.05: all looks together have 95 %."""
    seen = {}

    def observer(progress):
        state = progress.state
        if state.certificate is not None:
            seen[state.looks] = state.certificate.confidence

    Runner().run(3000, [observer])
    assert len(seen) >= 3
    for look, confidence in seen.items():
        assert confidence == pytest.approx(1.0 - 0.05 * 6.0 / (np.pi * look) ** 2)


def test_iterates_that_diverge_end_the_run():
    runner = Runner(noisy_sphere())
    step = runner.method._method.step
    runner.method._method.step = lambda state: replace(step(state), x=10.0 * state.x)
    assert runner.run(5000).stop is Stop.UNBOUNDED


@ALL
def test_a_converged_run_returns_a_certified_point(runner):
    tolerances = Tolerances(0.02, 0.02)
    made = runner(growth="adaptive", tolerances=tolerances, most=5e6)
    outcome = made.run(5000, max_samples=5e6)
    assert outcome.stop is Stop.CONVERGED
    assert tolerances.met(outcome.best)
    # a displacement within 3 tol of |x|
    assert outcome.best.x == pytest.approx([TILT], rel=3 * 0.02)


def test_a_certificate_made_at_the_end_counts_as_success():
    """The limit comes before the first look, and the start is the solution."""
    runner = Runner(tolerances=Tolerances(0.5, 0.5))
    runner.oracle.problem = replace(runner.oracle.problem, x0=np.array([TILT]))
    outcome = runner.run(1)
    assert outcome.stop is Stop.CONVERGED
    assert runner.tolerances.met(outcome.best)


@ALL
def test_an_undefined_start_ends_with_the_issue(runner):
    oracle = tilting()
    estimate = oracle.estimate

    def broken(x, sample, objective=False):
        e = estimate(x, sample, objective)
        e.issue = EvaluationIssue("tilt", "overflow")
        return e

    oracle.estimate = broken
    outcome = runner(oracle).run(10)
    assert outcome.stop is Stop.EVALUATION_ERROR
    assert "tilt: overflow" in outcome.message
    assert outcome.best is None


def test_looks_are_taken_on_samples_that_no_iteration_sees(monkeypatch):
    runner = Runner()
    drawn = {"look": set(), "iteration": set()}
    purpose = ["iteration"]
    draw, samples = runner.oracle.draw, Judge.samples

    def recorded(stream, k, batch):
        drawn[purpose[-1]].add((stream, k))
        return draw(stream, k, batch)

    def looking(judge, number, scenarios):
        purpose.append("look")
        try:
            return samples(judge, number, scenarios)
        finally:
            purpose.pop()

    runner.oracle.draw = recorded
    monkeypatch.setattr(Judge, "samples", looking)
    runner.run(300)
    assert len(drawn["iteration"]) > 300
    assert len(drawn["look"]) > 100
    assert not drawn["look"] & drawn["iteration"]


@pytest.mark.parametrize("seed", range(5))
def test_the_last_sample_of_a_limit_is_solved_on(seed):
    """A limit on scenarios ends a run where the next would be drawn, not where the last was; and
    what the largest sample says is not overruled by the noise of the last look."""
    runner = StagedRunner(tilting(seed=seed), most=50_000)
    outcome = runner.run(np.inf, max_samples=50_000)
    assert outcome.stop is Stop.SAMPLE_LIMIT
    last = outcome.state.scenarios
    assert last > 25_000
    assert outcome.state.samples <= 50_000
    assert outcome.history["samples"][-1] == outcome.state.samples
    assert outcome.best.scenarios < last
    np.testing.assert_array_equal(outcome.best.x, outcome.state.x)
