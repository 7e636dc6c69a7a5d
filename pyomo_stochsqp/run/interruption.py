r"""Ctrl-C and termination requests during a run.

SIGINT ends the run after the current iteration, with the best point so far; a second one interrupts
at once. SIGTERM, if the run keeps a checkpoint, lets the current iteration finish, writes the
checkpoint and is then delivered again to whoever handled it before (by default: the process ends).
After the last iteration, when the checkpoint is written and only the last certificates are being
made, SIGINT leaves them out, and SIGTERM is passed on at once. Handlers exist only in the main
thread and only during the run.
"""

from __future__ import annotations

import os
import signal
import threading
from types import FrameType, TracebackType
from typing import Any

from ..deadline import end_now
from . import Progress
from .checkpoint import Keeper


class Interruption:
    """Context of a run, and an observer of the loop."""

    def __init__(self, keeper: Keeper | None):
        self._keeper = keeper
        self._asked: int | None = None
        self._before: dict[int, Any] = {}
        self._at_the_end = False
        #: Ctrl-C has cut the last certificates short
        self.cut = False

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
            self._pass_on()
            return "a termination request (SIGTERM) was received"
        return "Ctrl-C was pressed"

    def at_the_end(self, progress: Progress) -> None:
        """The last iteration is made: what is left may be left out."""
        if self._keeper is not None:
            self._keeper.keep(progress)
        self._at_the_end = True
        if self._asked == signal.SIGTERM:
            self._pass_on()

    def _pass_on(self) -> None:
        """SIGTERM, to whoever handles it without a run."""
        self.__exit__(None, None, None)
        self._asked = None
        os.kill(os.getpid(), signal.SIGTERM)

    def _take(self, number: signal.Signals) -> None:
        handler = signal.getsignal(number)
        if handler is not None:  # None: not installed by Python, so it could not be put back
            self._before[number] = handler
            signal.signal(number, self._handle)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self._at_the_end:
            if number == signal.SIGTERM:
                self._pass_on()
            elif self.cut:
                raise KeyboardInterrupt
            else:
                self.cut = True
                end_now()
            return
        if self._asked == signal.SIGINT and number == signal.SIGINT:
            raise KeyboardInterrupt
        self._asked = number
