r"""A picture of a run: errors, merit parameter and step size, against iterations and samples.

Thin lines are the numbers of single iterations, which carry the noise of their batch; thick lines
are their running medians. Dots are certified errors; bars reach up to their confidence bounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import MissingLibraryError
from .history import History

#: (title, columns of the history and of the certificates whose maximum is shown, colour)
PANELS: tuple[tuple[str, tuple[str, ...], tuple[str, ...], str], ...] = (
    ("KKT error", ("step_norm", "violation"), ("stationarity", "infeasibility"), "#1f5fa8"),
    ("infeasibility", ("violation",), ("infeasibility",), "#b5482a"),
    ("merit parameter", ("merit_parameter",), (), "#3f7f4f"),
    ("step size", ("step_size",), (), "#6b4c9a"),
)
WINDOW = 41  # iterations of a running median
MOST_POINTS = 4000  # per line; a longer history is thinned
DARK = "#333333"


def plot_run(
    history: History, certificates: History, path: Any = None, title: str | None = None
) -> Any:
    """Draw a run; returns matplotlib's figure and saves it if a path is given."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingLibraryError(
            "a plot needs matplotlib: pip install 'pyomo_stochsqp[plot]'."
        ) from None
    panels = [p for p in PANELS if set(p[1]) <= set(history.columns)]
    figure = Figure(figsize=(10.0, 2.1 * len(panels) + 0.6), layout="constrained")
    axes = figure.subplots(len(panels), 2, sharex="col", sharey="row", squeeze=False)
    for column, abscissa in enumerate(("iteration", "samples")):
        for row, (name, series, certified, colour) in enumerate(panels):
            ax = axes[row, column]
            _dress(ax)
            _line(ax, history[abscissa], _largest(history, series), colour, bool(certified))
            if certified:
                _dots(ax, certificates, abscissa, certified)
            if column == 0:
                ax.set_ylabel(name, color=DARK)
                _show_a_decade(ax)
        axes[-1, column].set_xlabel(abscissa, color=DARK)
        if abscissa == "samples" and len(history) and history["samples"][-1] > 0:
            axes[-1, column].set_xscale("log")
    _legend(figure, axes[0, 0])
    if title:
        figure.suptitle(title, color=DARK, x=0.01, ha="left")
    if path is not None:
        figure.savefig(path, dpi=160)
    return figure


def _largest(table: History, columns: Sequence[str], suffix: str = "") -> NDArray[Any]:
    return np.max([table[f"{c}{suffix}"] for c in columns], axis=0)


def _line(ax: Any, x: NDArray[Any], y: NDArray[Any], colour: str, noisy: bool) -> None:
    positive = np.where(y > 0.0, y, np.nan)
    keep = slice(None, None, max(1, len(x) // MOST_POINTS))
    if not noisy:
        ax.plot(x[keep], positive[keep], color=colour, linewidth=1.2)
        return
    ax.plot(x[keep], positive[keep], color=colour, alpha=0.25, linewidth=0.6)
    median = _running_median(positive)
    ax.plot(x[keep], median[keep], color=colour, linewidth=1.6, label="iterations (median)")


def _dots(ax: Any, certificates: History, abscissa: str, errors: Sequence[str]) -> None:
    if not len(certificates):
        return
    value, bound = _largest(certificates, errors), _largest(certificates, errors, "_bound")
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
        label="certified, with 95 % bound",
    )


def _dress(ax: Any) -> None:
    ax.set_yscale("log")
    ax.grid(True, which="major", color="#dddddd", linewidth=0.6)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_color("#999999")
    ax.tick_params(colors=DARK, labelsize=8, which="both")


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
    """The median of the last WINDOW values, NaN left out.

    >>> _running_median(np.array([1.0, 5.0, 3.0]))
    array([1., 3., 3.])
    """
    if len(y) == 0:
        return y
    padded = np.concatenate([np.full(WINDOW - 1, np.nan), y])
    windows = np.lib.stride_tricks.sliding_window_view(padded, WINDOW)
    some = ~np.isnan(windows).all(axis=1)
    median = np.full(len(y), np.nan)
    median[some] = np.nanmedian(windows[some], axis=1)
    return median
