"""The baselines against their own formulas, known solutions, and the loop they share."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pyomo_stochsqp.baselines import (
    BASELINES,
    BaselineState,
    StochasticSubgradient,
    TStoM,
    TStoMParameters,
    coordinate_constants,
    make_baseline,
)
from pyomo_stochsqp.certify import Certifier, Tolerances
from pyomo_stochsqp.errors import OptionError
from pyomo_stochsqp.method import Stop
from pyomo_stochsqp.oracle import Estimate, EvaluationIssue, Problem, Sample, SourceInfo
from pyomo_stochsqp.run import Budget, Judge, Looked, Progress, run


class Quadratic:
    """min 1/2 |x - w|^2 s.t. a'x = b, w ~ N(0, deviation^2): the solution is a projection."""

    def __init__(self, a=(1.0, 2.0), b=5.0, deviation=0.0, upper=np.inf, fails_at=None):
        self.a, self.b, self.deviation = np.array(a), b, deviation
        row = np.array([b])
        self.problem = replace(
            Problem.equalities(np.zeros(2), 1),
            x_upper=np.full(2, upper),
            row_lower=row,
            row_upper=row,
        )
        self.sources = (SourceInfo("w", None),)
        self.draws: list[tuple[int, int]] = []
        self.points: list[tuple[np.ndarray, Sample]] = []
        self.fails_at = fails_at

    def draw(self, stream, k, batch):
        self.draws.append((stream, k))
        rng = np.random.default_rng([stream, k])
        return Sample(self.deviation * rng.standard_normal(2), scenarios=batch[0])

    def estimate(self, x, sample, objective=False):
        self.points.append((x, sample))
        issue = None
        if self.fails_at is not None and len(self.points) > self.fails_at:
            issue = EvaluationIssue("obj", "log of a negative number")
        w = sample.payload
        return Estimate(x - w, np.array([self.a @ x]), self.a.copy(), 0.0, issue)

    @property
    def solution(self):
        return self.a * self.b / (self.a @ self.a)


def steps(method, x, number):
    state = method.start(np.array(x, dtype=float))
    states = []
    for _ in range(number):
        state = method.step(state)
        states.append(state)
    return states


def test_subgradient_step_is_the_formula():
    oracle = Quadratic(deviation=0.3)
    tau, L, Gamma, x = 0.1, 3.0, 2.0, np.array([4.0, 1.0])
    state = steps(StochasticSubgradient(oracle, (7,), lambda k: 0.5, tau, (L, Gamma)), x, 1)[0]
    w = oracle.draw(0, 1, (7,)).payload
    alpha = 0.5 * tau / (tau * L + Gamma)
    assert oracle.a @ x > oracle.b
    np.testing.assert_allclose(state.x, x - alpha * (tau * (x - w) + oracle.a), rtol=1e-14)
    assert state.samples == 7
    assert state.violation == pytest.approx(1.0)
    assert len(state.record()) == len(BaselineState.COLUMNS)


def test_subgradient_converges_with_diminishing_steps():
    oracle = Quadratic(deviation=0.1)
    beta = lambda k: k**-0.6  # noqa: E731
    state = steps(StochasticSubgradient(oracle, (1,), beta, 0.5, (1.0, 1.0)), (3, 3), 4000)[-1]
    np.testing.assert_allclose(state.x, oracle.solution, atol=0.05)


def test_subgradient_respects_bounds():
    oracle = Quadratic(upper=0.5)
    for state in steps(StochasticSubgradient(oracle, (1,), lambda k: 1.0, 1.0, (1, 1)), (0, 0), 50):
        assert state.x.max() <= 0.5


def test_phase_one_is_gradient_descent_on_the_violation():
    oracle = Quadratic()
    states = steps(TStoM(oracle, (1,), TStoMParameters(T=30, V=20.0)), (3, -4), 30)
    x = np.array([3.0, -4.0])
    for state in states:
        x = x - oracle.a * (oracle.a @ x - oracle.b) / 20.0
        np.testing.assert_allclose(state.x, x, rtol=1e-12)


def test_phase_two_without_memory_is_the_linearised_augmented_lagrangian():
    oracle = Quadratic(deviation=0.2)
    p = TStoMParameters(T=0, alpha=1.0, tau=1.0, beta=4.0, eta=0.01, rho=0.7)
    states = steps(TStoM(oracle, (1,), p), (1, 1), 5)
    x, y = np.ones(2), 0.0
    for k, state in enumerate(states, 1):
        w = oracle.draw(0, k, (1,)).payload
        c = oracle.a @ x - oracle.b
        x = x - p.eta * (x - w + oracle.a * (y + p.beta * c))
        y += p.rho * c
        np.testing.assert_allclose(state.x, x, rtol=1e-12)
        np.testing.assert_allclose(state.y, [y], rtol=1e-12)


def test_momentum_uses_one_sample_at_both_points():
    oracle = Quadratic(deviation=0.2)
    p = TStoMParameters(T=2, V=100.0, eta=0.01)
    states = steps(TStoM(oracle, (3,), p), (1, 1), 6)
    assert [k for _, k in oracle.draws] == [1, 2, 3, 4, 5, 6]
    for (x1, s1), (x2, s2) in zip(oracle.points[1::2], oracle.points[2::2], strict=True):
        assert s1 is s2
        assert x1 is not x2
    assert states[-1].samples == 3 * (1 + 2 * 5)


def test_momentum_reduces_the_variance():
    def spread(alpha):
        p = TStoMParameters(T=0, alpha=alpha, tau=alpha, beta=4.0, eta=1e-4, rho=0.1)
        states = steps(TStoM(Quadratic(deviation=1.0), (1,), p), (1, 2), 2000)
        return np.std([s.g - s.x_before for s in states[500:]])

    # recursive momentum on an additive error is an average with weights alpha (1 - alpha)^j
    assert spread(0.1) == pytest.approx(spread(1.0) * np.sqrt(0.1 / 1.9), rel=0.15)


def test_tstom_finds_the_solution_and_the_multiplier():
    oracle = Quadratic()
    parameters = TStoMParameters.automatic(oracle, np.zeros(2), (1,), (1.0, 0.0))
    state = steps(TStoM(oracle, (1,), parameters), (3, 3), 5000)[-1]
    np.testing.assert_allclose(state.x, oracle.solution, atol=1e-8)
    np.testing.assert_allclose(state.y, [-1.0], atol=1e-8)


def test_coordinate_constants():
    class Curved(Quadratic):
        def estimate(self, x, sample, objective=False):
            return Estimate(3.0 * x, np.array([2.0 * x[0] ** 2]), np.array([4.0 * x[0], 0.0]))

    L, Gamma = coordinate_constants(Curved(), np.ones(2), (1,))
    assert pytest.approx(3.0) == L
    assert pytest.approx(4.0) == Gamma
    assert coordinate_constants(Quadratic(), np.ones(2), (1,)) == pytest.approx((1.0, 0.0))


@pytest.mark.parametrize("name", BASELINES)
def test_baselines_by_name_measure_what_they_need(name):
    oracle = Quadratic()
    method = make_baseline(name, oracle, (1,), lambda k: k**-0.5, 0.5)
    state = steps(method, (3, 3), 3000)[-1]
    np.testing.assert_allclose(state.x, oracle.solution, atol=0.1)


def test_an_unknown_name_is_refused():
    with pytest.raises(OptionError, match="subgradient, tstom"):
        make_baseline("adam", Quadratic(), (1,), lambda k: 1.0, 0.5)


def looked_at(method, oracle):
    certifier, tolerances = Certifier(oracle), Tolerances(1e-9, 1e-9)
    looked = Looked(method, oracle, certifier, tolerances)
    progress = Progress.beginning(looked.start(oracle.problem.x0))
    return run(looked, progress, Judge(oracle, certifier), Budget(max_iter=60), tolerances)


@pytest.mark.parametrize("make", [
    lambda o: StochasticSubgradient(o, (2,), lambda k: 1.0, 0.1, (1.0, 1.0)),
    lambda o: TStoM(o, (2,), TStoMParameters(T=3, V=20.0, eta=0.01)),
])  # fmt: skip
def test_methods_run_in_the_loop(make):
    oracle = Quadratic(deviation=0.1)
    outcome = looked_at(make(oracle), oracle)
    assert outcome.stop is Stop.ITERATION_LIMIT
    assert outcome.history["iteration"].tolist() == list(range(1, 61))
    assert outcome.best is not None

    broken = Quadratic(fails_at=5)
    outcome = looked_at(make(broken), broken)
    assert outcome.stop is Stop.EVALUATION_ERROR
    assert "log of a negative" in outcome.message
