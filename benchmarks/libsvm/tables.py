r"""The paper's Table 2 beside ours, as Markdown: means over feasible draws."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.libsvm.paper import TABLE
from benchmarks.store import Record, ResultFile

KEY = ("method", "data", "b1", "b2", "seed", "reading", "beta")
#: (method, which iterate, heading)
COLUMNS = (
    ("sqp", "best", "Algorithm 1, best"),
    ("sqp", "tail_median", "Algorithm 1, tail"),
    ("tstom", "best", "TStoM, best"),
    ("subgradient", "best", "subgradient, best"),
    ("stages", "returned", "our defaults, returned"),
)
DIVERGED = 1e12
CLOSE = 3.0


def open_results(path: str | Path) -> ResultFile:
    """The result file of this study."""
    return ResultFile(path, KEY)


def write(results: ResultFile, out: Path) -> list[Path]:
    """One table per reading and schedule."""
    kinds = sorted({(r["reading"], r["beta"]) for r in results})
    parts = [table_of(results, *kind) for kind in kinds]
    path = out / "tables.md"
    path.write_text("\n\n".join(parts) + "\n")
    return [path]


def table_of(results: ResultFile, reading: str, beta: str) -> str:
    """All data sets and batch sizes in one reading."""
    lines = [r for r in results if (r["reading"], r["beta"]) == (reading, beta)]
    shown = [c for c in COLUMNS if any(r["method"] == c[0] for r in lines)]
    heads = "".join(f" {heading}{fewer_draws(lines, method)} |" for method, _, heading in shown)
    rows = [
        f"| data | b1, b2 | draws |{heads} paper: Algorithm 1 | paper: TStoM |",
        "|---" * (5 + len(shown)) + "|",
    ]
    for (data, b1, b2), (infeas, infeas_t, stat, stat_t) in TABLE.items():
        here = [r for r in lines if (r["data"], r["b1"], r["b2"]) == (data, b1, b2)]
        if here:
            cells = [mean_of(here, method, which) for method, which, _ in shown]
            cells += [f"{infeas:.1e}/{stat:.1e}", f"{infeas_t:.1e}/{stat_t:.1e}"]
            rows.append(f"| {data} | {b1}, {b2} | {draws(here)} | {' | '.join(cells)} |")
    step = "diminishing beta" if beta == "diminishing" else f"beta = {beta}"
    return (
        f"Reading '{reading}', {step}: mean infeasibility/stationarity over the feasible draws.\n\n"
        + "\n".join(rows)
        + agreement(lines)
        + infeasible(lines)
    )


def fewer_draws(lines: list[Record], method: str) -> str:
    """A remark on a method that was run on fewer draws than others."""
    seeds = {r["seed"] for r in lines if r["method"] == method}
    if len(seeds) == len({r["seed"] for r in lines}):
        return ""
    return f" ({len(seeds)} draw{'s' if len(seeds) > 1 else ''})"


def agreement(lines: list[Record]) -> str:
    """How many of the paper's numbers for Algorithm 1 come out within a factor of three."""
    ratios: list[float] = []
    for (data, b1, b2), (infeas, _, stat, _) in TABLE.items():
        here = [
            r["best"]
            for r in lines
            if (r["method"], r["data"], r["b1"], r["b2"]) == ("sqp", data, b1, b2) and r["feasible"]
        ]
        if here:
            ratios += (np.mean(here, axis=0) / (infeas, stat)).tolist()
    near = sum(1 / CLOSE <= ratio <= CLOSE for ratio in ratios)
    return (
        f"\n\nOf the paper's numbers for Algorithm 1, {near} of {len(ratios)} come out within a "
        f"factor of {CLOSE:g}; the geometric mean of the ratios is "
        f"{np.exp(np.mean(np.log(ratios))):.2g}."
        if ratios
        else ""
    )


def mean_of(lines: list[Record], method: str, which: str) -> str:
    """Mean errors of a method over feasible draws."""
    pairs = [r[which] for r in lines if r["method"] == method and r["feasible"]]
    if not pairs:
        return "-"
    means = np.nan_to_num(np.array(pairs, dtype=float), nan=DIVERGED, posinf=DIVERGED).mean(axis=0)
    return "/".join(f"{v:.1e}" for v in means)


def draws(lines: list[Record]) -> str:
    """How many draws there are, and how many of them have no feasible point."""
    seeds = {r["seed"]: r["feasible"] for r in lines}
    bad = sum(not feasible for feasible in seeds.values())
    return f"{len(seeds)}" + (f" ({bad} infeasible)" if bad else "")


def infeasible(lines: list[Record]) -> str:
    """What the solver said about draws without a feasible point."""
    verdicts = [r for r in lines if r["method"] == "stages" and not r["feasible"]]
    if not verdicts:
        return ""
    found = sum(r["stop"] == "LOCALLY_INFEASIBLE" for r in verdicts)
    return (
        f"\n\nDraws in which no point of the sphere satisfies the mean rows: the solver reports "
        f"{found} of {len(verdicts)} runs on them as locally infeasible."
    )
