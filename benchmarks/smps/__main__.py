r"""The public two-stage test set: certified gaps beside reference values and beside other ways.

    python -m benchmarks.smps --data-dir DIR             ours, some seeds
    python -m benchmarks.smps --data-dir DIR extensive   the plain extensive form by HiGHS
    python -m benchmarks.smps --data-dir DIR mpisppy     mpi-sppy's decision and interval
    python -m benchmarks.smps --data-dir DIR coverage    lands, gbd: how often gaps cover the truth
    python -m benchmarks.smps --data-dir DIR policy      microseconds per re-solved scenario

DIR holds one directory per instance, with its core, time and stochastic file; the set is in the
archive vitaut-archive/splib (folder wright). ``--only`` takes names, ``--seeds`` their number.
Needs highspy; ``mpisppy`` needs mpi-sppy beside it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from . import tables
from .instances import INSTANCES

COMMANDS = {
    "solve": tables.solve,
    "extensive": tables.extensive,
    "mpisppy": tables.mpisppy,
    "coverage": tables.coverage,
    "policy": tables.policy,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; the exit code is the number of gaps that miss the truth."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks.smps",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("command", nargs="?", default="solve", choices=COMMANDS)
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--only", nargs="+", choices=list(INSTANCES))
    parser.add_argument("--seeds", type=int, help="so many, from 0 on")
    parser.add_argument("--gap", type=float, help="relative gap instead of the instance's own")
    parser.add_argument("--limit", type=float, help="seconds per run instead of the instance's own")
    given = parser.parse_args(arguments)
    missing = [n for n in given.only or INSTANCES if not (given.data_dir / n).is_dir()]
    if missing:
        parser.error(f"{given.data_dir} has no directory {missing[0]}")
    return COMMANDS[given.command](given)


if __name__ == "__main__":
    sys.exit(main())
