"""Plots of runs."""

import pytest

from pyomo_stochsqp.report import History
from pyomo_stochsqp.report.plot import plot_run
from tests.report.runs import Runner

pytest.importorskip("matplotlib")


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_a_run_is_drawn_and_saved(tmp_path, kind):
    outcome = Runner().run(200)
    path = tmp_path / f"run.{kind}"
    figure = plot_run(outcome.history, outcome.certificates, path, title="tilting")
    assert path.stat().st_size > 10_000
    labels = {ax.get_ylabel() for ax in figure.axes} - {""}
    assert labels == {"KKT error", "infeasibility", "merit parameter", "step size"}
    assert {ax.get_xlabel() for ax in figure.axes} - {""} == {"iteration", "samples"}


@pytest.mark.parametrize("iterations", [0, 1])
def test_very_short_runs_can_be_drawn(iterations):
    outcome = Runner().run(iterations)
    plot_run(outcome.history, outcome.certificates)


def test_histories_of_other_methods_show_the_panels_they_have():
    history = History(["iteration", "samples", "violation"])
    history.append((1, 10, 0.5))
    figure = plot_run(history, Runner().run(1).certificates)
    assert {ax.get_ylabel() for ax in figure.axes} - {""} == {"infeasibility"}
