"""Bounds cover the true errors as often as they promise, on problems with known solutions."""

import numpy as np
import pytest

from tests.certify.oracles import bounded, certified, sphere, tilting

KNOWN = [tilting, sphere, bounded]


@pytest.mark.parametrize("make", KNOWN)
@pytest.mark.parametrize("off", [0.0, 0.02])
def test_bounds_cover_the_true_errors(make, off):
    """At 95 % each kind of bound may miss 5 % of 200 certificates; 10 more are three standard
    deviations."""
    misses = np.zeros(3)
    for seed in range(200):
        oracle = make(seed)
        x = oracle.solution * (1.0 + off)
        c = certified(oracle, x)
        f, rows = oracle.truth(x)
        best = oracle.truth(oracle.solution)[0]
        violation = oracle.problem.violation(np.asarray(rows))
        assert not c.exact and c.replicates == 16
        misses += (
            (np.abs(x - oracle.solution) > c.displacement + 1e-12).any(),
            abs(f - best) > c.gap + 1e-12,
            (violation > c.violation_bound + 1e-12).any(),
        )
    assert (misses <= 20).all(), misses


@pytest.mark.parametrize("make", KNOWN)
def test_a_point_that_was_fitted_to_the_sample_is_covered_too(make):
    """One Newton step on the sample that certifies it: the errors are then those of the sample."""
    misses = np.zeros(2)
    for seed in range(200):
        oracle = make(seed)
        first = certified(oracle, oracle.solution * 1.01)
        x = oracle.problem.project(first.x + first.move)
        c = certified(oracle, x, first.y)
        gap = abs(oracle.truth(x)[0] - oracle.truth(oracle.solution)[0])
        misses += (np.abs(x - oracle.solution) > c.displacement + 1e-12).any(), gap > c.gap + 1e-12
    assert (misses <= 20).all(), misses
