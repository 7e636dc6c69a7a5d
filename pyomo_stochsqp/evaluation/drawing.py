r"""Pictures of outcomes: a histogram and a distribution function for every quantity.

The line of the mean, and for the first quantity (the objective) the mean of the worst 5 %, stand in
both. What a row requires on average is a grey edge: what lies beyond it happens now and then.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import OptionError
from ..picture import BLUE, DARK, PALE, RED, dress, new_figure, saved

if TYPE_CHECKING:
    from .outcomes import Outcome, Outcomes

COLOURS = (BLUE, RED)
#: bars of a histogram, of few scenarios and of many
FEW_BARS, MANY_BARS = 12, 60
#: pictures are cut at these quantiles, beyond which hardly anything happens
SHOWN = (0.001, 0.999)
LEVEL = 0.95


def plot_outcomes(
    outcomes: Outcomes, other: Outcomes | None, path: Any, labels: Sequence[str]
) -> Any:
    """matplotlib's figure, saved if a path is given."""
    names = [o.name for o in outcomes]
    if other is not None:
        names = [name for name in names if name in {o.name for o in other}]
    if not names:
        raise OptionError(
            "there is nothing to plot: no quantity has a number of its own in every scenario."
        )
    figure = new_figure(9.0, 2.6 * len(names) + 0.4)
    axes = figure.subplots(len(names), 2, squeeze=False)
    for i, name in enumerate(names):
        shown = [outcomes[name], *([] if other is None else [other[name]])]
        _histogram(axes[i, 0], shown, labels)
        _distribution(axes[i, 1], shown, with_cvar=i == 0)
        axes[i, 0].set_ylabel(name, color=DARK)
        for ax in axes[i]:
            dress(ax)
            _shade(ax, shown)
    axes[0, 0].set_title("share of scenarios", fontsize=10, color=DARK, loc="left")
    axes[0, 1].set_title("probability of at most", fontsize=10, color=DARK, loc="left")
    if other is not None:
        _legend(axes[0, 0])
    _legend(axes[0, 1])
    return saved(figure, path)


def _legend(ax: Any) -> None:
    """On white, so that lines end at its edge."""
    ax.legend(fontsize=8, loc="best", facecolor="white", edgecolor="none", framealpha=0.9)


def _histogram(ax: Any, shown: Sequence[Outcome], labels: Sequence[str]) -> None:
    low, high = _range(shown)
    count = max(outcome.values.size for outcome in shown)
    edges = np.linspace(low, high, int(np.clip(2.0 * np.cbrt(count), FEW_BARS, MANY_BARS)) + 1)
    for outcome, label, colour in zip(shown, labels, COLOURS, strict=False):
        values = np.clip(outcome.values, low, high)
        weights = outcome.weights
        weights = np.full(values.size, 1.0 / values.size) if weights is None else weights
        ax.hist(values, edges, weights=weights, color=colour, alpha=0.55, label=label)
        ax.axvline(outcome.mean, color=colour, linewidth=1.2)


def _distribution(ax: Any, shown: Sequence[Outcome], with_cvar: bool) -> None:
    low, high = _range(shown)
    for outcome, colour in zip(shown, COLOURS, strict=False):
        values, probability = outcome.distribution()
        if values.size > 2000:
            some = np.unique(np.linspace(0, values.size - 1, 2000).astype(int))
            values, probability = values[some], probability[some]
        values = np.concatenate(([low], values, [high]))
        probability = np.concatenate(([0.0], probability, [1.0]))
        inside = (values >= low) & (values <= high)
        ax.step(values[inside], probability[inside], where="post", color=colour, linewidth=1.4)
        label = "mean" if outcome is shown[0] else None
        ax.axvline(outcome.mean, color=colour, linewidth=1.2, label=label)
        if with_cvar:
            label = f"mean of the worst {1 - LEVEL:.0%} (CVaR)" if label else None
            ax.axvline(outcome.cvar(LEVEL), color=colour, linestyle=":", label=label)
    ax.set_ylim(0.0, 1.02)


def _range(shown: Sequence[Outcome]) -> tuple[float, float]:
    low = min(o.quantile(SHOWN[0]) for o in shown)
    high = max(o.quantile(SHOWN[1]) for o in shown)
    if high > low:
        return low, high
    room = 0.5 * max(abs(low), 1.0)
    return low - room, high + room


def _shade(ax: Any, shown: Sequence[Outcome]) -> None:
    """Grey, where a row does not hold."""
    low, high = ax.get_xlim()
    outcome = shown[0]
    if low < outcome.lower < high:
        ax.axvspan(low, outcome.lower, color=PALE, alpha=0.5, zorder=0)
    if low < outcome.upper < high:
        ax.axvspan(outcome.upper, high, color=PALE, alpha=0.5, zorder=0)
    ax.set_xlim(low, high)
