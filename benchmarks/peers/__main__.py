r"""Against what a user would do instead: CPU time and memory to the same error.

    python -m benchmarks.peers run [--quick]      measure what is missing
    python -m benchmarks.peers table | plot       Markdown, PNG and SVG

The contestants are described in contestants.py. Their libraries (pip: pounce-solver, casadi) belong
to the environment that runs this; a contestant whose library is missing is left out. One that ran
out of time or memory is not tried with more rows.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.peers.contestants import CONTESTANTS
from benchmarks.peers.families import FAMILIES
from benchmarks.peers.tables import plot, table
from benchmarks.pool import THREADS
from benchmarks.store import Record, ResultFile, short

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "results"
SIZES = (100, 1000, 10_000, 100_000, 1_000_000)
SCENARIOS = (10, 100, 1000, 5000)
QUICK = (100, 1000)
TOLERANCES = (1e-3, 1e-6)
#: who can solve the two-stage model
WITH_RECOURSE = ("ours", "extensive")
TIME_LIMIT = 900.0  # seconds
MEMORY_LIMIT = 16 << 30  # bytes
KEY = ("family", "contestant", "N", "tolerance")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    given = _parser().parse_args(arguments)
    kind = "peers-quick" if given.quick else "peers"
    results = ResultFile(given.results or RESULTS / f"{kind}.jsonl", KEY)
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
    for family in given.families:
        contestants = WITH_RECOURSE if family == "recourse" else tuple(CONTESTANTS)
        sizes = given.sizes or (QUICK if given.quick else SIZES)
        if family == "recourse" and not given.sizes:
            sizes = QUICK if given.quick else SCENARIOS
        for rows in sizes:
            for name in contestants:
                if (given.contestants and name not in given.contestants) or not _installed(name):
                    continue
                for tolerance in given.tolerances:
                    known = (family, name, rows, tolerance) in results
                    if not known and not _gave_up(results, family, name, rows):
                        record = measured(name, family, rows, tolerance, given.time_limit)
                        results.append(record)
                        print(json.dumps(record), file=sys.stderr, flush=True)


def _installed(name: str) -> bool:
    return all(importlib.util.find_spec(library) for library in CONTESTANTS[name][1])


def _gave_up(results: ResultFile, family: str, name: str, rows: int) -> bool:
    """Whether a contestant ran out of time or memory with so many rows or fewer."""
    return any(
        (r["family"], r["contestant"]) == (family, name) and r["seconds"] is None and r["N"] <= rows
        for r in results
    )


def measured(name: str, family: str, rows: int, tolerance: float, limit: float) -> Record:
    """One measurement; a run that is killed or does not end in time has seconds = None."""
    record: Record = dict(zip(KEY, (family, name, rows, tolerance), strict=True))
    missing: Record = {"seconds": None, "megabytes": None}
    command = [sys.executable, "-m", "benchmarks.peers.measure", name, family, str(rows)]
    try:
        done = subprocess.run(
            [*command, str(tolerance)], cwd=ROOT, env=os.environ | dict.fromkeys(THREADS, "1"),
            capture_output=True, text=True, timeout=limit,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT)),
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return record | missing | {"why": f"more than {limit:g} s"}
    if done.returncode < 0 or "MemoryError" in done.stderr:
        return record | missing | {"why": f"more than {MEMORY_LIMIT >> 30} GB"}
    if done.returncode > 0:
        return record | missing | {"why": "failed"}
    return record | short(json.loads(done.stdout.strip().splitlines()[-1]), 6)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m benchmarks.peers",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    everything = [*FAMILIES, "recourse"]
    parser.add_argument("command", choices=("run", "table", "plot"))
    parser.add_argument("--quick", action="store_true", help="small numbers of scenarios")
    parser.add_argument("--time-limit", type=float, default=TIME_LIMIT, help="seconds, each")
    parser.add_argument("--families", nargs="+", choices=everything, default=everything)
    parser.add_argument("--sizes", nargs="+", type=int)
    parser.add_argument("--tolerances", nargs="+", type=float, default=TOLERANCES)
    parser.add_argument("--contestants", nargs="+", choices=list(CONTESTANTS))
    parser.add_argument("--results", type=Path, help="the result file (JSON lines)")
    parser.add_argument("--out", type=Path, help="directory for table and figure")
    return parser


if __name__ == "__main__":
    sys.exit(main())
