r"""The paper's first study: 44 CUTEst problems with Gaussian noise.

python -m benchmarks.cutest run      run what is missing in the result file
python -m benchmarks.cutest plot     box plots, histogram of tau, data profiles (PNG and SVG)
python -m benchmarks.cutest table    medians and validity of the assumption, in Markdown
... --quick                          six problems, three settings, one seed: under two minutes
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.pool import one_thread

one_thread()

from benchmarks.cutest import plots, tables  # noqa: E402
from benchmarks.cutest.run import METHODS, Plan, run_missing  # noqa: E402
from benchmarks.cutest.settings import (  # noqa: E402
    ITERATIONS,
    LARGE,
    QUICK_PROBLEMS,
    QUICK_SETTINGS,
    SEEDS,
    SETTINGS,
    SMALL,
)
from benchmarks.cutest.summary import open_results  # noqa: E402

RESULTS = Path(__file__).resolve().parents[1] / "results"
QUICK_ITERATIONS = 400


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    given = _parser().parse_args(arguments)
    kind = "cutest-quick" if given.quick else "cutest"
    results = open_results(given.results or RESULTS / f"{kind}.jsonl")
    if given.command == "run":
        run_missing(results, _plan(given), given.jobs)
        return 0
    if not len(results):
        print(f"{results.path} holds no results; run 'python -m benchmarks.cutest run' first.")
        return 1
    out = Path(given.out or RESULTS / kind)
    out.mkdir(parents=True, exist_ok=True)
    made = (plots if given.command == "plot" else tables).write(results, out)
    print("\n".join(str(path) for path in made))
    return 0


def _plan(given: argparse.Namespace) -> Plan:
    problems = QUICK_PROBLEMS if given.quick else SMALL + (LARGE if given.large else ())
    settings = [s.name for s in QUICK_SETTINGS] if given.quick else list(SETTINGS)
    return Plan(
        methods=tuple(given.methods or METHODS),
        problems=tuple(given.problems or problems),
        settings=tuple(given.settings or settings),
        seeds=tuple(given.seeds or range(1, 2 if given.quick else SEEDS + 1)),
        iterations=given.iterations or (QUICK_ITERATIONS if given.quick else ITERATIONS),
        quick=given.quick,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m benchmarks.cutest",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("command", choices=("run", "plot", "table"))
    parser.add_argument("--quick", action="store_true", help="a small version of the study")
    parser.add_argument("--results", type=Path, help="the result file (JSON lines)")
    parser.add_argument("--out", type=Path, help="directory for figures and tables")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--large", action="store_true", help=f"also {' and '.join(LARGE)}")
    parser.add_argument("--iterations", type=int, help=f"instead of {ITERATIONS}")
    parser.add_argument("--methods", nargs="+", choices=METHODS)
    parser.add_argument("--problems", nargs="+", choices=SMALL + LARGE, metavar="NAME")
    parser.add_argument("--settings", nargs="+", choices=list(SETTINGS), metavar="NAME")
    parser.add_argument("--seeds", nargs="+", type=int)
    return parser


if __name__ == "__main__":
    sys.exit(main())
