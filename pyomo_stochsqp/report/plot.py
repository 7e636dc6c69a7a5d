r"""A picture of a run: steps, violations, the gap, against iterations and, if they grow, samples.

Lines are the numbers of single iterations. Those of Algorithm 1 carry the noise of their batch:
they are thin, and thick lines are their running medians. Dots are certified; bars reach up to their
confidence bounds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..picture import BLUE, DARK, GREEN, OCHRE, RED, VIOLET, dress, new_figure, saved
from ..run.history import History

#: (title, column of the history, columns of the certificates with a value and its bound, colour);
#: a distance and a gap are bounds themselves
PANELS: tuple[tuple[str, str | None, tuple[str, str] | None, str], ...] = (
    ("step", "step_norm", ("relative_displacement", "relative_displacement"), BLUE),
    ("violation", "violation", ("infeasibility", "infeasibility_bound"), RED),
    ("gap", None, ("gap", "gap"), OCHRE),
    ("merit parameter", "merit_parameter", None, GREEN),
    ("step size", "step_size", None, VIOLET),
)
WINDOW = 41  # iterations of a running median, of a long run
MOST_POINTS = 4000  # per line; a longer history is thinned
FEW_POINTS = 200  # up to so many are marked: a line through one point would not be seen


def plot_run(
    history: History, certificates: History, path: Any = None, title: str | None = None
) -> Any:
    """Draw a run; returns matplotlib's figure and saves it if a path is given."""
    panels = [p for p in PANELS if p[1] in history.columns or (p[1] is None and certificates)]
    noisy = "stage" not in history.columns
    grow = len(np.unique(history["samples"])) > 1
    abscissas = ("iteration", "samples") if grow else ("iteration",)
    figure = new_figure(5.0 * len(abscissas), 2.1 * len(panels) + 0.6)
    axes = figure.subplots(len(panels), len(abscissas), sharex="col", sharey="row", squeeze=False)
    for column, abscissa in enumerate(abscissas):
        for row, (name, series, certified, colour) in enumerate(panels):
            ax = axes[row, column]
            ax.set_yscale("log")
            dress(ax)
            if series is not None:
                _line(ax, history[abscissa], history[series], colour, noisy and bool(certified))
            if certified is not None:
                _dots(ax, certificates, abscissa, *certified)
            if column == 0:
                ax.set_ylabel(name, color=DARK)
                _show_a_decade(ax)
        axes[-1, column].set_xlabel(abscissa, color=DARK)
        if abscissa == "samples":
            axes[-1, column].set_xscale("log")
    _legend(figure, axes[0, 0])
    if title:
        figure.suptitle(title, color=DARK, x=0.01, ha="left")
    return saved(figure, path)


def _line(ax: Any, x: NDArray[Any], y: NDArray[Any], colour: str, noisy: bool) -> None:
    positive = np.where(y > 0.0, y, np.nan)
    keep = slice(None, None, max(1, len(x) // MOST_POINTS))
    if not noisy:
        marker = "." if len(x) <= FEW_POINTS else None
        ax.plot(x[keep], positive[keep], color=colour, linewidth=1.2, marker=marker, markersize=4)
        return
    ax.plot(x[keep], positive[keep], color=colour, alpha=0.25, linewidth=0.6)
    median = _running_median(positive)
    ax.plot(x[keep], median[keep], color=colour, linewidth=1.6, label="iterations (median)")


def _dots(ax: Any, certificates: History, abscissa: str, error: str, its_bound: str) -> None:
    value, bound = certificates[error], certificates[its_bound]
    shown = np.isfinite(bound) & (bound > 0.0)
    if not shown.any():
        return
    x, value, bound = certificates[abscissa][shown], value[shown], bound[shown]
    centre = np.where(value > 0.0, value, bound)
    ax.errorbar(
        x,
        centre,
        yerr=[np.zeros_like(bound), np.maximum(bound - centre, 0.0)],
        fmt="o",
        color=DARK,
        markersize=2.5,
        elinewidth=0.7,
        alpha=0.7,
        label="certified, with its bound",
    )


def _show_a_decade(ax: Any) -> None:
    """Nearly constant numbers are shown as such."""
    low, high = ax.get_ylim()
    if 0.0 < low < high < 10.0 * low:
        middle = (low * high) ** 0.5
        ax.set_ylim(middle / 10.0**0.6, middle * 10.0**0.6)


def _legend(figure: Any, ax: Any) -> None:
    handles, labels = ax.get_legend_handles_labels()
    if handles:
        ax.legend(handles, labels, fontsize=8, frameon=False, loc="upper right")


def _running_median(y: NDArray[Any]) -> NDArray[Any]:
    """The median of the values around each, NaN left out: as many before as after it, so that the
    line neither lags nor leads where numbers fall; at the end of those before.

    >>> _running_median(np.array([9.0, 5.0, 3.0, 2.0, 8.0]))
    array([9., 5., 5., 4., 3.])
    """
    if len(y) == 0:
        return y
    reach = min(WINDOW // 2, max(2, len(y) // 20))
    padded = np.concatenate([np.full(reach, np.nan), y, np.full(reach, np.nan)])
    windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1).copy()
    for k in range(min(reach, len(y))):  # no further ahead than back
        windows[k, reach + 1 + k :] = np.nan
    some = ~np.isnan(windows).all(axis=1)
    median = np.full(len(y), np.nan)
    median[some] = np.nanmedian(windows[some], axis=1)
    return median
