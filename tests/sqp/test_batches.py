"""Batch sizes: every growth rule, the cap at the data, when noise is measured."""

import pytest

from pyomo_stochsqp.oracle import SourceInfo
from pyomo_stochsqp.sqp import Batches, make_schedule
from pyomo_stochsqp.sqp.batches import BatchState

ENDLESS, SMALL = SourceInfo("w", None), SourceInfo("rows", 100)


def rule(growth, sources=(ENDLESS,), initial=(16,), rate=1.5, beta=1.0):
    return Batches(sources, initial, growth, rate, make_schedule(beta))


def test_constant():
    sizes = rule("constant", (ENDLESS, SMALL), (16, 200))
    assert sizes.sizes(1, BatchState()) == sizes.sizes(999, BatchState()) == (16, 100)


def test_geometric():
    sizes = rule("geometric")
    assert [sizes.sizes(k, BatchState())[0] for k in (1, 2, 3)] == [16, 24, 36]


def test_variance_follows_beta():
    """beta_501 = 501^-0.6, so sizes grow by 501^1.2."""
    sizes = rule("variance", beta="diminishing")
    assert sizes.sizes(500, BatchState()) == (16,)
    assert sizes.sizes(501, BatchState())[0] == pytest.approx(16 * 501**1.2, rel=1e-3)


def test_variance_is_that_of_the_first_beta():
    """beta_k = 1/k: sizes grow like k^2."""
    sizes = Batches((ENDLESS,), (16,), "variance", 1.0, lambda k: 1.0 / k)
    assert [sizes.sizes(k, BatchState())[0] for k in (1, 2, 3)] == [16, 64, 144]


def test_adaptive_doubles_only_after_two_noisy_probes():
    sizes = rule("adaptive")
    state = sizes.after_probe(BatchState(), noise=1.0, signal=1.0)
    assert sizes.sizes(6, state) == (16,)
    state = sizes.after_probe(state, noise=1.0, signal=1.0)
    assert sizes.sizes(11, state) == (32,)
    assert state.probes == 0


def test_adaptive_stays_while_the_signal_is_clear():
    sizes = rule("adaptive")
    state = BatchState()
    for _ in range(10):
        state = sizes.after_probe(state, noise=0.1, signal=1.0)
    assert state.factor == 1.0


def test_averages_forget_half_of_the_past():
    """The first probe counts fully; then 1/2 of the average and 1/2 of the newest."""
    sizes = rule("adaptive")
    state = sizes.after_probe(BatchState(2.0), noise=1.0, signal=100.0)
    assert state == BatchState(2.0, 1.0, 100.0, 1)
    state = sizes.after_probe(state, noise=4.0, signal=60.0)
    assert state == BatchState(2.0, 2.5, 80.0, 2)
    state = sizes.after_probe(state, noise=0.5, signal=20.0)
    assert state == BatchState(2.0, 1.5, 50.0, 3)


def test_a_single_noisy_probe_is_weighed_against_those_before():
    """Averages (2.5, 80), then (15.75, 45): less than half; then noise 40 makes it too much."""
    sizes = rule("adaptive")
    state = BatchState(1.0, 2.5, 80.0, 2)
    state = sizes.after_probe(state, noise=29.0, signal=10.0)
    assert state == BatchState(1.0, 15.75, 45.0, 3)
    assert sizes.after_probe(state, noise=40.0, signal=10.0) == BatchState(2.0)
    # noise that is new, and a signal that is lost
    assert sizes.after_probe(BatchState(1.0, 1.0, 80.0, 2), 200.0, 100.0) == BatchState(2.0)
    assert sizes.after_probe(BatchState(1.0, 10.0, 80.0, 2), 50.0, 10.0) == BatchState(2.0)


def test_every_fifth_iteration_is_probed():
    sizes = rule("adaptive")
    probed = [k for k in range(1, 20) if sizes.wants_probe(k, exact=False)]
    assert probed == [1, 6, 11, 16]


def test_other_rules_measure_noise_too_and_keep_their_sizes():
    for growth in ("constant", "geometric", "variance"):
        sizes = rule(growth)
        assert sizes.wants_probe(1, exact=False) and not sizes.wants_probe(1, exact=True)
        state = sizes.after_probe(BatchState(), noise=9.0, signal=1.0)
        state = sizes.after_probe(state, noise=9.0, signal=1.0)
        assert state.factor == 1.0


def test_the_papers_direction_needs_no_measurement():
    paper = Batches((ENDLESS,), (16,), "constant", 1.0, make_schedule(1.0), probes=False)
    assert not any(paper.wants_probe(k, exact=False) for k in range(1, 20))
