"""Step-size schedules: the paper's, and everything that may be given instead."""

import numpy as np
import pytest

from pyomo_stochsqp.errors import OptionError
from pyomo_stochsqp.sqp import make_schedule


def test_the_papers_sequence():
    """beta_k = ((ceil(k/500) - 1) 500 + 1)^-0.6, written out."""
    beta = make_schedule("diminishing")
    expected = {1: 1, 2: 1, 500: 1, 501: 501, 999: 501, 1000: 501, 1001: 1001, 5000: 4501}
    for k, base in expected.items():
        assert beta(k) == pytest.approx(base**-0.6, rel=1e-14)


@pytest.mark.parametrize("given", [0.3, 1, 1.0, 1e-5])
def test_a_number(given):
    beta = make_schedule(given)
    assert [beta(k) for k in (1, 2, 1000)] == [given] * 3


def test_a_sequence_repeats_its_last_value():
    beta = make_schedule([1.0, 0.5, 0.25])
    assert [beta(k) for k in (1, 2, 3, 4, 100)] == [1.0, 0.5, 0.25, 0.25, 0.25]
    assert make_schedule((0.5,))(7) == 0.5


def test_a_function():
    beta = make_schedule(lambda k: 1 / k)
    assert [beta(k) for k in (1, 2, 4)] == [1.0, 0.5, 0.25]
    with pytest.raises(OptionError, match=r"beta_3 = 3"):
        make_schedule(lambda k: float(k))(3)


@pytest.mark.parametrize("bad", [0.0, -0.1, 1.0001, np.inf, np.nan])
def test_values_outside_of_the_interval(bad):
    with pytest.raises(OptionError, match=r"beta_1 = .* is outside \(0, 1\]"):
        make_schedule(bad)
    with pytest.raises(OptionError, match=r"beta_2 = "):
        make_schedule([1.0, bad])


@pytest.mark.parametrize("nonsense", ["shrinking", [], None, {}, "x"])
def test_what_is_no_schedule(nonsense):
    with pytest.raises(OptionError, match="give a number in"):
        make_schedule(nonsense)
