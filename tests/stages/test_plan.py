"""How large the fixed samples are."""

import pytest

from pyomo_stochsqp.oracle import SourceInfo
from pyomo_stochsqp.stages.plan import (
    LARGEST_GROWTH,
    SMALLEST_GROWTH,
    finite_sizes,
    first_points,
    next_points,
)


def sources(*sizes):
    return [SourceInfo(f"s{i}", size) for i, size in enumerate(sizes)]


def test_endless_sources_have_no_last_stage():
    assert finite_sizes(sources(None)) is None
    assert finite_sizes(sources(10, None)) is None


def test_a_model_without_randomness_has_one_stage():
    assert finite_sizes([]) == [[]]


def test_small_data_are_used_at_once():
    assert finite_sizes(sources(8192)) == [[8192]]
    assert finite_sizes(sources(4000, 4000)) == [[4000, 4000]]


@pytest.mark.parametrize("size", [8193, 64_000, 100_000, 100_001, 10**7])
def test_large_data_end_with_all_of_them(size):
    """No cliff: 100,001 rows are treated like 100,000."""
    stages = finite_sizes(sources(size))
    assert stages[-1] == [size]
    sizes = [sum(s) for s in stages]
    assert sizes == sorted(sizes) and len(sizes) >= 2
    assert all(1000 <= s <= size // 8 for s in sizes[:-1])


def test_first_samples_know_variables_costs_and_replicates():
    assert 16 * first_points(10, False, 16) == 4096
    assert 64 * first_points(10, True, 64) == 256
    assert 16 * first_points(5000, False, 16) >= 4 * 5000


def test_independent_draws_grow_as_their_noise_asks():
    n = next_points(1000, 4.0, spread_evenly=False, least=256)
    assert n == 25_000  # noise falls like one over the root: to 0.8
    assert next_points(1000, 1e4, spread_evenly=False, least=256) == LARGEST_GROWTH * 1000
    assert next_points(10_000, 1e-3, spread_evenly=False, least=256) == SMALLEST_GROWTH * 10_000
    # nothing is known yet
    assert next_points(1000, float("inf"), spread_evenly=False, least=256) == 4000


def test_evenly_spread_draws_grow_by_a_factor_that_keeps_powers_of_two():
    assert next_points(256, 20.0, spread_evenly=True, least=256) == 1024
    assert next_points(256, 0.5, spread_evenly=True, least=256) == 256


@pytest.mark.parametrize("evenly", [True, False])
def test_a_small_noise_leads_to_a_look_that_counts(evenly):
    assert next_points(64, 0.5, spread_evenly=evenly, least=256) == 256
