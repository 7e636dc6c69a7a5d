r"""The time limit of the solve that is running, asked from anywhere.

Long work happens in many rooms: compiling, drawing and averaging a large sample, a quadratic
program, a certificate. Each asks :func:`check_time` between two pieces of it, and whoever set the
limit catches :class:`OutOfTime` and goes on with what is known so far. A signal can end the time at
once (:func:`end_now`): its handler runs in the main thread, whatever that is doing.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf


class OutOfTime(Exception):
    """The time limit has passed. Never reaches the user."""


class _Limit:
    """When the time is over."""

    __slots__ = ("at",)

    def __init__(self, at: float):
        self.at = at


_limit: ContextVar[_Limit] = ContextVar("limit", default=_Limit(inf))  # noqa: B039
#: those that the main thread works under
_of_main_thread: list[_Limit] = []


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Work inside may take so many seconds (or less, if an outer limit ends before)."""
    limit = _Limit(min(time.perf_counter() + seconds, _limit.get().at))
    token = _limit.set(limit)
    in_main = threading.current_thread() is threading.main_thread()
    if in_main:
        _of_main_thread.append(limit)
    try:
        yield
    finally:
        _limit.reset(token)
        if in_main:
            _of_main_thread.remove(limit)


def end_now() -> None:
    """Time is over for what the main thread does inside of the innermost limit."""
    if _of_main_thread:
        _of_main_thread[-1].at = -inf


def seconds_left() -> float:
    """Until the time limit."""
    return _limit.get().at - time.perf_counter()


def check_time() -> None:
    """Raise if the time limit has passed."""
    if time.perf_counter() > _limit.get().at:
        raise OutOfTime
