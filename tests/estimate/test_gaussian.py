"""The paper's noise: unbiased, with the stated variances, the same at two points of one sample."""

import numpy as np
import pytest

from benchmarks.cutest import build
from pyomo_stochsqp.compile import compile_program
from pyomo_stochsqp.declare import read_model
from pyomo_stochsqp.estimate import GaussianNoiseOracle, ModelOracle
from pyomo_stochsqp.oracle import ITERATION_STREAM
from pyomo_stochsqp.sample import Sampler

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
    truth = noisy.full(x)
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
    assert np.all(e.J != noisy.full(exact.problem.x0).J)


def test_one_sample_gives_exact_differences(oracles):
    exact, noisy = oracles
    sample = noisy.draw(ITERATION_STREAM, 7, [1])
    a, b = exact.problem.x0, exact.problem.x0 + 0.1
    difference = noisy.estimate(b, sample).g - noisy.estimate(a, sample).g
    assert np.allclose(difference, exact.full(b).g - exact.full(a).g, rtol=1e-12, atol=1e-12)
