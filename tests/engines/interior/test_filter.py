"""The filter: its refusals and its two kinds of progress, by the formulas."""

import numpy as np
import pytest

from pyomo_stochsqp.engines.interior.filter import Here, accepts, refused

EMPTY = np.zeros((0, 2))


def here(theta=1.0, phi=10.0, slope=-1.0, theta_min=1e-4, theta_max=1e4):
    return Here(theta, phi, slope, theta_min, theta_max)


def test_a_point_is_refused_if_an_entry_is_better_in_both():
    entries = np.array([[1.0, 5.0], [0.1, 8.0]])
    assert refused(entries, 1.0, 5.0)
    assert refused(entries, 2.0, 6.0)
    assert refused(entries, 0.1, 9.0)
    assert not refused(entries, 0.05, 100.0)
    assert not refused(entries, 100.0, 4.9)
    assert not refused(entries, 0.5, 7.0)  # between the two
    assert not refused(EMPTY, 1e9, 1e9)


def test_far_from_feasible_either_measure_may_improve():
    """theta = 1 > theta_min: Armijo is not asked."""
    better_theta = accepts(here(), EMPTY, 0.9999, 100.0, 1.0)
    better_phi = accepts(here(), EMPTY, 50.0, 9.9, 1.0)
    assert better_theta == better_phi == (True, True)  # and the current point joins the filter
    assert accepts(here(), EMPTY, 1.0, 10.0, 1.0) == (False, True)
    # the least progress: 1e-5 of theta, or 1e-8 theta of phi
    assert accepts(here(), EMPTY, 1.0 - 1.1e-5, 100.0, 1.0)[0]
    assert not accepts(here(), EMPTY, 1.0 - 0.9e-5, 100.0, 1.0)[0]
    assert accepts(here(), EMPTY, 50.0, 10.0 - 1.1e-8, 1.0)[0]
    assert not accepts(here(), EMPTY, 50.0, 10.0 - 0.9e-8, 1.0)[0]


def test_nearly_feasible_a_descent_step_must_satisfy_armijo():
    point = here(theta=1e-6, slope=-1.0)
    assert accepts(point, EMPTY, 1e-3, 9.0, 1.0) == (True, False)
    # less violation alone is no longer enough, and nothing joins the filter
    assert accepts(point, EMPTY, 0.0, 10.1, 1.0) == (False, False)


def test_a_step_that_is_not_one_of_descent_switches_back():
    """alpha (-slope)^2.3 <= theta^1.1: then the violation counts."""
    point = here(theta=1e-6, slope=-1e-6)
    assert accepts(point, EMPTY, 0.0, 10.1, 1.0) == (True, True)
    uphill = here(theta=1e-6, slope=1.0)
    assert accepts(uphill, EMPTY, 0.0, 10.1, 1.0) == (True, True)


def test_too_much_violation_and_no_numbers_are_never_accepted():
    assert accepts(here(theta_max=5.0), EMPTY, 6.0, -1e9, 1.0) == (False, False)
    for theta, phi in ((np.nan, 0.0), (0.0, np.nan), (np.inf, 0.0), (0.0, np.inf)):
        assert accepts(here(), EMPTY, theta, phi, 1.0) == (False, False)


def test_the_filter_is_asked_before_the_current_point():
    entries = np.array([[0.5, -100.0]])
    assert accepts(here(), entries, 0.6, 9.0, 1.0) == (False, False)
    assert accepts(here(), entries, 0.4, 9.0, 1.0) == (True, True)


def test_the_smallest_step_is_what_could_still_be_accepted():
    assert here(slope=1.0).smallest_step() == pytest.approx(0.05 * 1e-5)
    assert here(theta=1.0, slope=-1.0).smallest_step() == pytest.approx(0.05 * 1e-8)
    near = here(theta=1e-6, slope=-1.0).smallest_step()
    assert near == pytest.approx(0.05 * min(1e-5, 1e-8 * 1e-6, (1e-6) ** 1.1))


def test_an_entry_asks_for_a_little_progress():
    theta, phi = here().entry()
    assert theta == pytest.approx(1.0 - 1e-5)
    assert phi == pytest.approx(10.0 - 1e-8)
