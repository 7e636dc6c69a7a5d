r"""A library's own loop, stopped between two iterations and continued on demand.

The loop runs in a thread of its own that works only while the caller waits: it hands over after
every iteration and goes on when it is asked to. So a run can log, save and interrupt a library like
any other engine. A loop that nobody asks any more is told to end.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from contextvars import copy_context
from typing import Any

#: seconds that a library gets to end
PATIENCE = 5.0


class Abandoned(BaseException):
    """Raised inside a loop that nobody will ask again."""


class _Handover:
    """What both threads share; it does not keep the caller's object alive."""

    def __init__(self) -> None:
        self.turn_of_loop = threading.Semaphore(0)
        self.turn_of_caller = threading.Semaphore(0)
        self.reported: Any = None
        self.finished: Any = None
        self.trouble: BaseException | None = None
        self.done = False
        self.abandoned = False

    def report(self, item: Any) -> None:
        """Called by the loop after an iteration."""
        self.reported = item
        self.turn_of_caller.release()
        self.turn_of_loop.acquire()
        if self.abandoned:
            raise Abandoned


class Stepping:
    """``loop(report)`` calls report(item) after every iteration and returns a result."""

    def __init__(self, loop: Callable[[Callable[[Any], None]], Any]):
        self._shared = shared = _Handover()
        context = copy_context()  # time limits and floating-point settings are the caller's

        def work() -> None:
            shared.turn_of_loop.acquire()
            try:
                if not shared.abandoned:
                    shared.finished = loop(shared.report)
            except BaseException as trouble:
                shared.trouble = trouble
            shared.done = True
            shared.turn_of_caller.release()

        thread = threading.Thread(target=context.run, args=(work,), daemon=True)
        thread.start()
        weakref.finalize(self, _abandon, shared, thread)

    def advance(self) -> tuple[Any, bool]:
        """(item of the next iteration, False), or (result, True) at the end."""
        shared = self._shared
        if not shared.done:
            shared.turn_of_loop.release()
            shared.turn_of_caller.acquire()
        if shared.trouble is not None:
            raise shared.trouble
        return (shared.finished, True) if shared.done else (shared.reported, False)


def _abandon(shared: _Handover, thread: threading.Thread) -> None:
    """End the loop, and wait for it: at the interpreter's end, too, because a thread that is torn
    out of a library's code takes the process with it."""
    shared.abandoned = True
    shared.turn_of_loop.release()
    if thread is not threading.current_thread():
        thread.join(PATIENCE)
