r"""The paper's figures of the first study, from the result file.

boxes-constant      infeasibility and stationarity of best iterates, beta = 0.1, by eps_g
boxes-diminishing   the same with diminishing beta_k
tau-histogram       log10 of the final merit parameter, constant beta
profiles            true KKT error along the run, mean and 95 % band of the mean (Student's t)

Beside the paper's two methods stand our defaults, with the samples and the CPU time of Algorithm 1.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from scipy import stats

from benchmarks.cutest.settings import (
    CONSTANT,
    DIMINISHING,
    LARGE_NOISE,
    LEVELS,
    PROFILES,
    SMALL_NOISE,
    TAU_MIN,
    Setting,
)
from benchmarks.cutest.summary import coverage, errors, records
from benchmarks.store import ResultFile

mpl.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.patches import Patch
from matplotlib.ticker import MultipleLocator

#: (method, which iterate, label, colour)
SHOWN = (
    ("sqp", "best", "Algorithm 1, best iterate", "tab:red"),
    ("subgradient", "best", "subgradient, best iterate of 7 runs", "tab:blue"),
    ("stages", "returned", "our defaults, point returned", "tab:green"),
)
KINDS = ("infeasibility error", "stationarity error")
NOISES = ((LARGE_NOISE, "tab:red"), (SMALL_NOISE, "tab:cyan"))
SUFFIXES = (".png", ".svg")
#: confidence of a band; one that reaches zero is cut at this share of the mean
CONFIDENCE, FLOOR = 0.95, 0.05


def write(results: ResultFile, out: Path) -> list[Path]:
    """Draw every figure that there are results for."""
    made = []
    by_g = [[s for s in CONSTANT if s.eps_g == g] for g in LEVELS]
    figures = {
        "boxes-constant": lambda: boxes(results, by_g, "constant β = 0.1"),
        "boxes-diminishing": lambda: boxes(results, [list(DIMINISHING)], "diminishing β"),
        "tau-histogram": lambda: histogram(results),
        "profiles": lambda: profiles(results),
    }
    for name, draw in figures.items():
        figure = draw()
        if figure is None:
            continue
        for suffix in SUFFIXES:
            made.append(out / f"{name}{suffix}")
            figure.savefig(made[-1], dpi=110, metadata={"Date": None} if suffix == ".svg" else None)
        plt.close(figure)
    return made


def boxes(results: ResultFile, rows: list[list[Setting]], title: str) -> Any:
    """One row of axes per list of settings: infeasibility on the left, stationarity right."""
    rows = [[s for s in row if records(results, "sqp", s.name)] for row in rows]
    rows = [row for row in rows if row]
    if not rows:
        return None
    size = (11, 3.1 * len(rows) + 0.5)
    figure, axes = plt.subplots(
        len(rows), 2, figsize=size, squeeze=False, sharey="col", layout="constrained"
    )
    for row, pair in zip(rows, axes, strict=True):
        same = len({s.eps_g for s in row}) == 1 and len(row) > 1
        for column, ax in enumerate(pair):
            _boxes_of(results, row, column, ax)
            ax.set_xticks(range(len(row)), [_tick(s, not same) for s in row])
            ax.set_ylabel(KINDS[column])
            if same:
                ax.set_title(f"$\\epsilon_g = {_number(row[0].eps_g)}$", fontsize=9)
    used = [s.name for row in rows for s in row]
    shown = [s for s in SHOWN if records(results, s[0])]
    handles = [
        Patch(color=colour, label=f"{label} ({coverage(results, method, used)})")
        for method, _, label, colour in shown
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=1, fontsize=9)
    figure.supxlabel(f"{title}; boxes: quartiles, whiskers: 5 and 95 %", fontsize=9)
    return figure


def _tick(setting: Setting, with_g: bool) -> str:
    lines = [rf"$\epsilon_g = {_number(setting.eps_g)}$"] if with_g else []
    lines += [rf"$\epsilon_c = {_number(setting.eps_c)}$"]
    return "\n".join([*lines, rf"$\epsilon_J = {_number(setting.eps_J)}$"])


def _number(value: float) -> str:
    """A power of ten as one, other numbers as they are."""
    power = round(np.log10(value))
    return f"10^{{{power}}}" if np.isclose(value, 10.0**power) else f"{value:g}"


def _boxes_of(results: ResultFile, row: list[Setting], column: int, ax: Any) -> None:
    shown = [s for s in SHOWN if records(results, s[0])]
    width = 0.8 / len(shown)
    for i, (method, which, _, colour) in enumerate(shown):
        positions, data = [], []
        for j, setting in enumerate(row):
            lines = records(results, method, setting.name)
            if lines:
                positions.append(j + (i - 0.5 * (len(shown) - 1)) * width)
                data.append(np.log10(errors(lines, which)[:, column]))
        if data:
            style = {"color": "black", "linewidth": 0.8}
            ax.boxplot(
                data, positions=positions, widths=0.85 * width, whis=(5, 95), sym="",
                patch_artist=True, boxprops={"facecolor": colour, "linewidth": 0.8},
                medianprops=style, whiskerprops=style, capprops=style,
            )  # fmt: skip
    ax.tick_params(axis="x", labelsize=8)
    ax.yaxis.set_major_locator(MultipleLocator(1))
    ax.yaxis.set_major_formatter(lambda value, _: f"$10^{{{value:.0f}}}$")
    ax.grid(axis="y", alpha=0.3)


def histogram(results: ResultFile) -> Any:
    """Final merit parameters over the instances with constant beta."""
    names = {s.name for s in CONSTANT}
    taus = [r["tau"] for r in records(results, "sqp") if r["setting"] in names]
    if not taus:
        return None
    logs = np.log10(np.maximum(taus, 1e-16))
    figure, ax = plt.subplots(figsize=(5, 3.2), layout="constrained")
    ax.hist(logs, bins=np.arange(np.floor(logs.min()), 0.01, 0.25), color="tab:red", log=True)
    ax.axvline(
        np.log10(TAU_MIN), color="black", linestyle=":", label=r"$\bar\tau_{\min}$ of the paper"
    )
    ax.set_xlabel(r"$\log_{10}$ of the final merit parameter")
    ax.set_ylabel(f"instances (of {len(taus)})")
    ax.legend(fontsize=8, loc="upper center")
    return figure


def profiles(results: ResultFile) -> Any:
    """Mean true KKT error with a 95 % band, for the paper's eight problems."""
    names = [p for p in PROFILES if records(results, "profile", problems=[p])]
    if not names:
        return None
    height = (len(names) + 1) // 2
    figure, axes = plt.subplots(
        height, 2, figsize=(10, 2.3 * height + 0.6), squeeze=False, layout="constrained"
    )
    for name, ax in zip(names, axes.flat, strict=False):
        for setting, colour in NOISES:
            lines = records(results, "profile", setting.name, [name])
            if lines:
                _band(lines, colour, ax)
        ax.set_yscale("log")
        ax.set_title(name, fontsize=9)
        ax.grid(alpha=0.3)
    for ax in axes.flat[len(names) :]:
        ax.set_axis_off()
    name = r"$(\epsilon_g, \epsilon_c, \epsilon_J)$"
    handles = [Patch(color=c, label=f"{name} = {s.variances}") for s, c in NOISES]
    figure.legend(handles=handles, loc="outside upper center", ncols=2, fontsize=9)
    seeds = len({r["seed"] for r in records(results, "profile")})
    figure.supxlabel(
        f"iteration; means of {seeds} seeds with 95 % bands (Student's t), cut at a twentieth of "
        "the mean where they would reach zero",
        fontsize=9,
    )
    figure.supylabel("true KKT error", fontsize=9)
    return figure


def _band(lines: list[Any], colour: str, ax: Any) -> None:
    length = min(len(r["k"]) for r in lines)
    curves = np.array([r["error"][:length] for r in lines])
    mean = curves.mean(axis=0)
    spread = np.zeros_like(mean)
    if len(curves) > 1:
        t = stats.t.ppf(0.5 + 0.5 * CONFIDENCE, len(curves) - 1)
        spread = t * curves.std(axis=0, ddof=1) / np.sqrt(len(curves))
    k = lines[0]["k"][:length]
    ax.plot(k, mean, color=colour, linewidth=1.0)
    ax.fill_between(
        k, np.maximum(mean - spread, FLOOR * mean), mean + spread, color=colour, alpha=0.25
    )
