r"""The study in numbers, as Markdown: errors by setting, validity of the assumption, profiles.

The paper gives its errors as box plots, without numbers; what it says in words stands beside ours.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.cutest.settings import (
    CONSTANT,
    LARGE_NOISE,
    PROFILES,
    SETTINGS,
    SMALL_NOISE,
    TAU_MIN,
)
from benchmarks.cutest.summary import errors, records, settings_of, share_better
from benchmarks.store import Record, ResultFile

#: statement of the assumption, what the paper reports, and how an instance is judged
VALIDITY: tuple[tuple[str, str, Callable[[Record], float]], ...] = (
    ("f(x_4000) <= 1e6", "all", lambda r: r["f_bounded"]),
    ("true trial tau >= tau, iterations after 4000", "> 95 %", lambda r: r["trial_share"]),
    ("tau constant after iteration 4000", "nearly 98 %", lambda r: r["tau_settled"]),
    (f"final tau >= {TAU_MIN:g}", "> 97 %", lambda r: r["tau"] >= TAU_MIN),
    ("xi constant after iteration 4000", "about 99.5 %", lambda r: r["xi_settled"]),
)
#: J loses rank at their starting points
RANK_DEFICIENT = ("HS61", "S316-322")


def write(results: ResultFile, out: Path) -> list[Path]:
    """Write all tables into one file."""
    parts = [coverage(results), best_errors(results), other_errors(results)]
    parts += [failures(results), wins(results), validity(results), profile_ends(results)]
    path = out / "tables.md"
    path.write_text("\n\n".join(p for p in parts if p) + "\n")
    return [path]


def coverage(results: ResultFile) -> str:
    """How much of the study the file holds."""
    lines = []
    for method in ("sqp", "subgradient", "defaults", "profile"):
        found = records(results, method)
        if found:
            problems = len({r["problem"] for r in found})
            seeds = len({r["seed"] for r in found})
            lines.append(f"{method}: {len(found)} instances ({problems} problems, {seeds} seeds)")
    iterations = sorted({r["iterations"] for r in results})
    return f"Iterations: {', '.join(map(str, iterations))}. " + "; ".join(lines) + "."


def best_errors(results: ResultFile) -> str:
    """Quartiles of best iterates (and of the point our defaults return)."""
    rows = [
        "| eps_g, eps_c, eps_J | Algorithm 1 infeas. | stat. | subgradient infeas. | stat. "
        "| our defaults infeas. | stat. |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in settings_of(results, SETTINGS):
        cells = []
        for method, which in (("sqp", "best"), ("subgradient", "best"), ("defaults", "returned")):
            cells += quartiles(errors(records(results, method, name), which))
        rows.append(f"| {label(name)} | " + " | ".join(cells) + " |")
    head = "Best iterates of Algorithm 1 and of the subgradient method (seven runs), and the point"
    return f"{head} that our defaults return from as many samples: Q1 / median / Q3.\n\n" + table(
        rows
    )


def other_errors(results: ResultFile) -> str:
    """Medians of the last iterate and of the tail, beside the best."""
    rows = [
        "| setting | Algorithm 1: best | last | tail mean | our defaults: best | last | returned |",
        "|---|---|---|---|---|---|---|",
    ]
    columns = [("sqp", w) for w in ("best", "last", "tail_mean")]
    columns += [("defaults", w) for w in ("best", "last", "returned")]
    for name in settings_of(results, SETTINGS):
        cells = []
        for method, which in columns:
            pairs = errors(records(results, method, name), which)
            cells.append(
                "/".join(f"{v:.1e}" for v in np.median(pairs, axis=0)) if len(pairs) else "-"
            )
        rows.append(f"| {label(name)} | " + " | ".join(cells) + " |")
    return "Medians, infeasibility/stationarity. The best iterate needs true values.\n\n" + table(
        rows
    )


def failures(results: ResultFile) -> str:
    """Runs of our defaults that ended with an exception."""
    lines = records(results, "defaults")
    failed = [r for r in lines if r["stop"].endswith("Error")]
    return f"Our defaults failed in {len(failed)} of {len(lines)} runs." if failed else ""


def wins(results: ResultFile) -> str:
    """How often Algorithm 1 beats the subgradient method."""
    share, total = share_better(results)
    if not total:
        return ""
    return (
        f"Algorithm 1's best iterate has the smaller KKT error in {100 * share:.1f} % of {total} "
        "instances."
    )


def validity(results: ResultFile) -> str:
    """Assumption event_asymptotic, on the settings with constant beta."""
    names = {s.name for s in CONSTANT}
    everything = [r for r in records(results, "sqp") if r["setting"] in names]
    if not everything:
        return ""
    regular = [r for r in everything if r["problem"] not in RANK_DEFICIENT]
    rows = [
        f"| condition | paper (1980 instances) | here ({len(everything)}) "
        f"| without {' and '.join(RANK_DEFICIENT)} ({len(regular)}) |",
        "|---|---|---|---|",
    ]
    for condition, paper, judge in VALIDITY:
        cells = [
            f"{100 * np.mean([judge(r) for r in lines]):.1f} %" for lines in (everything, regular)
        ]
        rows.append(f"| {condition} | {paper} | {' | '.join(cells)} |")
    return "Validity of the assumption on merit and ratio parameters.\n\n" + table(rows)


def profile_ends(results: ResultFile) -> str:
    """Mean true KKT error where the profiles end."""
    rows = ["| problem | large noise | small noise |", "|---|---|---|"]
    for name in PROFILES:
        cells = []
        for setting in (LARGE_NOISE, SMALL_NOISE):
            lines = records(results, "profile", setting.name, [name])
            cells.append(f"{np.mean([r['error'][-1] for r in lines]):.1e}" if lines else "-")
        if any(c != "-" for c in cells):
            rows.append(f"| {name} | {' | '.join(cells)} |")
    if len(rows) == 2:
        return ""
    return "Data profiles: mean true KKT error at the last iteration.\n\n" + table(rows)


def quartiles(pairs: np.ndarray) -> list[str]:
    """Q1/median/Q3 of both columns."""
    if not len(pairs):
        return ["-", "-"]
    found = np.quantile(pairs, (0.25, 0.5, 0.75), axis=0)
    return ["/".join(f"{v:.1e}" for v in column) for column in found.T]


def label(name: str) -> str:
    """A setting in words."""
    s = SETTINGS[name]
    kind = "diminishing" if s.diminishing else "constant"
    return f"{kind} {s.eps_g:g}, {s.eps_c:g}, {s.eps_J:g}"


def table(rows: list[str]) -> str:
    return "\n".join(rows)
