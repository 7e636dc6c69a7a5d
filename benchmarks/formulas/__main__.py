r"""Formulas of expectations and functionals, against exact answers.

python -m benchmarks.formulas tables [models]          19 formulas over 20,000 rows, against SLSQP
python -m benchmarks.formulas distributions [models]   the same over a distribution, default options
python -m benchmarks.formulas chance                   chance constraints from all kinds of starts
python -m benchmarks.formulas bias                     small batches, with and without the jackknife
python -m benchmarks.formulas rounding                 what rounding kinks off costs
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from benchmarks.pool import one_thread

one_thread()

from benchmarks.formulas import bias, checks, rounded  # noqa: E402


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns 1 if something was wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.formulas", description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)  # fmt: skip
    parser.add_argument("what", choices=("tables", "distributions", "chance", "bias", "rounding"))
    parser.add_argument("models", nargs="*")
    parser.add_argument("--seeds", type=int, help="seeds (distributions 3, chance 8)")
    parser.add_argument("--batches", type=int, default=20_000, help="batches of 16 for 'bias'")
    given = parser.parse_args(arguments)
    if given.what == "tables":
        return int(checks.tables(given.models) > 0)
    if given.what == "distributions":
        return int(checks.distributions(given.models, given.seeds or 3) > 0)
    if given.what == "chance":
        return int(checks.chances(given.seeds or 8) > 0)
    if given.what == "bias":
        bias.run(given.batches)
    else:
        rounded.run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
