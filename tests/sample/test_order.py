"""A random order: every row once, all orders alike, any part of it by itself."""

import numpy as np
import pytest
from scipy import stats

from pyomo_stochsqp.sample.order import RandomOrder


def order(size, seed=0):
    return RandomOrder(np.random.default_rng(seed), size)


@pytest.mark.parametrize("size", [1, 2, 3, 10, 97, 4096, 99_991])
def test_every_row_has_one_place(size):
    assert np.array_equal(np.sort(order(size).rows(0, size)), np.arange(size))


def test_a_part_needs_nothing_but_itself():
    whole = order(10_000_000_000).rows(0, 3000)
    assert np.array_equal(order(10_000_000_000).rows(1000, 2000), whole[1000:2000])
    assert 0 <= whole.min() and whole.max() < 10_000_000_000
    assert len(np.unique(whole)) == 3000


def test_places_and_pairs_of_rows_are_uniform():
    size, runs = 12, 6000
    pairs = np.zeros((size, size))
    for seed in range(runs):
        first, second = order(size, seed).rows(0, 2)
        pairs[first, second] += 1
    assert np.diag(pairs).sum() == 0
    counts = pairs[~np.eye(size, dtype=bool)]
    chi_squared = ((counts - runs / counts.size) ** 2).sum() / (runs / counts.size)
    assert chi_squared < stats.chi2.isf(1e-4, counts.size - 1)


def test_neighbours_and_gaps_look_random():
    size, count = 1_000_000, 200_000
    rows = order(size).rows(0, count)
    correlation = np.corrcoef(rows[:-1], rows[1:])[0, 1]
    assert abs(correlation) < 4 / np.sqrt(count)
    # gaps between chosen rows are geometric, their standard deviation is sqrt(1 - share) means
    gaps = np.diff(np.sort(rows))
    assert gaps.std() / gaps.mean() == pytest.approx(np.sqrt(1 - count / size), rel=0.02)
    counts = np.histogram(rows, 100, (0, size))[0]
    chi_squared = ((counts - count / 100) ** 2).sum() / (count / 100 * (1 - count / size))
    assert chi_squared < stats.chi2.isf(1e-4, 99)
