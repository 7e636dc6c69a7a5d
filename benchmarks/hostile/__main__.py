r"""Is anything lost, misread or let in?

python -m benchmarks.hostile declarations     bad data and bad models
python -m benchmarks.hostile expressions      20,000 random expressions by NumPy, 20,000 by numba
python -m benchmarks.hostile damage           500 damaged checkpoints
python -m benchmarks.hostile kills            50 kills of runs in stages
python -m benchmarks.hostile writes           every call that a checkpoint makes fails
python -m benchmarks.hostile signals          Ctrl-C and SIGTERM in every room of the package
python -m benchmarks.hostile soak             20 minutes of solves; --seconds for another time

Every campaign takes --seed (the first of them) and --seeds, prints its figures, and ends with 1 if
anything went wrong.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

from benchmarks.pool import one_thread

one_thread()

from benchmarks.hostile import (  # noqa: E402
    damage,
    declarations,
    expressions,
    kills,
    signals,
    soak,
    writes,
)

#: name -> report(seed, verbose), which returns how much went wrong
CAMPAIGNS: dict[str, Callable[[int, bool], int]] = {
    "declarations": declarations.report,
    "expressions": expressions.report,
    "damage": damage.report,
    "kills": kills.report,
    "writes": writes.report,
    "signals": signals.report,
    "soak": soak.report,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns 1 if anything went wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.hostile", description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)  # fmt: skip
    parser.add_argument("what", choices=list(CAMPAIGNS))
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--seeds", type=int, default=1, help="how many")
    parser.add_argument("--seconds", type=float, default=soak.SECONDS, help="of the soak")
    parser.add_argument("--verbose", action="store_true")
    given = parser.parse_args(arguments)
    soak.SECONDS = given.seconds
    seeds = range(given.seed, given.seed + given.seeds)
    return int(sum(CAMPAIGNS[given.what](seed, given.verbose) for seed in seeds) > 0)


if __name__ == "__main__":
    sys.exit(main())
