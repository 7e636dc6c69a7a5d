"""The LIBSVM study in small: reader, model, readings, one instance of every method."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.libsvm import study
from benchmarks.libsvm.__main__ import main
from benchmarks.libsvm.data import DATA_SETS, load, read, write_made_up
from benchmarks.libsvm.model import ROWS, K, draw
from benchmarks.libsvm.paper import TABLE
from benchmarks.libsvm.readings import READINGS
from pyomo_stochsqp.oracle import exact_estimate

LITERAL, MATCHING = READINGS["literal"], READINGS["matching"]


@pytest.fixture
def directory(tmp_path):
    for name in ("ionosphere", "sonar"):
        write_made_up(name, tmp_path, examples=80)
    return str(tmp_path)


def test_reader(tmp_path):
    path = tmp_path / "tiny"
    path.write_text("+1 1:0.5 3:-2\n-1 2:1e-3 \n\n+1\n")
    X, y = read(path, 4)
    np.testing.assert_array_equal(X, [[0.5, 0, -2, 0], [0, 1e-3, 0, 0], [0, 0, 0, 0]])
    np.testing.assert_array_equal(y, [1, -1, 1])


def test_labels_and_number_of_examples(tmp_path):
    (tmp_path / "mushrooms").write_text(
        "".join(f"{1 + k % 2} {1 + k % 112}:1\n" for k in range(6000))
    )
    X, y = load("mushrooms", tmp_path)
    assert X.shape == (5500, 112)
    assert set(y) == {-1.0, 1.0}
    assert set(load("mushrooms", tmp_path, raw_labels=True)[1]) == {1.0, 2.0}


def test_missing_data_are_explained(tmp_path, capsys):
    with pytest.raises(FileNotFoundError, match="libsvmtools"):
        load("a9a", tmp_path)
    command = ["run", "--data", "a9a", "--data-dir", str(tmp_path), "--jobs", "1"]
    assert main([*command, "--results", str(tmp_path / "r.jsonl")]) == 1
    assert "--data-dir" in capsys.readouterr().err


def test_draws_have_the_distribution_of_each_reading():
    literal, matching = draw(50, 1, LITERAL), draw(50, 1, MATCHING)
    assert literal.A.shape == (K, ROWS, 50)
    assert np.linalg.norm(literal.x1) == pytest.approx(0.1)
    assert literal.A.std(axis=0).mean() == pytest.approx(np.sqrt(1e-3 / 50), rel=0.01)
    assert literal.a.std(axis=0).mean() == pytest.approx(np.sqrt(1e-3), rel=0.05)
    assert matching.A.std(axis=0).mean() == pytest.approx(1e-3 / np.sqrt(50), rel=0.01)
    assert matching.a.std(axis=0).mean() == pytest.approx(1e-3, rel=0.05)
    assert literal.A.mean(axis=0).std() == pytest.approx(100.0, rel=0.1)


def test_infeasible_draws_are_recognised():
    verdicts = [draw(34, seed, LITERAL).feasible for seed in range(60)]
    assert 0.8 < np.mean(verdicts) < 1.0
    scaled = draw(34, 1, LITERAL)
    assert not replace(scaled, a=100.0 * scaled.a).feasible
    assert replace(scaled, a=0.0 * scaled.a).feasible


def test_the_model_is_the_problem_of_the_paper(directory):
    instance = study.Instance("sqp", "ionosphere", 8, 4, 2)
    oracle, (L, Gamma) = study.paper_setup(instance, directory)
    X, y = load("ionosphere", directory)
    made = draw(34, 2, LITERAL)
    x = np.linspace(-0.3, 0.2, 34)
    e = exact_estimate(oracle, x, objective=True)
    margin = y * (X @ x)
    J = np.vstack([made.A.mean(axis=0), 2 * x])
    violation = np.append(made.A.mean(axis=0) @ x - made.a.mean(axis=0), x @ x - 1)
    assert e.f == pytest.approx(np.log1p(np.exp(-margin)).mean())
    np.testing.assert_allclose(e.g, -(y / (1 + np.exp(margin))) @ X / len(y), atol=1e-12)
    np.testing.assert_allclose(e.c - oracle.problem.row_lower, violation, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(e.J.reshape(11, 34), J, rtol=1e-9)
    assert Gamma == 2.0
    p = 1 / (1 + np.exp(y * (X @ oracle.problem.x0)))
    hessian = (X * (p * (1 - p))[:, None]).T @ X / len(y)
    assert pytest.approx(np.linalg.norm(hessian, axis=0).max(), rel=1e-3) == L
    assert study.sizes_of(oracle, instance) == (8, 4)


def test_two_independent_batches_give_a_large_constant(directory):
    """What differs is noise, and a step of 1e-4 divides it."""

    def L(b1, reading):
        instance = study.Instance("sqp", "ionosphere", b1, 4, 2, reading=reading)
        return study.paper_setup(instance, directory)[1][0]

    assert L(4, "literal") < 1.0
    assert L(4, "batches") > 100.0
    # the noise of a batch falls like the root of its size
    assert 1.5 < L(4, "batches") / L(36, "batches") < 6.0


def test_one_instance_of_every_method(directory):
    instance = study.Instance("sqp", "ionosphere", 8, 8, 1)
    line = study.run_instance(instance, directory, 400)
    assert line["k"] == 400
    assert line["samples"] == 400 * 16
    assert line["feasible"]
    assert line["tail_median"][0] < 0.5
    for method in ("tstom", "subgradient", "stages"):
        other = study.run_instance(replace(instance, method=method), directory, 400, 0.05)
        assert np.isfinite(other.get("returned", other.get("best"))).all()


def test_quick_command_and_table(directory, tmp_path, capsys):
    path = tmp_path / "results.jsonl"
    common = ["--quick", "--results", str(path), "--out", str(tmp_path), "--data-dir", directory]
    command = ["run", *common, "--jobs", "1", "--iterations", "60", "--methods", "sqp", "tstom"]
    assert main(command) == 0
    assert len(path.read_text().splitlines()) == 4
    assert main(command) == 0
    assert len(path.read_text().splitlines()) == 4
    assert main(["table", *common]) == 0
    text = (tmp_path / "tables.md").read_text()
    assert "| ionosphere | 128, 128 | 1 |" in text
    assert "1.3e-04/2.2e-03" in text


def test_quick_command_without_data(tmp_path, capsys):
    path = tmp_path / "results.jsonl"
    command = ["run", "--quick", "--results", str(path), "--data-dir", str(tmp_path / "none")]
    assert main([*command, "--jobs", "1", "--iterations", "30", "--methods", "sqp"]) == 0
    assert "made-up" in capsys.readouterr().err
    assert len(path.read_text().splitlines()) == 2


def test_the_paper_has_twenty_rows():
    assert len(TABLE) == 20
    assert {data for data, *_ in TABLE} == set(DATA_SETS)
