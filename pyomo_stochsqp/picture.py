r"""What all pictures have in common: matplotlib where it is installed, thin axes, grid lines behind
lines and bars."""

from __future__ import annotations

from typing import Any

from .errors import MissingLibraryError

DARK, GREY, PALE = "#333333", "#999999", "#dddddd"
BLUE, RED, GREEN, OCHRE, VIOLET = "#1f5fa8", "#b5482a", "#3f7f4f", "#8a6d1b", "#6b4c9a"


def new_figure(width: float, height: float) -> Any:
    """A figure that no window and no notebook knows of until it is shown."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingLibraryError(
            "a plot needs matplotlib: pip install 'pyomo_stochsqp[plot]'."
        ) from None
    return Figure(figsize=(width, height), layout="constrained")


def saved(figure: Any, path: Any) -> Any:
    """The figure, saved if a path is given."""
    if path is not None:
        figure.savefig(path, dpi=160)
    return figure


def dress(ax: Any) -> None:
    """Grid and axes."""
    ax.set_axisbelow(True)
    ax.grid(True, which="major", color=PALE, linewidth=0.6)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_color(GREY)
    ax.tick_params(colors=DARK, labelsize=8, which="both")
