r"""Receiving messages without keeping a core busy.

MPI's own receive spins, and a rank that spins takes a core from somebody who works. Here a rank
looks for the message, at once and again for a moment; then it sleeps between two looks for a
fiftieth of the time it has waited so far. So waiting costs little, and is never prolonged by more
than that share.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

#: seconds of looking without sleep; the share of the time waited that a sleep takes, and its end
AT_ONCE, SHARE, LONGEST = 5e-4, 0.02, 1e-3


def receive(comm: Any, source: int, tag: int, between: Callable[[], None] | None = None) -> Any:
    """The next message from a rank; ``between`` is called between two looks."""
    began = time.perf_counter()
    while not comm.iprobe(source=source, tag=tag):
        if between is not None:
            between()
        waited = time.perf_counter() - began
        if waited < AT_ONCE:
            os.sched_yield() if hasattr(os, "sched_yield") else time.sleep(0.0)
        else:
            time.sleep(min(SHARE * waited, LONGEST))
    return comm.recv(source=source, tag=tag)
