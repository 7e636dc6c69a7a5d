r"""The study in numbers, as Markdown: errors by setting, validity of the assumption, profiles.

The paper gives its errors as box plots, without numbers; what it says in words stands beside ours.
"""

from __future__ import annotations

from collections import Counter
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
from benchmarks.cutest.summary import coverage, errors, records, settings_of, share_better
from benchmarks.store import Record, ResultFile

#: statement of the assumption, what the paper reports, and how an instance is judged
VALIDITY: tuple[tuple[str, str, Callable[[Record], float]], ...] = (
    ("f(x_4000) <= 1e6", "all", lambda r: r["f_bounded"]),
    ("true trial tau >= tau, iterations after 4000", "> 95 %", lambda r: r["trial_share"]),
    ("tau constant after iteration 4000", "nearly 98 %", lambda r: r["tau_settled"]),
    (f"final tau >= {TAU_MIN:g}", "> 97 %", lambda r: r["tau"] >= TAU_MIN),
    ("xi constant after iteration 4000", "about 99.5 %", lambda r: r["xi_settled"]),
)
#: ends of a run that has used what Algorithm 1 has
ENDINGS = {"SAMPLE_LIMIT": "all samples used", "INTERRUPTED": "all CPU time used"}
#: J loses rank at their starting points
RANK_DEFICIENT = ("HS61", "S316-322")


def write(results: ResultFile, out: Path) -> list[Path]:
    """Write all tables into one file."""
    parts = [instances(results), best_errors(results), other_errors(results)]
    parts += [against_defaults(results), endings(results), wins(results), validity(results)]
    parts += [profile_ends(results)]
    parts += [crossings(results)]
    path = out / "tables.md"
    path.write_text("\n\n".join(p for p in parts if p) + "\n")
    return [path]


METHODS = {
    "sqp": "Algorithm 1",
    "sqp-scaled": "the same with gradients scaled to 100",
    "subgradient": "subgradient method",
    "stages": "our defaults",
    "profile": "profiles",
}


def instances(results: ResultFile) -> str:
    """How much of the study the file holds."""
    lines = []
    for method, name in METHODS.items():
        found = records(results, method)
        if found:
            lines.append(f"{name}: {len(found)} instances ({coverage(results, method)})")
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
        for method, which in (("sqp", "best"), ("subgradient", "best"), ("stages", "returned")):
            cells += quartiles(errors(records(results, method, name), which))
        rows.append(f"| {label(name)} | " + " | ".join(cells) + " |")
    head = "Best iterates of Algorithm 1 and of the subgradient method (seven runs), and the point"
    what = "that our defaults return with its samples and CPU time: Q1 / median / Q3."
    return f"{head} {what}\n\n" + table(rows)


def other_errors(results: ResultFile) -> str:
    """Medians of the last iterate and of the tail, beside the best."""
    rows = [
        "| setting | Algorithm 1: best | last | tail mean | our defaults: returned |",
        "|---|---|---|---|---|",
    ]
    columns = [("sqp", w) for w in ("best", "last", "tail_mean")]
    columns += [("stages", "returned")]
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


def against_defaults(results: ResultFile) -> str:
    """How often our defaults beat an iterate of Algorithm 1, and on which problems they do not."""
    ratios: dict[str, list[np.ndarray]] = {}
    for line in records(results, "stages"):
        key = ("sqp", line["problem"], line["setting"], line["seed"])
        if key in results:
            other = errors([results[key]], "last").max(), errors([results[key]], "best").max()
            ours = errors([line], "returned").max()
            ratios.setdefault(line["problem"], []).append(ours / np.array(other))
    if not ratios:
        return ""
    everything = np.concatenate(list(ratios.values()))
    last, best = 100 * (everything < 1.0).mean(axis=0)
    worse = [name for name, found in ratios.items() if np.median(found, axis=0)[0] > 1.0]
    return (
        f"The point that our defaults return has a smaller KKT error than Algorithm 1's last "
        f"iterate in {last:.0f} % of {len(everything)} instances, than its best in {best:.0f} %."
        + (
            f" In the median over instances it is worse than the last on {', '.join(worse)}."
            if worse
            else ""
        )
    )


def endings(results: ResultFile) -> str:
    """How the runs of our defaults ended."""
    lines = records(results, "stages")
    if not lines:
        return ""
    counts = Counter(ENDINGS.get(r["stop"], r["stop"].lower().replace("_", " ")) for r in lines)
    parts = [f"{stop}: {number}" for stop, number in counts.most_common()]
    where = [r for r in lines if r["stop"] not in ENDINGS]
    problems = Counter(r["problem"] for r in where)
    named = ", ".join(f"{name} ({n})" for name, n in problems.most_common())
    return f"Runs of our defaults ended with {'; '.join(parts)}." + (
        f" Those without the whole budget were on {named}." if named else ""
    )


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
    columns = {f"here ({len(everything)})": everything}
    regular = [r for r in everything if r["problem"] not in RANK_DEFICIENT]
    columns[f"without {' and '.join(RANK_DEFICIENT)} ({len(regular)})"] = regular
    scaled = [r for r in records(results, "sqp-scaled") if r["problem"] not in RANK_DEFICIENT]
    if scaled:
        columns[f"... and gradients scaled to 100 ({len(scaled)})"] = scaled
    rows = [
        f"| condition | paper (1980 instances) | {' | '.join(columns)} |",
        "|---" * (2 + len(columns)) + "|",
    ]
    for condition, paper, judge in VALIDITY:
        cells = [f"{100 * np.mean([judge(r) for r in lines]):.1f} %" for lines in columns.values()]
        rows.append(f"| {condition} | {paper} | {' | '.join(cells)} |")
    moving = Counter(r["problem"] for r in everything if not r["tau_settled"])
    where = ", ".join(f"{name} ({n} of its instances)" for name, n in moving.most_common())
    return (
        "Validity of the assumption on merit and ratio parameters.\n\n"
        + table(rows)
        + (f"\n\nUnscaled, tau still moves after iteration 4000 on {where}." if where else "")
    )


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


def crossings(results: ResultFile) -> str:
    """Where the smaller noise has the larger error, on average and in the median."""
    sentences = []
    for average, word in ((np.mean, "mean"), (np.median, "median")):
        found = [f for f in (_crossing(results, name, average) for name in PROFILES) if f]
        where = f"on {', '.join(found)}" if found else "nowhere"
        sentences.append(f"the {word} error of the smaller noise is above the other's {where}")
    if not records(results, "profile"):
        return ""
    return "After the first iteration " + "; ".join(sentences) + "."


def _crossing(results: ResultFile, name: str, average: Callable[..., np.ndarray]) -> str:
    large, small = (records(results, "profile", s.name, [name]) for s in (LARGE_NOISE, SMALL_NOISE))
    if not (large and small):
        return ""
    k = large[0]["k"]
    upper, lower = (average([r["error"] for r in lines], axis=0) for lines in (large, small))
    above = [k[i] for i in np.flatnonzero(lower > upper) if k[i] > 1]
    return (
        f"{name} ({len(above)} of {len(k)} points, k = {above[0]} to {above[-1]})" if above else ""
    )


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
