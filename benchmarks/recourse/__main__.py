r"""Smooth nonlinear recourse: derivatives, answers, what certificates take.

    python -m benchmarks.recourse                gradients and Hessians against differences
    python -m benchmarks.recourse certified      closed forms, certified to --gap (1e-4)
    python -m benchmarks.recourse extensive      the same samples as an extensive form

CPU seconds; ``--seeds`` is the number of them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from . import tables

COMMANDS = {
    "derivatives": tables.derivatives,
    "certified": tables.certified,
    "extensive": tables.extensive,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; the exit code is the number of errors that certificates do not cover."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks.recourse",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("command", nargs="?", default="derivatives", choices=COMMANDS)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--gap", type=float, default=1e-4)
    given = parser.parse_args(arguments)
    return COMMANDS[given.command](given)


if __name__ == "__main__":
    sys.exit(main())
