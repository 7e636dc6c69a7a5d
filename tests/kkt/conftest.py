"""Hands every back end to the tests that ask for one."""

import pytest

from pyomo_stochsqp.kkt import importable
from tests.kkt.kkt_systems import SUITE


@pytest.fixture(params=list(SUITE))
def build(request):
    """build(pattern) -> back end, for every form of every registered back end."""
    form = SUITE[request.param]
    if not importable(form.backend):
        pytest.skip(f"the library of the KKT back end {form.backend!r} is not importable")
    return form.build
