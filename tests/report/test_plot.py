"""Plots of runs."""

import numpy as np
import pytest

from pyomo_stochsqp.report import plot
from pyomo_stochsqp.report.plot import plot_run
from pyomo_stochsqp.run import History
from tests.run.runs import Runner, StagedRunner

pytest.importorskip("matplotlib")


ALGORITHM_1 = {"step", "violation", "gap", "merit parameter", "step size"}
STAGES = {"step", "violation", "gap"}


def labels(figure):
    return {ax.get_ylabel() for ax in figure.axes} - {""}


@pytest.mark.parametrize("kind", ["png", "svg"])
@pytest.mark.parametrize(
    ("runner", "iterations", "panels"), [(Runner, 200, ALGORITHM_1), (StagedRunner, 9, STAGES)]
)
def test_a_run_is_drawn_and_saved(tmp_path, kind, runner, iterations, panels):
    outcome = runner().run(iterations)
    path = tmp_path / f"run.{kind}"
    figure = plot_run(outcome.history, outcome.certificates, path, title="tilting")
    assert path.stat().st_size > 10_000
    assert labels(figure) == panels
    assert {ax.get_xlabel() for ax in figure.axes} - {""} == {"iteration", "samples"}


@pytest.mark.parametrize("runner", [Runner, StagedRunner])
@pytest.mark.parametrize("iterations", [0, 1, 2])
def test_very_short_runs_can_be_drawn(runner, iterations):
    outcome = runner().run(iterations)
    figure = plot_run(outcome.history, outcome.certificates)
    figure.canvas.draw()


def test_runs_without_certificates_can_be_drawn():
    outcome = Runner().run(3)
    figure = plot_run(outcome.history, History(outcome.certificates.columns))
    figure.canvas.draw()
    assert "gap" not in labels(figure)


def test_certified_points_are_where_the_certificates_are():
    outcome = Runner().run(1000)
    figure = plot_run(outcome.history, outcome.certificates)
    gap = next(ax for ax in figure.axes if ax.get_ylabel() == "gap")
    (dots,) = (line for line in gap.lines if line.get_marker() == "o")
    assert dots.get_xdata().tolist() == outcome.certificates["iteration"].tolist()
    assert dots.get_ydata().tolist() == outcome.certificates["gap"].tolist()


def test_histories_of_other_methods_show_the_panels_they_have():
    history = History(["iteration", "samples", "violation"])
    history.append((1, 10, 0.5))
    figure = plot_run(history, Runner().run(1).certificates)
    assert labels(figure) == {"violation", "gap"}


@pytest.mark.parametrize("n", [0, 1, 3, 40, 1000])
def test_the_median_lies_on_numbers_that_fall(n):
    """Those of Algorithm 1 fall by decades; a median of past ones would lie above them."""
    y = 10.0 ** -np.linspace(0, 6, n)
    median = plot._running_median(y)
    assert len(median) == n
    front = slice(0, max(n - plot.WINDOW, 0))
    assert median[front] == pytest.approx(y[front])
    assert np.all((median >= y.min(initial=0.0)) & (median <= y.max(initial=1.0)))


def test_the_median_takes_noise_off_and_leaves_gaps_out():
    y = 10.0 ** np.random.default_rng(0).standard_normal(400)
    y[3::7] = np.nan
    median = plot._running_median(y)
    assert np.isfinite(median).all()
    assert np.log10(median).std() < 0.3 * np.nanstd(np.log10(y))


def test_grid_lines_lie_behind_everything():
    outcome = Runner().run(30)
    figure = plot_run(outcome.history, outcome.certificates)
    assert all(ax.get_axisbelow() is True for ax in figure.axes)


def test_where_samples_do_not_grow_iterations_are_enough():
    history = History(["iteration", "samples", "violation"])
    for k in range(3):
        history.append((k, 10, 0.5**k))
    figure = plot_run(history, Runner().run(1).certificates)
    assert {ax.get_xlabel() for ax in figure.axes} - {""} == {"iteration"}
