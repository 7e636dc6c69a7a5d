"""The paper's noise: unbiased, with the stated variances, the same at two points of one sample."""

import numpy as np
import pytest

from benchmarks.cutest import build
from pyomo_stochsqp.compile import compile_program
from pyomo_stochsqp.declare import read_model
from pyomo_stochsqp.oracle import ITERATION_STREAM, exact_estimate
from pyomo_stochsqp.oracles import GaussianNoiseOracle, ModelOracle
from pyomo_stochsqp.sample import Sampler
from tests.sqp.oracles import ExactOracle

N = 4000


@pytest.fixture
def oracles():
    program = read_model(build("BT3"))
    exact = ModelOracle(program, compile_program(program), Sampler([], 0))
    return exact, GaussianNoiseOracle(exact, (0.04, 0.25, 0.5), lambda k: 0.5, seed=1)


def test_mean_and_variance(oracles):
    exact, noisy = oracles
    x = exact.problem.x0
    n, m = exact.problem.n, exact.problem.m
    truth = noisy.without_noise(x)
    draws = [noisy.estimate(x, noisy.draw(ITERATION_STREAM, k, [1])) for k in range(N)]
    for name, variance in (("g", 0.04 / n), ("c", 0.25 / m), ("J", 0.5 / (m * n))):
        errors = np.array([getattr(e, name) for e in draws]) - getattr(truth, name)
        expected = variance * 0.25  # beta^2
        # Mean within 5 standard errors, variance within 5 of its own (relative sqrt(2/N)).
        assert np.abs(errors.mean(axis=0)).max() <= 5 * np.sqrt(expected / N)
        assert np.abs(errors.var(axis=0) / expected - 1).max() <= 5 * np.sqrt(2 / N)


def test_every_entry_of_the_jacobian_is_noisy(oracles):
    exact, noisy = oracles
    assert noisy.problem.jac_indices.size == exact.problem.n * exact.problem.m
    e = noisy.estimate(exact.problem.x0, noisy.draw(ITERATION_STREAM, 1, [1]))
    assert np.all(e.J != noisy.without_noise(exact.problem.x0).J)


def test_one_sample_gives_exact_differences(oracles):
    exact, noisy = oracles
    sample = noisy.draw(ITERATION_STREAM, 7, [1])
    a, b = exact.problem.x0, exact.problem.x0 + 0.1
    difference = noisy.estimate(b, sample).g - noisy.estimate(a, sample).g
    assert np.allclose(
        difference, exact_estimate(exact, b).g - exact_estimate(exact, a).g, rtol=1e-12, atol=1e-12
    )


def payload(oracle, k, batch=1, stream=ITERATION_STREAM):
    return oracle.draw(stream, k, [batch]).payload


def test_errors_of_iteration_k_have_the_size_of_beta_k(oracles):
    exact, _ = oracles
    unit = GaussianNoiseOracle(exact, (0.04, 0.25, 0.5), lambda k: 1.0, seed=1)
    falling = GaussianNoiseOracle(exact, (0.04, 0.25, 0.5), lambda k: 1.0 / k, seed=1)
    for k in (1, 2, 3, 7, 64, 65, 200):
        assert payload(falling, k) == pytest.approx(payload(unit, k) / k, rel=1e-14)
    # before the first iteration there is no beta but the first
    assert np.array_equal(payload(falling, 0), payload(unit, 0))


@pytest.mark.parametrize("batch", [1, 4, 25, 100])
def test_errors_of_a_batch_fall_like_the_root_of_its_size(oracles, batch):
    _, noisy = oracles
    sample = noisy.draw(ITERATION_STREAM, 9, [batch])
    assert sample.scenarios == batch
    assert sample.payload == pytest.approx(payload(noisy, 9) / np.sqrt(batch), rel=1e-14)


def test_the_three_blocks_have_variances_of_their_own(oracles):
    """eps_g / n, eps_c / m, eps_J / (m n): with one of them zero, the others are as they were."""
    exact, noisy = oracles
    n, m = exact.problem.n, exact.problem.m
    whole = payload(noisy, 3)
    assert whole.size == n + m + n * m
    blocks = (slice(0, n), slice(n, n + m), slice(n + m, None))
    for i, block in enumerate(blocks):
        variances = [0.04, 0.25, 0.5]
        variances[i] = 0.0
        part = payload(GaussianNoiseOracle(exact, tuple(variances), lambda k: 0.5, seed=1), 3)
        assert not part[block].any()
        for other in blocks[:i] + blocks[i + 1 :]:
            assert np.array_equal(part[other], whole[other])


def test_draws_are_repeatable_and_streams_are_independent(oracles):
    exact, noisy = oracles
    again = GaussianNoiseOracle(exact, (0.04, 0.25, 0.5), lambda k: 0.5, seed=1)
    other = GaussianNoiseOracle(exact, (0.04, 0.25, 0.5), lambda k: 0.5, seed=2)
    ks = [5, 700, 6, 0, 64, 63, 5]
    for k in ks:  # back and forth between blocks
        assert np.array_equal(payload(noisy, k), payload(again, k))
        assert not np.array_equal(payload(noisy, k), payload(other, k))
    errors = np.array([[payload(noisy, k, stream=s) for k in range(300)] for s in range(3)])
    flat = errors.reshape(3, -1) / errors.reshape(3, -1).std(axis=1, keepdims=True)
    correlations = np.corrcoef(flat)[np.triu_indices(3, 1)]
    assert np.abs(correlations).max() < 5 / np.sqrt(flat.shape[1])
    assert len({e.tobytes() for e in errors.reshape(-1, errors.shape[-1])}) == 900


def test_estimates_are_exact_values_plus_the_errors(oracles):
    exact, noisy = oracles
    x = exact.problem.x0 + 0.3
    n, m = exact.problem.n, exact.problem.m
    sample = noisy.draw(ITERATION_STREAM, 4, [1])
    truth, e = noisy.without_noise(x, objective=True), noisy.estimate(x, sample, objective=True)
    assert e.f == truth.f == exact_estimate(exact, x, objective=True).f
    assert noisy.estimate(x, sample).f is None
    assert e.g - truth.g == pytest.approx(sample.payload[:n], abs=1e-12)
    assert e.c - truth.c == pytest.approx(sample.payload[n : n + m], abs=1e-12)
    assert e.J - truth.J == pytest.approx(sample.payload[n + m :], abs=1e-12)
    dense = np.zeros((m, n))
    rows = np.repeat(np.arange(m), np.diff(exact.problem.jac_indptr))
    dense[rows, exact.problem.jac_indices] = exact_estimate(exact, x).J
    assert np.array_equal(truth.J.reshape(m, n), dense)
    # the sample is not used up
    assert np.array_equal(noisy.estimate(x, sample).J, e.J)


def test_a_problem_without_rows():
    oracle = ExactOracle([1.0, 2.0], 0, lambda x: (0.0, 2 * x, x[:0], x[:0]))
    noisy = GaussianNoiseOracle(oracle, (0.5, 0.5, 0.5), lambda k: 1.0, seed=1)
    e = noisy.estimate(oracle.problem.x0, noisy.draw(ITERATION_STREAM, 1, [1]))
    assert e.g.size == 2 and e.c.size == 0 and e.J.size == 0
