r"""Against what a user would do instead: the extensive form through an NLP solver.

CPU time and peak memory to the same KKT error as the number of scenarios N grows; the problem and
the three contestants are described in ``peer_workers.py``.

    python -m benchmarks.peers run [--quick] [--peer-bin DIR]     measure what is missing
    python -m benchmarks.peers table | plot                       Markdown, PNG and SVG

The other solvers live in an environment of their own: pip install pounce-solver casadi numpy, and
``--peer-bin`` names its bin directory. A contestant that runs out of time or
memory is not tried at larger N.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.pool import THREADS
from benchmarks.store import Record, ResultFile, short

RESULTS = Path(__file__).resolve().parent / "results"
SIZES = (100, 1000, 10_000, 100_000, 1_000_000)
QUICK_SIZES = (100, 1000)
TOLERANCES = (1e-2, 1e-3, 1e-5)
#: (name, label, colour)
CONTESTANTS = (
    ("ours", "ours: SolverFactory('stochsqp')", "tab:green"),
    ("extensive", "same Pyomo model, extensive form, POUNCE", "tab:red"),
    ("casadi", "hand-written CasADi, IPOPT with L-BFGS", "tab:blue"),
)
#: tolerances are relative to the size of gradients, which is near one here
SLACK = 2.0
TIME_LIMIT = 900.0  # seconds
MEMORY_LIMIT = 12 << 30  # bytes


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    given = _parser().parse_args(arguments)
    kind = "peers-quick" if given.quick else "peers"
    results = ResultFile(given.results or RESULTS / f"{kind}.jsonl", ("method", "N", "tolerance"))
    if given.command == "run":
        _run(results, given)
        return 0
    if not len(results):
        print(f"{results.path} holds no results; run 'python -m benchmarks.peers run' first.")
        return 1
    out = Path(given.out or RESULTS / kind)
    out.mkdir(parents=True, exist_ok=True)
    made = plot(results, out) if given.command == "plot" else [table(results, out)]
    print("\n".join(map(str, made)))
    return 0


def _run(results: ResultFile, given: argparse.Namespace) -> None:
    sizes = given.sizes or (QUICK_SIZES if given.quick else SIZES)
    for N in sizes:
        for method in given.methods or [name for name, *_ in CONTESTANTS]:
            for tolerance in given.tolerances:
                if (method, N, tolerance) not in results and not _gave_up(results, method, N):
                    record = measure(method, N, tolerance, given.peer_bin, given.time_limit)
                    results.append(record)
                    print(json.dumps(record), file=sys.stderr)


def _gave_up(results: ResultFile, method: str, N: int) -> bool:
    """Whether a contestant ran out of time or memory at this size or a smaller one."""
    return any(r["method"] == method and r["seconds"] is None and r["N"] <= N for r in results)


def measure(method: str, N: int, tolerance: float, peer_bin: Path, limit: float) -> Record:
    """One measurement; a run that is killed or does not end in time has seconds = None."""
    python = peer_bin / "python" if method == "casadi" else Path(sys.executable)
    # POUNCE's program itself, without the Python launcher of its wheel, which takes a second
    programs = [*peer_bin.parent.glob("lib/python*/site-packages/pounce/bin"), peer_bin]
    environment = dict(os.environ, PATH=os.pathsep.join([*map(str, programs), os.environ["PATH"]]))
    environment |= dict.fromkeys(THREADS, "1")
    command = [str(python), "-m", "benchmarks.peer_workers", method, str(N), str(tolerance)]
    record: Record = {"method": method, "N": N, "tolerance": tolerance}
    missing: Record = {"seconds": None, "megabytes": None, "error": None}
    root = Path(__file__).resolve().parents[1]
    try:
        done = subprocess.run(
            command, cwd=root, env=environment, capture_output=True, text=True, timeout=limit,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT)),
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return record | missing | {"why": f"more than {limit:g} s"}
    if done.returncode < 0 or "MemoryError" in done.stderr:
        return record | missing | {"why": f"more than {MEMORY_LIMIT >> 30} GB"}
    if done.returncode > 0:
        raise RuntimeError(f"{' '.join(command)}\n{done.stderr}")
    return record | short(json.loads(done.stdout.strip().splitlines()[-1]))


def table(results: ResultFile, out: Path) -> Path:
    """CPU seconds / MB of all contestants, and ratios to ours."""
    head = "".join(f" {label} |" for _, label, _ in CONTESTANTS)
    rows = [f"| N | tolerance |{head} ratios to ours |", "|---" * (3 + len(CONTESTANTS)) + "|"]
    for N in sorted({r["N"] for r in results}):
        for tolerance in TOLERANCES:
            found = {r["method"]: r for r in results if (r["N"], r["tolerance"]) == (N, tolerance)}
            cells = [_cell(found.get(name)) for name, *_ in CONTESTANTS]
            ratios = [_ratio(found, name) for name, *_ in CONTESTANTS[1:]]
            rows.append(f"| {N:,} | {tolerance:g} | {' | '.join(cells)} | {', '.join(ratios)} |")
    path = out / "tables.md"
    text = "CPU seconds, peak megabytes, KKT error reached; ratios are of CPU time, above 1 means\n"
    path.write_text(text + "that ours is faster.\n\n" + "\n".join(rows) + "\n")
    return path


def _cell(record: Record | None) -> str:
    if record is None:
        return "-"
    if record["seconds"] is None:
        return record["why"]
    text = f"{record['seconds']:.2g} s, {record['megabytes']:.0f} MB, {record['error']:.0e}"
    return text if _reached(record) else f"{text} (missed)"


def _reached(record: Record) -> bool:
    """The error is below the tolerance, up to what its being relative may mean."""
    return record["seconds"] is not None and record["error"] <= SLACK * record["tolerance"]


def _ratio(found: dict[str, Record], name: str) -> str:
    pair = [found[m] for m in (name, "ours") if m in found and _reached(found[m])]
    return f"{name} {pair[0]['seconds'] / pair[1]['seconds']:.2g}" if len(pair) == 2 else "-"


def plot(results: ResultFile, out: Path) -> list[Path]:
    """CPU time and memory against N."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for name, label, colour in CONTESTANTS:
        for tolerance, style in zip(TOLERANCES, (":", "--", "-"), strict=True):
            lines = sorted(
                (r["N"], r["seconds"], r["megabytes"])
                for r in results
                if (r["method"], r["tolerance"]) == (name, tolerance) and r["seconds"] is not None
            )
            if lines:
                N, seconds, megabytes = np.array(lines).T
                text = label if style == "-" else None
                axes[0].loglog(N, seconds, style, color=colour, label=text, marker=".")
                axes[1].loglog(N, megabytes, style, color=colour, marker=".")
    axes[0].set_ylabel("CPU seconds")
    axes[1].set_ylabel("peak memory, MB")
    for ax in axes:
        ax.set_xlabel("scenarios; lines: tolerance 1e-2 dotted, 1e-3 dashed, 1e-5 solid")
        ax.grid(alpha=0.3)
    axes[0].legend(fontsize=8)
    paths = [out / f"peers{suffix}" for suffix in (".png", ".svg")]
    for path in paths:
        figure.savefig(path, dpi=110, metadata={"Date": None} if path.suffix == ".svg" else None)
    return paths


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m benchmarks.peers",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("command", choices=("run", "table", "plot"))
    parser.add_argument("--quick", action="store_true", help="small numbers of scenarios")
    parser.add_argument("--peer-bin", type=Path, default=Path(sys.executable).parent)
    parser.add_argument("--time-limit", type=float, default=TIME_LIMIT, help="seconds, each")
    parser.add_argument("--sizes", nargs="+", type=int)
    parser.add_argument("--tolerances", nargs="+", type=float, default=TOLERANCES)
    parser.add_argument("--methods", nargs="+", choices=[name for name, *_ in CONTESTANTS])
    parser.add_argument("--results", type=Path, help="the result file (JSON lines)")
    parser.add_argument("--out", type=Path, help="directory for table and figure")
    return parser


if __name__ == "__main__":
    sys.exit(main())
