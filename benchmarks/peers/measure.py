r"""One measurement, in a process of its own: seconds, peak memory, error.

    python -m benchmarks.peers.measure CONTESTANT FAMILY N TOLERANCE        prints one JSON line

The data are there, and libraries imported, before the clock starts; one small model has been solved
to the end, because a first solve imports more. CPU seconds are those of the process and of the
programs it starts; small models are solved several times, and the least counts.

Everybody's own tolerance means something else. The loosest one counts with which a contestant
reaches the wanted error, although its user would have to guess it.
"""

from __future__ import annotations

import json
import resource
import sys
from importlib import import_module
from time import process_time
from typing import Any

from benchmarks.pool import one_thread

one_thread()

from benchmarks.peers import recourse  # noqa: E402
from benchmarks.peers.contestants import (  # noqa: E402
    CONTESTANTS,
    children_seconds,
    with_programs,
)
from benchmarks.peers.families import FAMILIES  # noqa: E402
from benchmarks.peers.kkt import kkt_error  # noqa: E402

#: solves are repeated as long as all of them together take no longer
WORTH_REPEATING, REPEATS = 2.0, 5
#: rows of the model that is solved first
FEW = 50


def measure(contestant: str, family: str, rows: int, tolerance: float) -> dict[str, Any]:
    solve, libraries = CONTESTANTS[contestant]
    with_programs()
    for library in libraries:
        import_module(library)
    seconds = []
    if family == "recourse":
        recourse.solved(contestant, 2, tolerance)
        while _again(seconds):
            began = _now()
            m = recourse.solved(contestant, rows, tolerance)
            seconds.append(_now() - began)
        return {"seconds": min(seconds), "megabytes": _megabytes(), **recourse.judged(m)}
    solve(FAMILIES[family](FEW), tolerance)
    model = FAMILIES[family](rows)
    for own in (tolerance, 1e-1 * tolerance, 1e-2 * tolerance, 1e-3 * tolerance):
        seconds = []
        while _again(seconds):
            began = _now()
            x = solve(model, own)
            seconds.append(_now() - began)
        megabytes = _megabytes()
        model.prepare()
        error = kkt_error(model, x)
        if error <= tolerance:
            break
    return {"seconds": min(seconds), "megabytes": megabytes, "error": error}


def _again(seconds: list[float]) -> bool:
    return not seconds or (len(seconds) < REPEATS and sum(seconds) < WORTH_REPEATING)


def _now() -> float:
    return process_time() + children_seconds()


def _megabytes() -> float:
    """The peak of this process or of a program it started, whichever is larger."""
    both = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return max(resource.getrusage(who).ru_maxrss for who in both) / 1024


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4]))))
