r"""What the result file says, in Markdown and as figures."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.store import Record, ResultFile

#: (name, label, colour)
LABELS = (
    ("ours", "ours", "tab:green"),
    ("extensive", "extensive form, POUNCE", "tab:red"),
    ("slsqp", "NumPy and SLSQP", "tab:blue"),
    ("interior", "NumPy with second derivatives, POUNCE", "tab:purple"),
    ("casadi", "CasADi, IPOPT with L-BFGS", "tab:orange"),
)


def table(results: ResultFile, out: Path) -> Path:
    """CPU seconds, megabytes and errors of all contestants, and ratios to ours."""
    parts = []
    for family in dict.fromkeys(r["family"] for r in results):
        parts += [f"**{family}**\n", *_rows(results, family), ""]
    path = out / "tables.md"
    path.write_text(
        "CPU seconds, peak megabytes, relative error reached; in brackets the time divided by "
        "ours. Errors above the tolerance are marked (missed).\n\n" + "\n".join(parts)
    )
    return path


def _rows(results: ResultFile, family: str) -> list[str]:
    mine = [r for r in results if r["family"] == family]
    shown = [entry for entry in LABELS if any(r["contestant"] == entry[0] for r in mine)]
    lines = [
        "| rows | tolerance |" + "".join(f" {label} |" for _, label, _ in shown),
        "|---|---|" + "---|" * len(shown),
    ]
    for rows in sorted({r["N"] for r in mine}):
        for tolerance in sorted({r["tolerance"] for r in mine}, reverse=True):
            found = {
                r["contestant"]: r for r in mine if (r["N"], r["tolerance"]) == (rows, tolerance)
            }
            if found:
                cells = [_cell(found, name) for name, *_ in shown]
                lines.append(f"| {rows:,} | {tolerance:g} | {' | '.join(cells)} |")
    return lines


def _cell(found: dict[str, Record], name: str) -> str:
    record = found.get(name)
    if record is None:
        return "-"
    if record["seconds"] is None:
        return str(record["why"])
    error = relative_error(record, found)
    text = f"{record['seconds']:.2g} s, {record['megabytes']:.0f} MB, {error:.0e}"
    if error > record["tolerance"]:
        return f"{text} (missed)"
    ours = found.get("ours")
    if name == "ours" or ours is None or ours["seconds"] is None:
        return text
    return f"{text} [{record['seconds'] / ours['seconds']:.2g}]"


def relative_error(record: Record, others: dict[str, Record]) -> float:
    """That of the KKT conditions; with recourse, of the objective against the lowest one."""
    if "error" in record:
        return float(record["error"])
    lowest = min(r["objective"] for r in others.values() if r["seconds"] is not None)
    return max((record["objective"] - lowest) / abs(lowest), record["violation"], 0.0)


def plot(results: ResultFile, out: Path) -> list[Path]:
    """CPU time and memory against N, at the tightest tolerance."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    families = list(dict.fromkeys(r["family"] for r in results))
    tolerance = min(r["tolerance"] for r in results)
    figure, axes = plt.subplots(
        2, len(families), figsize=(3.4 * len(families), 6), layout="constrained", squeeze=False
    )
    for column, family in enumerate(families):
        for name, label, colour in LABELS:
            lines = sorted(
                (r["N"], r["seconds"], r["megabytes"])
                for r in results
                if (r["family"], r["contestant"], r["tolerance"]) == (family, name, tolerance)
                and r["seconds"] is not None
            )
            if lines:
                N, seconds, megabytes = np.array(lines).T
                axes[0, column].loglog(N, seconds, color=colour, label=label, marker=".")
                axes[1, column].loglog(N, megabytes, color=colour, marker=".")
        axes[0, column].set_title(family)
        axes[1, column].set_xlabel("scenarios")
    axes[0, 0].set_ylabel("CPU seconds")
    axes[1, 0].set_ylabel("peak memory, MB")
    for ax in axes.flat:
        ax.grid(alpha=0.3)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3, fontsize=9)
    paths = [out / f"peers{suffix}" for suffix in (".png", ".svg")]
    for path in paths:
        figure.savefig(path, dpi=110, metadata={"Date": None} if path.suffix == ".svg" else None)
    return paths
