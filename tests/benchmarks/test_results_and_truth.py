"""The tools of the studies: the result file, true errors, the rule for the best iterate."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.pool import run_all
from benchmarks.store import ResultFile, short
from benchmarks.truth import Candidates, best_of, summary, true_values
from pyomo_stochsqp.oracle import Problem


def test_results_survive_and_continue(tmp_path):
    path = tmp_path / "deep" / "file.jsonl"
    first = ResultFile(path, ("name", "seed"))
    first.append({"name": "a", "seed": 1, "error": 0.5})
    first.append({"name": "a", "seed": 2, "error": 0.25})
    again = ResultFile(path, ("name", "seed"))
    assert len(again) == 2
    assert ("a", 1) in again
    assert ("b", 1) not in again
    assert again["a", 2]["error"] == 0.25


def test_a_line_cut_off_by_a_crash_is_dropped(tmp_path):
    path = tmp_path / "file.jsonl"
    path.write_text('{"name":"a"}\n{"name":"b","err')
    results = ResultFile(path, ("name",))
    assert [r["name"] for r in results] == ["a"]
    results.append({"name": "c"})
    assert [r["name"] for r in ResultFile(path, ("name",))] == ["a", "c"]


def test_short_numbers():
    assert short([1.23456789, True, 7, "x", {"e": 1e-20}]) == [1.235, True, 7, "x", {"e": 1e-20}]


@pytest.mark.parametrize("jobs", [1, 2])
def test_all_tasks_are_run(jobs, capsys):
    assert sorted(run_all(divmod, [(k, 3) for k in range(7)], jobs, "tasks")) == sorted(
        divmod(k, 3) for k in range(7)
    )
    assert "100 % of tasks" in capsys.readouterr().err


def random_stack(m, n, count=6, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(count, n)), rng.normal(size=(count, m)), rng.normal(size=(count, m * n))


@pytest.mark.parametrize(("m", "n"), [(1, 2), (2, 5), (3, 3), (4, 7)])
def test_true_errors_are_least_squares_residuals(m, n):
    g, c, J = random_stack(m, n)
    values = true_values(Problem.equalities(np.zeros(n), m), g, c, J)
    for k in range(len(g)):
        A = J[k].reshape(m, n)
        y = np.linalg.lstsq(A.T, -g[k], rcond=None)[0]
        residual = g[k] + A.T @ y
        assert values.stationarity[k] == pytest.approx(np.abs(residual).max(), abs=1e-12)
        assert values.infeasibility[k] == pytest.approx(np.abs(c[k]).max())
        system = np.block([[np.eye(n), A.T], [A, np.zeros((m, m))]])
        d = np.linalg.solve(system, -np.concatenate([g[k], c[k]]))[:n]
        quadratic = g[k] @ d + 0.5 * d @ d
        expected = 0.9 * np.abs(c[k]).sum() / quadratic if quadratic > 0 else np.inf
        assert values.trial[k] == pytest.approx(expected, rel=1e-8)


def test_rows_that_share_no_variable():
    """The short way gives what the long way gives, and knows a row that vanishes."""
    sparse = Problem.equalities(np.zeros(5), 2)
    sparse = replace(sparse, jac_indptr=np.array([0, 3, 5]), jac_indices=np.array([0, 2, 4, 1, 3]))
    g, c, values = (stack[:, :5] for stack in random_stack(5, 5))
    dense = np.zeros((len(g), 2, 5))
    dense[:, 0, [0, 2, 4]], dense[:, 1, [1, 3]] = values[:, :3], values[:, 3:]
    short_way = true_values(sparse, g, c[:, :2], values)
    full = Problem.equalities(np.zeros(5), 2)
    long_way = true_values(full, g, c[:, :2], dense.reshape(len(g), 10))
    for name in ("infeasibility", "stationarity", "trial"):
        np.testing.assert_allclose(getattr(short_way, name), getattr(long_way, name), rtol=1e-9)
    values[0, :3] = 0.0
    without = true_values(sparse, g, c[:, :2], values)
    expected = np.abs(g[0, [0, 2, 4]]).max()
    assert without.stationarity[0] >= expected
    assert without.stationarity[1:] == pytest.approx(short_way.stationarity[1:])


def test_dependent_rows_and_values_that_are_not_numbers():
    g = np.array([[3.0, 4.0, 0.0], [np.nan, 0.0, 0.0]])
    J = np.array([[1.0, 0, 0, 2.0, 0, 0], [1.0, 0, 0, 0, 1.0, 0]])
    values = true_values(Problem.equalities(np.zeros(3), 2), g, np.zeros((2, 2)), J)
    assert values.stationarity[0] == pytest.approx(4.0)
    assert np.isinf(values.stationarity[1])
    assert np.isinf(values.infeasibility[1])


def test_the_best_iterate_follows_the_rule_of_the_paper():
    near = Candidates.of(np.array([1e-5, 5e-5]), np.array([0.5, 0.1]))
    far = Candidates.of(np.array([2e-4, 0.3]), np.array([1e-3, 1e-9]))
    assert best_of([near]) == (5e-5, 0.1)  # feasible to 1e-4: the smaller KKT error
    assert best_of([far]) == (2e-4, 1e-3)  # not: the smaller infeasibility
    assert best_of([near, far]) == (2e-4, 1e-3)  # the union holds a feasible iterate


def test_summary_keeps_best_last_and_tail():
    found = summary(np.array([4.0, 1.0, 2.0, 6.0]), np.array([1.0, 1.0, 1.0, 3.0]), tail=2)
    assert found["best"] == (1.0, 1.0)
    assert found["last"] == [6.0, 3.0]
    assert found["tail_mean"] == [4.0, 2.0]
    assert found["tail_median"] == [4.0, 2.0]
