r"""The paper's second study: constrained classification on five LIBSVM data sets.

python -m benchmarks.libsvm run --data-dir DIR     run what is missing in the result file
python -m benchmarks.libsvm table                  Table 2 beside ours, in Markdown
... --reading matching                             the reading that gives the paper's numbers
... --quick                                        two data sets, one pair: under two minutes
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.pool import one_thread

one_thread()

from benchmarks.libsvm import tables  # noqa: E402
from benchmarks.libsvm.data import ADDRESS, DATA_SETS, available, write_made_up  # noqa: E402
from benchmarks.libsvm.readings import READINGS  # noqa: E402
from benchmarks.libsvm.run import BATCHES, METHODS, Plan, run_missing  # noqa: E402
from benchmarks.store import ResultFile  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "results"
ITERATIONS, QUICK_ITERATIONS = 10_000, 1000
SEEDS = 5
QUICK_DATA = ("ionosphere", "sonar")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    given = _parser().parse_args(arguments)
    kind = "libsvm-quick" if given.quick else "libsvm"
    results = tables.open_results(given.results or RESULTS / f"{kind}.jsonl")
    if given.command == "run":
        return _run(results, given)
    if not len(results):
        print(f"{results.path} holds no results; run 'python -m benchmarks.libsvm run' first.")
        return 1
    out = Path(given.out or RESULTS / kind)
    out.mkdir(parents=True, exist_ok=True)
    print("\n".join(str(path) for path in tables.write(results, out)))
    return 0


def _run(results: ResultFile, given: argparse.Namespace) -> int:
    plan = _plan(given)
    with TemporaryDirectory() as spare:
        directory = str(given.data_dir)
        if given.quick and not all(available(name, directory) for name in plan.data):
            print(
                f"{directory} lacks data ({ADDRESS}): a trial run on made-up numbers of the same "
                "dimensions, not comparable with the paper.",
                file=sys.stderr,
            )
            directory = spare
            for name in plan.data:
                write_made_up(name, directory)
        try:
            run_missing(results, plan, directory, given.jobs)
        except FileNotFoundError as error:
            print(error, file=sys.stderr)
            return 1
    return 0


def _plan(given: argparse.Namespace) -> Plan:
    return Plan(
        methods=tuple(given.methods or METHODS),
        data=tuple(given.data or (QUICK_DATA if given.quick else DATA_SETS)),
        batches=BATCHES[-1:] if given.quick else BATCHES,
        seeds=tuple(given.seeds or range(1, 2 if given.quick else SEEDS + 1)),
        reading=given.reading,
        beta=given.beta,
        iterations=given.iterations or (QUICK_ITERATIONS if given.quick else ITERATIONS),
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m benchmarks.libsvm",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("command", choices=("run", "table"))
    parser.add_argument("--quick", action="store_true", help="a small version of the study")
    parser.add_argument(
        "--data-dir", type=Path, default=ROOT / "data" / "libsvm",
        help=f"where the LIBSVM files are; they come from {ADDRESS}",
    )  # fmt: skip
    parser.add_argument("--reading", choices=list(READINGS), default="literal")
    parser.add_argument("--beta", default="1", help="a number, or 'diminishing'")
    parser.add_argument("--results", type=Path, help="the result file (JSON lines)")
    parser.add_argument("--out", type=Path, help="directory for tables")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--iterations", type=int, help=f"instead of {ITERATIONS}")
    parser.add_argument("--methods", nargs="+", choices=METHODS)
    parser.add_argument("--data", nargs="+", choices=list(DATA_SETS))
    parser.add_argument("--seeds", nargs="+", type=int)
    return parser


if __name__ == "__main__":
    sys.exit(main())
