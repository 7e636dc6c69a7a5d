"""The comparison with other solvers: the models, a measurement, the table."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.peers.__main__ import main, measured
from benchmarks.peers.contestants import ours, slsqp
from benchmarks.peers.families import FAMILIES
from benchmarks.peers.kkt import kkt_error
from pyomo_stochsqp.interface.options.table import validated
from pyomo_stochsqp.oracle import exact_estimate
from pyomo_stochsqp.solve import prepare


@pytest.mark.parametrize("name", FAMILIES)
def test_the_experts_functions_are_those_of_the_model(name):
    family = FAMILIES[name](40)
    family.prepare()
    setup = prepare(family.model()[0], validated({"seed": 1}))
    problem = setup.oracle.problem
    x = family.x0 + 0.1 * np.random.default_rng(0).random(family.x0.size)
    e, v = exact_estimate(setup.oracle, x, objective=True), family.values(x)
    J = np.zeros((problem.m, problem.n))
    J[problem.jac_rows, problem.jac_indices] = e.J
    assert v.f == pytest.approx(e.f, rel=1e-10)
    np.testing.assert_allclose(v.g, e.g, rtol=1e-9, atol=1e-12)
    # rows may be written with their right-hand sides on either side
    np.testing.assert_allclose(
        v.c - family.row_upper, e.c - problem.row_upper, rtol=1e-9, atol=1e-9
    )
    np.testing.assert_allclose(v.J, J, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", FAMILIES)
def test_second_derivatives_are_differences_of_first_ones(name):
    family = FAMILIES[name](30)
    family.prepare()
    y = np.linspace(0.5, 1.5, family.row_lower.size)

    def gradient(x):
        v = family.values(x)
        return v.g + y @ v.J

    h, x = 1e-6, family.x0 + 0.05
    H = np.array([(gradient(x + e) - gradient(x - e)) / (2 * h) for e in h * np.eye(x.size)])
    np.testing.assert_allclose(family.hessian(x, y), H, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", FAMILIES)
def test_both_find_a_point_without_error(name):
    family = FAMILIES[name](60)
    x, other = ours(family, 1e-6), slsqp(family, 1e-9)
    family.prepare()
    assert kkt_error(family, x) <= 1e-6
    assert kkt_error(family, x + 1e-2) > 1e-4
    assert kkt_error(family, other) <= 1e-4


def test_a_measurement_of_ours_and_its_table(tmp_path, capsys):
    path = tmp_path / "results.jsonl"
    common = ["--results", str(path), "--out", str(tmp_path)]
    only = ["--families", "smooth", "--sizes", "100", "--contestants", "ours"]
    assert main(["run", *common, *only, "--tolerances", "1e-5"]) == 0
    assert len(path.read_text().splitlines()) == 1
    assert main(["table", *common]) == 0
    assert "| 100 | 1e-05 |" in (tmp_path / "tables.md").read_text()


def test_a_run_out_of_time_is_recorded():
    record = measured("ours", "smooth", 100, 1e-3, limit=0.01)
    assert record["seconds"] is None
    assert "more than 0.01 s" in record["why"]
