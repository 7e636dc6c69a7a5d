"""The CUTEst study in small: what a line holds, resuming, tables and figures."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.cutest import our_defaults, study
from benchmarks.cutest.__main__ import main
from benchmarks.cutest.settings import CONSTANT, DIMINISHING, LARGE_NOISE, SETTINGS, SMALL
from benchmarks.cutest.summary import coverage, errors, open_results, share_better
from benchmarks.trace import errors_at
from pyomo_stochsqp.oracle import exact_estimate

pytest.importorskip("matplotlib")


def test_the_settings_are_those_of_the_paper():
    assert len(SETTINGS) == 15
    assert len(CONSTANT) == 9
    assert len(DIMINISHING) == 6
    assert len(SMALL) == 42
    assert all(s.eps_J == pytest.approx(s.eps_c**0.5) for s in SETTINGS.values())
    assert CONSTANT[0].beta(1) == CONSTANT[0].beta(5000) == 0.1
    assert [LARGE_NOISE.beta(k) for k in (1, 500)] == [1.0, 1.0]
    assert LARGE_NOISE.beta(501) == pytest.approx(501**-0.6)
    assert CONSTANT[0].samples(5000) == 500_000


def test_constants_come_from_coordinate_differences():
    # f = (x1 - 1)^2 of HS6 has L = 2; its row 10 (x2 - x1^2) has a Jacobian with Gamma = 20
    _, (L, Gamma) = study.exact_oracle("HS6")
    assert pytest.approx(2.0, rel=1e-4) == L
    assert pytest.approx(20.0, rel=1e-4) == Gamma


def test_algorithm_one_on_a_small_problem():
    line = study.run_instance("sqp", "HS28", CONSTANT[0].name, 1, 1500)
    assert line["k"] == 1500
    assert max(line["best"]) < 1e-4
    assert max(line["best"]) <= max(line["last"])
    assert line["tau_settled"]
    assert line["cpu"] > 0


def test_the_same_seed_gives_the_same_line():
    a, b = (study.run_instance("sqp", "HS7", LARGE_NOISE.name, 3, 200) for _ in range(2))
    a["cpu"] = b["cpu"] = 0
    assert a == b


def test_true_values_are_those_of_the_iterates():
    setting = SETTINGS[LARGE_NOISE.name]
    exact, constants = study.exact_oracle("BT5")
    trace = study.Trace(exact)
    oracle = study.GaussianNoiseOracle(trace, setting.variances, setting.beta, 1)
    method = study.literal_sqp(oracle, (1,), setting.beta, constants)
    states, _ = study.iterate(method, trace, range(30))
    values = trace.values()
    assert len(values.infeasibility) == len(states) == 30
    np.testing.assert_array_equal(trace.points[0], exact.problem.x0)
    np.testing.assert_array_equal(trace.points[7], states[6].x)
    infeasibility, stationarity = errors_at(exact, trace.points)
    np.testing.assert_allclose(values.infeasibility, infeasibility)
    np.testing.assert_allclose(values.stationarity, stationarity)


def test_scaled_gradients_are_at_most_a_hundred():
    """BT2 starts with |grad f| = 2e2 and |grad c| = 4e3; HS28 has nothing to scale."""
    oracle, _ = study.scaled_oracle("BT2")
    plain, _ = study.exact_oracle("BT2")
    x = plain.problem.x0
    big, small = (exact_estimate(o, x) for o in (plain, oracle))
    assert np.abs(big.J).max() > 100
    assert np.abs(small.J).max() == pytest.approx(100.0)
    assert np.abs(small.g).max() <= 100.0 + 1e-9
    assert small.c / big.c == pytest.approx(100.0 / np.abs(big.J).max())
    same, other = (f("HS28")[0] for f in (study.exact_oracle, study.scaled_oracle))
    x = same.problem.x0
    assert np.array_equal(exact_estimate(same, x).J, exact_estimate(other, x).J)


def test_errors_of_a_sample_are_functions():
    """J is the derivative of c and g that of f, with the paper's variances; at x* those of c."""
    exact, _ = study.exact_oracle("HS7")
    centre = our_defaults.solution(exact)
    assert np.abs(centre - [0.0, np.sqrt(3.0)]).max() < 1e-6
    oracle = our_defaults.NoisyProgram(exact, (0.04, 0.09, 0.25), centre, 1)
    x, step = np.array([0.3, 1.1]), 1e-6
    sample = oracle.draw(0, 5, (1,))
    here = oracle.estimate(x, sample, objective=True)
    for i in range(2):
        there = oracle.estimate(x + step * np.eye(2)[i], sample, objective=True)
        assert (there.f - here.f) / step == pytest.approx(here.g[i], abs=1e-4)
        assert (there.c[0] - here.c[0]) / step == pytest.approx(here.J[i], abs=1e-4)
    draws = [oracle.estimate(centre, oracle.draw(0, k, (4,))) for k in range(4000)]
    for name, variance in (("g", 0.04 / 2), ("c", 0.09), ("J", 0.25 / 2)):
        spread = np.var([getattr(e, name) for e in draws], axis=0)
        assert spread == pytest.approx(variance / 4, rel=0.15)


def test_the_subgradient_method_gets_the_time_it_is_given():
    line = study.run_instance("subgradient", "HS7", CONSTANT[0].name, 1, 100, 0.02)
    assert len(line["k"]) == 7
    assert line["tau"] in study.PENALTIES
    assert all(k > 0 for k in line["k"])


def test_run_resume_table_plot(tmp_path, capsys):
    path = tmp_path / "results.jsonl"
    small = ["--problems", "HS28", "BT5", "--settings", LARGE_NOISE.name, CONSTANT[0].name]
    common = ["--quick", "--results", str(path), "--out", str(tmp_path)]
    methods = ["--methods", "sqp", "sqp-scaled", "subgradient", "stages", "profile"]
    command = ["run", *common, *small, *methods, "--jobs", "1", "--iterations", "60"]
    assert main(command) == 0
    lines = path.read_text().splitlines()
    assert len(lines) == 4 + 2 + 4 + 4 + 6
    assert main(command) == 0
    assert path.read_text().splitlines() == lines

    assert main(["table", *common]) == 0
    text = (tmp_path / "tables.md").read_text()
    assert "constant 1e-08, 1e-08, 0.0001" in text
    assert "nearly 98 %" in text
    assert main(["plot", *common]) == 0
    for name in ("boxes-constant", "boxes-diminishing", "tau-histogram", "profiles"):
        assert (tmp_path / f"{name}.png").stat().st_size > 5000
        assert (tmp_path / f"{name}.svg").exists()
    results = open_results(path)
    assert share_better(results)[1] == 4
    assert coverage(results, "sqp") == "2 problems, 1 seed each"
    assert errors([r for r in results if r["method"] == "sqp"], "best").shape == (4, 2)


def test_an_empty_file_is_explained(tmp_path, capsys):
    assert main(["table", "--results", str(tmp_path / "none.jsonl")]) == 1
    assert "run 'python -m benchmarks.cutest run' first" in capsys.readouterr().out
