"""Certificates: exact where they can be, and with bounds that cover where they cannot."""

import numpy as np
import pytest

from pyomo_stochsqp.oracle import Estimate, Problem, Sample, SourceInfo
from pyomo_stochsqp.report import Certifier
from pyomo_stochsqp.report.certificate import Units


class Mean:
    """min 1/2 |x|^2 - E[w]'x s.t. E[x_1 + v] = 1 with standard normal noise in w and v."""

    def __init__(self, size=None, seed=0):
        self.problem = Problem.equalities(np.zeros(3), 1)
        self.sources = (SourceInfo("w", size),)
        self._seed = seed

    def draw(self, stream, k, batch):
        rng = np.random.default_rng((self._seed, stream, k))
        return Sample(rng.standard_normal((batch[0], 4)), rows=batch[0])

    def estimate(self, x, sample, objective=False):
        w = sample.payload.mean(axis=0)
        return self._at(x, w[:3] + 1, w[3])

    def full(self, x, objective=False):
        return self._at(x, np.ones(3), 0.0)

    def _at(self, x, w, v):
        f = 0.5 * x @ x - w @ x
        return Estimate(x - w, np.array([x[0] + v - 1]), np.array([1.0, 0, 0]), f)


def least_squares(x, e):
    y = np.array([-e.g[0]])
    return y, e.g + np.array([y[0], 0, 0])


def test_a_full_pass_is_exact():
    c = Certifier(Mean(size=100), least_squares).certify(np.array([1.5, 1.0, 0.0]), 100, 1)
    assert c.exact and c.rows == 100
    assert c.infeasibility == c.infeasibility_bound == pytest.approx(0.5)
    assert c.stationarity == c.stationarity_bound == pytest.approx(1.0)
    assert c.objective_error == 0.0


def test_bounds_cover_the_true_errors():
    """At the solution both errors are zero. With 95 % joint level per error, 300 certificates may
    miss 15 times each on average; 30 is four standard deviations more."""
    misses = np.zeros(2)
    for seed in range(300):
        oracle = Mean(seed=seed)
        c = Certifier(oracle, least_squares).certify(np.array([1.0, 1.0, 1.0]), 1600, 1)
        assert not c.exact
        e = oracle.full(c.x)
        true = abs(e.c[0]), np.abs(e.g + np.array([c.y[0], 0, 0]))[1:].max()
        half_c = c.infeasibility_bound - c.infeasibility
        half_r = c.stationarity_bound - c.stationarity
        misses += (c.infeasibility - half_c > true[0], c.stationarity - half_r > true[1])
    assert np.all(misses <= 30)


def test_more_scenarios_tighten_the_bounds():
    few = Certifier(Mean(), least_squares).certify(np.ones(3), 1_600, 1)
    many = Certifier(Mean(), least_squares).certify(np.ones(3), 160_000, 1)
    # The width falls like one over the square root of the rows: a factor ten.
    assert many.infeasibility_bound < 0.3 * few.infeasibility_bound


def test_tolerances_are_relative_to_the_gradients():
    plain = Certifier(Mean(size=10), least_squares).certify(np.array([1.5, 1.0, 0.0]), 10, 1)
    units = Units(np.array([0.2]), 4.0)
    scaled = Certifier(Mean(size=10), least_squares, units).certify(plain.x, 10, 1)
    assert scaled.infeasibility == plain.infeasibility
    assert scaled.relative_infeasibility == pytest.approx(0.5 / (0.2 * 1.5))
    assert scaled.relative_stationarity == pytest.approx(1.0 / 4.0)


def test_a_row_that_was_steeper_at_the_start_counts_by_its_gradient_at_the_point():
    units = Units(np.array([10.0]), 4.0)
    x = np.array([1.5, 1.0, 0.0])  # where the row has a gradient of one
    scaled = Certifier(Mean(size=10), least_squares, units).certify(x, 10, 1)
    assert scaled.relative_infeasibility == pytest.approx(0.5 / (1.0 * 1.5))


def test_a_point_outside_the_domain_has_no_certificate():
    class Broken(Mean):
        def estimate(self, x, sample, objective=False):
            e = super().estimate(x, sample, objective)
            e.issue = "log of a negative number"
            return e

    assert Certifier(Broken(), least_squares).certify(np.ones(3), 1600, 1) is None
