"""Algorithm 1 on hand-written oracles: exact answers, lemmas along whole runs, robustness."""

import numpy as np
import pytest

from pyomo_stochsqp.kkt import KKTPattern, make_backend
from pyomo_stochsqp.oracle import EvaluationIssue
from pyomo_stochsqp.sqp import (
    Batches,
    EqualitySubproblem,
    Fixed,
    Parameters,
    StochasticSQP,
    make_schedule,
)
from tests.sqp.oracles import ExactOracle, SampledOracle, hs7, noisy_sphere, tilting

SPHERE = -np.arange(1.0, 6.0) / np.sqrt(55.0)
TILT = np.array([np.sqrt(3.0) - 1.0])


def algorithm_1(oracle, beta=1.0, batch=64, lipschitz="auto", growth="constant", **parameters):
    problem = oracle.problem
    pattern = KKTPattern(problem.n, problem.m, problem.jac_indptr, problem.jac_indices)
    backend = make_backend(pattern, "dense", regularise=False)
    subproblem = EqualitySubproblem(problem, backend)
    schedule = make_schedule(beta)
    sizes = [batch] * len(oracle.sources)
    return StochasticSQP(
        oracle,
        subproblem,
        Fixed(),
        Batches(oracle.sources, sizes, growth, 1.01, schedule, probes=False),
        schedule,
        Parameters(**parameters),
        lipschitz,
    )


def trajectory(method, x0, iterations):
    state = method.start(x0)
    for _ in range(iterations):
        state = method.step(state)
        yield state


@pytest.mark.parametrize("rule", ["max", "grid", "min"])
def test_merit_function_decreases_in_the_exact_case(rule):
    """With beta = 1, exact estimates and valid constants, eq. alphaphi promises
    phi(x + alpha d, tau) - phi(x, tau) <= -eta alpha Delta l."""

    def convex(x):
        A = np.diag([1.0, 2.0, 3.0])
        return 0.5 * x @ A @ x + x.sum(), A @ x + 1, [x @ x - 1], 2 * x

    oracle = ExactOracle([1.0, 2.0, -1.0], 1, convex)
    # grad f has Lipschitz constant 3, grad c has 2.
    method = algorithm_1(oracle, lipschitz=(3.0, 2.0), step_rule=rule)

    def phi(x, tau):
        f, _, c, _ = convex(x)
        return tau * f + abs(c[0])

    state = method.start(oracle.problem.x0)
    for _ in range(200):
        before = state
        state = method.step(before)
        _, g, c, _ = convex(before.x)
        d = (state.x - before.x) / state.alpha
        reduction = -state.tau * (np.asarray(g) @ d) + abs(c[0])
        change = phi(state.x, state.tau) - phi(before.x, state.tau)
        assert change <= -0.5 * state.alpha * reduction + 1e-13


def test_lemmas_hold_along_a_noisy_run():
    oracle = noisy_sphere()
    tau, xi = 0.1, 1.0
    for state in trajectory(algorithm_1(oracle, lipschitz=(1.0, 2.0)), oracle.problem.x0, 300):
        assert 0 < state.tau <= tau and state.tau <= 0.99 * state.tau_trial
        assert 0 < state.xi <= xi and (state.xi == xi or state.xi <= 0.99 * xi)
        assert 0 < state.alpha
        tau, xi = state.tau, state.xi


@pytest.mark.parametrize(("oracle", "exact"), [(tilting, TILT), (noisy_sphere, SPHERE)])
def test_diminishing_steps_find_the_closed_form(oracle, exact):
    """Batch 256, 3000 iterations: the mean of the last half is within 2 % for every seed."""
    for seed in range(3):
        made = oracle(seed)
        states = list(trajectory(algorithm_1(made, "diminishing", 256), made.problem.x0, 3000))
        mean = np.mean([s.x for s in states[1500:]], axis=0)
        assert np.abs(mean - exact).max() <= 0.02


def test_adaptive_batches_grow_and_lower_the_error():
    oracle = tilting()
    method = algorithm_1(oracle, batch=64, growth="adaptive", step_cap=1.0)
    states = list(trajectory(method, oracle.problem.x0, 200))
    assert states[-1].scenarios > 16 * states[0].scenarios
    early = np.std([s.x[0] for s in states[15:40]])
    late = np.std([s.x[0] for s in states[-25:]])
    assert late < 0.5 * early


@pytest.mark.parametrize("factor", [0.01, 100.0])
def test_wrong_lipschitz_constants_recover(factor):
    """Started 100 times too small or too large, a run must end as near as a good one does."""
    oracle = noisy_sphere()
    method = algorithm_1(oracle, batch=256, growth="adaptive", step_cap=1.0)
    state = method.start(oracle.problem.x0)
    wrong = state.constants._replace(L=state.constants.L * factor, Gamma=2.4 * factor)
    state = type(state)(**{f: getattr(state, f) for f in state.__slots__} | {"constants": wrong})
    for _ in range(400):
        state = method.step(state)
    assert np.abs(state.x - SPHERE).max() < 0.05


def test_same_seed_same_iterates():
    runs = []
    for _ in range(2):
        oracle = tilting(seed=3)
        runs.append([s.x for s in trajectory(algorithm_1(oracle), oracle.problem.x0, 50)])
    assert all(np.array_equal(a, b) for a, b in zip(*runs, strict=True))


def test_d_equal_zero_keeps_the_parameters():
    oracle = ExactOracle([0.0, 0.0], 1, lambda x: (0.0, 0 * x, [x[0]], [1.0, 0.0]))
    method = algorithm_1(oracle, lipschitz=(1.0, 1.0))
    state = method.step(method.start(oracle.problem.x0))
    assert state.tau == 0.1 and state.xi == 1.0 and state.tau_trial == np.inf
    assert state.alpha == pytest.approx(0.1 / 1.1)  # alpha_min
    assert np.array_equal(state.x, [0.0, 0.0])


def test_at_a_solution_rounding_does_not_destroy_tau():
    oracle = hs7()
    method = algorithm_1(oracle, lipschitz=(2.0, 30.0))
    *_, state = trajectory(method, oracle.problem.x0, 5000)
    assert np.isfinite(state.x).all()
    assert state.tau > 1e-4
    assert np.abs(state.x - [0, np.sqrt(3)]).max() < 1e-6


def test_a_step_out_of_the_domain_is_shortened():
    """min x - 10 log x from far right: long steps reach x <= 0, where log does not exist."""

    class Barrier(SampledOracle):
        def estimate(self, x, sample, objective=False):
            e = super().estimate(x, sample, objective)
            if x[0] <= 0:
                e.issue = EvaluationIssue("objective", "log of a negative number")
            return e

    def functions(x, w):
        return 0.0, np.array([1 - 10 * w.mean() / x[0]]), np.zeros(0), np.zeros(0)

    oracle = Barrier([200.0], 0, lambda rng, n: 1 + 0.1 * rng.standard_normal(n), functions)
    method = algorithm_1(oracle, step_cap=None)
    *_, state = trajectory(method, oracle.problem.x0, 500)
    assert state.issue is None
    assert state.x[0] == pytest.approx(10.0, rel=0.05)


def test_an_oracle_that_never_works_ends_with_its_issue():
    class Broken(SampledOracle):
        def estimate(self, x, sample, objective=False):
            e = super().estimate(x, sample, objective)
            e.issue = EvaluationIssue("balance", "division by zero", 3)
            return e

    oracle = Broken([1.0], 0, lambda rng, n: rng.random(n), lambda x, w: (0, x, x[:0], x[:0]))
    method = algorithm_1(oracle, lipschitz=(1.0, 0.0))
    state = method.step(method.start(oracle.problem.x0))
    assert str(state.issue) == "balance: division by zero (scenario row 3)"


def test_dependent_rows_end_the_run_with_an_issue():
    """The paper's linear system needs independent rows; nothing is put in its place silently."""

    def functions(x):
        return x @ x, 2 * x, [x[0] - 1, 2 * x[0] - 2], [1.0, 0.0, 2.0, 0.0]

    oracle = ExactOracle([3.0, 1.0], 2, functions)
    method = algorithm_1(oracle, lipschitz=(2.0, 1.0))
    state = method.step(method.start(oracle.problem.x0))
    assert "linearly dependent" in str(state.issue)
    assert np.array_equal(state.x, oracle.problem.x0)


def test_without_rows_a_step_is_a_gradient_step():
    """m = 0: d = -g, nothing to violate, tau stays, alpha_phi = 2 (1 - eta) beta tau |g|^2 / D."""
    oracle = ExactOracle([1.0, -2.0], 0, lambda x: (0.5 * x @ x, x, [], []))
    method = algorithm_1(oracle, lipschitz=(3.0, 0.0), eta=0.25, theta=100.0)
    state = method.step(method.start(oracle.problem.x0))
    assert state.violation == 0.0
    assert state.tau == Parameters().tau0
    assert state.alpha == pytest.approx(2 * 0.75 / 3.0)
    assert state.x == pytest.approx([0.5, -1.0])
