r"""A picture of a run with recourse: objective and gap against scenarios."""

from __future__ import annotations

from typing import Any

from ..picture import BLUE, GREEN, OCHRE, new_figure, saved
from ..run.history import History


def plot_gaps(history: History, path: Any = None, title: str | None = None) -> Any:
    """Draw it; returns matplotlib's figure and saves it if a path is given."""
    figure = new_figure(9.0, 3.0)
    left, right = figure.subplots(1, 2)
    samples = history["samples"]
    left.errorbar(samples, history["objective"], 2.0 * history["objective_error"], fmt="o-",
                  color=BLUE, capsize=3, label="objective of the decision")  # fmt: skip
    left.plot(samples, history["lower_bound"], "o--", color=GREEN, label="bound of the optimum")
    left.legend(fontsize=8, frameon=False)
    right.plot(samples, history["gap_bound"], "o-", color=OCHRE, label="certified")
    right.plot(samples, history["gap"], "o:", color=OCHRE, label="estimate")
    right.set_yscale("log")
    right.legend(fontsize=8, frameon=False)
    for ax, name in ((left, "objective"), (right, "gap")):
        ax.set_xscale("log")
        ax.set_xlabel("scenarios")
        ax.set_ylabel(name)
    if title is not None:
        figure.suptitle(title, fontsize=10)
    return saved(figure, path)
