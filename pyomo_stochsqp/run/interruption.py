r"""Ctrl-C and termination requests during a run.

SIGINT ends the run after the current iteration, with the best point so far; a second one interrupts
at once. SIGTERM, if the run keeps a checkpoint, lets the current iteration finish, writes the
checkpoint and is then delivered again to whoever handled it before (by default: the process ends).
Handlers exist only in the main thread and only during the run.
"""

from __future__ import annotations

import os
import signal
import threading
from types import FrameType, TracebackType
from typing import Any

from . import Progress
from .checkpoint import Keeper


class Interruption:
    """Context of a run, and an observer of the loop."""

    def __init__(self, keeper: Keeper | None):
        self._keeper = keeper
        self._asked: int | None = None
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Interruption:
        if threading.current_thread() is threading.main_thread():
            self._take(signal.SIGINT)
            if self._keeper is not None:
                self._take(signal.SIGTERM)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before.clear()

    def __call__(self, progress: Progress) -> str | None:
        if self._asked is None:
            return None
        if self._asked == signal.SIGTERM and self._keeper is not None:
            self._keeper.keep(progress)
            self.__exit__(None, None, None)
            os.kill(os.getpid(), signal.SIGTERM)
            return "a termination request (SIGTERM) was received"
        return "Ctrl-C was pressed"

    def _take(self, number: signal.Signals) -> None:
        handler = signal.getsignal(number)
        if handler is not None:  # None: not installed by Python, so it could not be put back
            self._before[number] = handler
            signal.signal(number, self._handle)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self._asked == signal.SIGINT and number == signal.SIGINT:
            raise KeyboardInterrupt
        self._asked = number
