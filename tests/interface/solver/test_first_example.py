"""The model of the README: within the promised distance of the exact answer."""

import runpy
from pathlib import Path

import numpy as np
import pyomo.environ as pyo
import pytest

from tests.interface.models import TILT_DUAL, TILT_X, tilting

EXAMPLE = Path(__file__).parents[3] / "examples" / "exponential_tilting.py"


def test_the_script_prints_found_beside_exact(capsys):
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    printed = capsys.readouterr().out
    assert f"exact {TILT_X:.6f}" in printed
    assert f"exact {TILT_DUAL:.6f}" in printed
    assert pytest.approx(0.310968, abs=1e-6) == TILT_DUAL


def test_ten_seeds():
    found = []
    for seed in range(10):
        m = tilting()
        pyo.SolverFactory("stochsqp").solve(m, batch_size=256, seed=seed)
        found.append(m.x.value)
    assert np.mean(found) == pytest.approx(TILT_X, abs=2e-3)
    assert found[1] == pytest.approx(TILT_X, abs=5e-3)
