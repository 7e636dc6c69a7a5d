"""Makes ``kkt_systems`` importable and hands every back end to the tests that ask for one."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from kkt_systems import SUITE

from pyomo_stochsqp.kkt import importable


@pytest.fixture(params=list(SUITE))
def build(request):
    """build(pattern) -> back end, for every form of every registered back end."""
    form = SUITE[request.param]
    if not importable(form.backend):
        pytest.skip(f"the library of the KKT back end {form.backend!r} is not importable")
    return form.build
