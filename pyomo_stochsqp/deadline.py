"""The time limit of the solve that is running, asked from anywhere.

Long work happens in many rooms: compiling, drawing and averaging a large sample, a quadratic
program, a certificate. Each asks :func:`check_time` between two pieces of it, and whoever set the
limit catches :class:`OutOfTime` and goes on with what is known so far.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf


class OutOfTime(Exception):
    """The time limit has passed. Never reaches the user."""


_deadline: ContextVar[float] = ContextVar("deadline", default=inf)


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Work inside may take so many seconds (or less, if an outer limit ends before)."""
    token = _deadline.set(min(time.perf_counter() + seconds, _deadline.get()))
    try:
        yield
    finally:
        _deadline.reset(token)


def seconds_left() -> float:
    """Until the time limit."""
    return _deadline.get() - time.perf_counter()


def check_time() -> None:
    """Raise if the time limit has passed."""
    if time.perf_counter() > _deadline.get():
        raise OutOfTime
