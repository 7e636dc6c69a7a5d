"""What size costs.

    python -m benchmarks.large rows [--folder DIR] [--largest 10000000]
    python -m benchmarks.large parquet [--folder DIR] [--largest 10000000] [--limit 1000]
    python -m benchmarks.large workers [--most 4]
    python -m benchmarks.large histories [--most 4]
    python -m benchmarks.large ranks [--most 4]
    python -m benchmarks.large memory [--folder DIR] [--largest 10000000] [--most 4]
    python -m benchmarks.large plan [--folder DIR] [--largest 10000000]

rows     an iteration of 64 fresh rows of a memory map, for 10^3 ... rows of 20 columns; then of a
         file that is not in memory, of 64 and of 4096 rows: the mean, and the longest
parquet  a solve of a Parquet table of 20 columns to 1e-6 in a process of so many megabytes
workers  a batch of 64 rows, and evaluate, with a simulator that takes 5 ms a row
histories  digests of the results of six models on 1, 2, ... MPI ranks
ranks    passes through 10^6 rows and small models on several ranks
memory   a table in a file, of which every rank holds its rows
plan     the constants of this machine, and what they make of 10^10 rows
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from benchmarks.large import plan, ranks, simulators, tables

COMMANDS = {"rows": tables.rows, "parquet": tables.parquet, "workers": simulators.workers,
            "histories": ranks.histories, "ranks": ranks.ranks, "memory": ranks.memory,
            "plan": plan.plan}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=COMMANDS)
    parser.add_argument("--folder", type=Path, help="where tables are kept for the next time")
    parser.add_argument("--largest", type=int, default=10**7, help="rows of the largest table")
    parser.add_argument("--most", type=int, default=4, help="worker processes, or ranks")
    parser.add_argument("--limit", type=int, default=1000, help="megabytes of address space")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        args.folder = args.folder or Path(folder)
        args.folder.mkdir(exist_ok=True)
        COMMANDS[args.command](args)


if __name__ == "__main__":
    main()
