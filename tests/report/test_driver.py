"""The driver: budgets, observers, convergence, the best point."""

from dataclasses import replace

import numpy as np
import pytest

from pyomo_stochsqp.report import Budget, Stop, Tolerances, run
from pyomo_stochsqp.report.driver import BENEFIT_OF_DOUBT
from tests.report.runs import Runner
from tests.sqp.oracles import noisy_sphere


def test_each_budget_has_its_own_end():
    runner = Runner()
    assert runner.run(20).stop is Stop.ITERATION_LIMIT
    assert runner.run(10**6, max_samples=5000).stop is Stop.SAMPLE_LIMIT
    assert runner.run(10**6, time_limit=0.05).stop is Stop.TIME_LIMIT


def test_no_budget_at_all_returns_the_starting_point():
    for outcome in (Runner().run(0), Runner().run(100, time_limit=0.0)):
        assert outcome.state.k == 0
        assert outcome.best is not None
        np.testing.assert_array_equal(outcome.best.x, [0.5])


def test_observers_see_every_iteration_and_can_stop():
    seen = []

    def observer(progress):
        seen.append(progress.state.k)
        return "enough" if progress.state.k == 7 else None

    outcome = Runner().run(100, [observer])
    assert seen == list(range(1, 8))
    assert outcome.stop is Stop.INTERRUPTED
    assert outcome.message == "enough"
    assert len(outcome.history) == 7


def test_the_best_point_has_the_smallest_certified_bound():
    outcome = Runner().run(400)
    bounds = outcome.certificates["infeasibility_bound"]
    # The objective is exact here, so the infeasibility decides; the tail average may be up to the
    # benefit of doubt above the last iterate.
    assert outcome.best.infeasibility_bound <= BENEFIT_OF_DOUBT * bounds.min()


def test_certificates_take_about_a_tenth_of_the_samples():
    outcome = Runner().run(1000)
    inside = outcome.certificates["rows"][outcome.certificates["iteration"] < 1000].sum()
    assert inside <= 0.12 * outcome.state.samples


def test_an_unbounded_objective_ends_the_run():
    runner = Runner(noisy_sphere())
    step = runner.method.step

    def diverging(state):
        return replace(step(state), x=10.0 * state.x)

    runner.method.step = diverging
    assert runner.run(5000).stop is Stop.UNBOUNDED


def test_a_converged_run_returns_a_certified_point():
    runner = Runner(growth="adaptive")
    tolerances = Tolerances(0.05, 0.05)
    progress, budget = runner.beginning(), Budget(5000, max_samples=5e6)
    outcome = run(runner.method, progress, runner.certifier, budget, tolerances)
    assert outcome.stop is Stop.CONVERGED
    assert tolerances.met(outcome.best)
    assert outcome.best.x == pytest.approx([np.sqrt(3) - 1], abs=0.02)
