r"""Inequalities, bounds and curvature, measured against thresholds.

python -m benchmarks.inequalities sampled      fourteen problems with the paper's noise
python -m benchmarks.inequalities dependent    dependent rows with independent noise
python -m benchmarks.inequalities curvature    iterations on ill-conditioned problems, by rule for H
python -m benchmarks.inequalities nonconvex    nonconvex problems without noise, at defaults
... --quick                                    fewer seeds and iterations
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from benchmarks.pool import one_thread

one_thread()

from benchmarks.inequalities import curvature, dependent, deterministic, noise  # noqa: E402
from benchmarks.inequalities.nonconvex_problems import NONCONVEX  # noqa: E402
from benchmarks.inequalities.sampled_problems import SAMPLED  # noqa: E402

QUICK_ITERATIONS = 500


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    given = _parser().parse_args(arguments)
    few = given.quick
    for command in given.commands:
        if command == "sampled":
            names = [p for p in given.problems or SAMPLED if p in SAMPLED]
            print(deterministic.study("without noise", SAMPLED, names), end="\n\n")
            print(
                noise.study(
                    names,
                    given.levels,
                    noise.SEEDS[:1] if few else noise.SEEDS,
                    QUICK_ITERATIONS if few else noise.ITERATIONS,
                    given.jobs,
                )
            )
        elif command == "dependent":
            seeds = dependent.SEEDS[:1] if few else dependent.SEEDS
            print(dependent.study(seeds, QUICK_ITERATIONS if few else dependent.ITERATIONS))
        elif command == "curvature":
            print(curvature.study(QUICK_ITERATIONS if few else curvature.ITERATIONS))
        else:
            names = [p for p in given.problems or NONCONVEX if p in NONCONVEX]
            print(deterministic.study("nonconvex, without noise", NONCONVEX, names))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m benchmarks.inequalities",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = ("sampled", "dependent", "curvature", "nonconvex")
    parser.add_argument("commands", nargs="+", choices=commands, metavar="command")
    parser.add_argument("--quick", action="store_true", help="a small version of the studies")
    parser.add_argument("--jobs", type=int, default=1, help="processes of 'sampled'")
    parser.add_argument("--levels", nargs="+", choices=noise.LEVELS, default=list(noise.LEVELS))
    parser.add_argument("--problems", nargs="+", metavar="NAME")
    return parser


if __name__ == "__main__":
    sys.exit(main())
