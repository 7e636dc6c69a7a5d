r"""Is the last line of a run good news, and true?

python -m benchmarks.trust endings [models]   gallery and more at default options
python -m benchmarks.trust random             500 random models: is an optimal end ever wrong?
python -m benchmarks.trust coverage           do the bounds hold, over 200 seeds?
python -m benchmarks.trust efficiency         how much of what was drawn is in the answer?
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from benchmarks.pool import one_thread

one_thread()

from benchmarks.trust import coverage, efficiency, endings, random_check  # noqa: E402


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns 1 if something was wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.trust", description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)  # fmt: skip
    parser.add_argument("what", choices=("endings", "random", "coverage", "efficiency"))
    parser.add_argument("models", nargs="*", help="models of 'endings'")
    parser.add_argument("--seeds", type=int, help="seeds (endings 3, others 200), or random models")
    parser.add_argument("--first", type=int, default=0, help="number of the first random model")
    parser.add_argument("--verbose", action="store_true")
    given = parser.parse_args(arguments)
    if given.what == "endings":
        return int(endings.table(endings.rows(given.seeds or 3, given.models)) > 0)
    if given.what == "random":
        return int(random_check.run(given.first, given.seeds or 500, given.verbose) > 0)
    if given.what == "coverage":
        coverage.run(given.seeds or 200)
    else:
        efficiency.run(given.seeds or 200)
    return 0


if __name__ == "__main__":
    sys.exit(main())
