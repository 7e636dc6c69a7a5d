r"""From lines of the result file to arrays: errors by method and setting."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.store import Record, ResultFile

KEY = ("method", "problem", "setting", "seed")
#: stands for an error that is infinite or not a number (a run that diverged), on a log scale
WORST = 1e12
LEAST = 1e-16


def open_results(path: str | Path) -> ResultFile:
    """The result file of this study."""
    return ResultFile(path, KEY)


def records(
    results: ResultFile, method: str, setting: str | None = None, problems: Sequence[str] = ()
) -> list[Record]:
    """All lines of a method, in one setting, on some problems."""
    return [
        r
        for r in results
        if r["method"] == method
        and setting in (None, r["setting"])
        and (not problems or r["problem"] in problems)
    ]


def errors(lines: Iterable[Record], which: str) -> NDArray[np.float64]:
    """(instances, 2): infeasibility and stationarity of the iterates named ``which``."""
    pairs = np.array([r[which] for r in lines], dtype=float).reshape(-1, 2)
    pairs = np.nan_to_num(pairs, nan=WORST, posinf=WORST)
    return np.clip(pairs, LEAST, WORST)


def settings_of(results: ResultFile, names: Iterable[str]) -> list[str]:
    """Those of the settings that the file has results for, in the given order."""
    present = {r["setting"] for r in results if r["method"] == "sqp"}
    return [name for name in names if name in present]


def share_better(results: ResultFile) -> tuple[float, int]:
    """Share of instances whose ``sqp`` best iterate beats the subgradient's, and their number.

    Better means a smaller max(infeasibility, stationarity).
    """
    wins = total = 0
    for line in records(results, "subgradient"):
        key = ("sqp", line["problem"], line["setting"], line["seed"])
        if key in results:
            total += 1
            wins += errors([results[key]], "best").max() < errors([line], "best").max()
    return (wins / total if total else float("nan")), total


def coverage(results: ResultFile, method: str, settings: Iterable[str] | None = None) -> str:
    """How many problems and seeds stand behind a method, in the settings that are asked about."""
    wanted = None if settings is None else set(settings)
    lines = [r for r in records(results, method) if wanted is None or r["setting"] in wanted]
    seeds: dict[str, set[int]] = {}
    for r in lines:
        seeds.setdefault(r["problem"], set()).add(r["seed"])
    counts = sorted({len(s) for s in seeds.values()})
    if not counts:
        return "none"
    number = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return f"{len(seeds)} problems, {number} seed{'s' if counts[-1] > 1 else ''} each"
