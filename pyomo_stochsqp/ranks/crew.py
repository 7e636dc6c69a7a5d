r"""Rank 0 asks, all answer: questions go down a tree of ranks, answers come up.

    rank r's children are r + 1, r + 2, r + 4, ... as long as 2^i divides r,

so that the ranks below a child follow each other, and answers are put together in the order of the
ranks: after log2(P) messages rank 0 has everything. An answer knows how to take in the one that
follows it (``with_next``).

A rank that fails answers with its trouble, which rank 0 raises. Rank 0 may leave a question at any
time, because its time is up or somebody has pressed Ctrl-C; answers that are still on their way are
thrown away before anything else is asked.
"""

from __future__ import annotations

import signal
import threading
import time
import traceback
from collections.abc import Callable
from typing import Any, NamedTuple

from ..deadline import OutOfTime
from ..errors import RankError, StochSQPError
from .waiting import receive

TAG = 1905
#: seconds that a rank goes on answering after it was asked to end: rank 0 may write a checkpoint
GRACE = 25.0


class Trouble(NamedTuple):
    """Why a rank has no answer."""

    rank: int
    #: a mistake of the user's, or out of time: raised as it is
    error: Exception | None
    #: everything else, in words
    text: str

    def raised(self) -> Exception:
        if isinstance(self.error, OutOfTime):
            return self.error
        if self.error is not None:
            return type(self.error)(f"{self.error} (on rank {self.rank})")
        return RankError(f"rank {self.rank} failed: {self.text}")


class Reply(NamedTuple):
    """What some ranks that follow each other have found."""

    found: Any
    trouble: Trouble | None = None

    def with_next(self, other: Reply) -> Reply:
        if self.trouble is not None or other.trouble is not None:
            return Reply(None, self.trouble or other.trouble)
        return Reply(self.found.with_next(other.found))


class End(NamedTuple):
    """The last message: what all ranks return, or the error that all of them raise."""

    outcome: Any = None
    error: Exception | str | None = None


class Crew:
    """The ranks of a communicator (mpi4py's, or anything with its rank, size, send, recv, iprobe,
    bcast and allgather)."""

    def __init__(self, comm: Any):
        self.comm = comm
        self.rank: int = comm.Get_rank()
        self.size: int = comm.Get_size()
        steps = [1 << i for i in range(self.size.bit_length())]
        own = self.rank & -self.rank or self.size
        #: nearest first
        self._children = [self.rank + s for s in steps if s < own and self.rank + s < self.size]
        self._parent = self.rank - own
        #: children whose answers have not arrived
        self._owing: set[int] = set()

    @property
    def alone(self) -> bool:
        return self.size == 1

    # -- rank 0 -----------------------------------------------------------------------------------

    def ask(self, question: Any, answer: Callable[[Any], Any]) -> Any:
        """The answers of all ranks to a question, put together."""
        self._drain()
        self._hand_on(question)
        self._owing.update(self._children)
        reply = self._collected(Reply(answer(question)))
        if reply.trouble is not None:
            raise reply.trouble.raised()
        return reply.found

    def dismiss(self, outcome: Any = None, error: Exception | str | None = None) -> None:
        """Let the others go, with the outcome they return or the error they raise; a text is what
        rank 0 has failed of."""
        self._drain()
        self._hand_on(End(outcome, error))

    # -- the others -------------------------------------------------------------------------------

    def serve(self, answer: Callable[[Any], Any]) -> Any:
        """Answer until rank 0 has finished; its outcome."""
        with _Signals() as signals:
            while True:
                question = receive(self.comm, self._parent, TAG, signals.look)
                self._hand_on(question)
                if isinstance(question, End):
                    if isinstance(question.error, str):
                        raise RankError(question.error)
                    if question.error is not None:
                        raise question.error
                    return question.outcome
                reply = self._collected(self._reply(question, answer))
                self.comm.send(reply, dest=self._parent, tag=TAG)

    # -- both -------------------------------------------------------------------------------------

    def _hand_on(self, message: Any) -> None:
        for child in reversed(self._children):
            self.comm.send(message, dest=child, tag=TAG)

    def _collected(self, reply: Reply) -> Reply:
        for child in self._children:
            theirs = receive(self.comm, child, TAG)
            self._owing.discard(child)
            reply = reply.with_next(theirs)
        return reply

    def _drain(self) -> None:
        while self._owing:
            child = min(self._owing)
            receive(self.comm, child, TAG)
            self._owing.discard(child)

    def _reply(self, question: Any, answer: Callable[[Any], Any]) -> Reply:
        try:
            return Reply(answer(question))
        except (StochSQPError, OutOfTime) as error:
            return Reply(None, Trouble(self.rank, error, ""))
        except Exception as error:
            text = f"{error!r}\n{traceback.format_exc()}"
            return Reply(None, Trouble(self.rank, None, text))


class _Signals:
    """While a rank serves, Ctrl-C is rank 0's business, and so is a request to end, for a while."""

    def __enter__(self) -> _Signals:
        self._ends = float("inf")
        self._before: dict[signal.Signals, Any] = {}
        if threading.current_thread() is threading.main_thread():
            self._before[signal.SIGINT] = signal.signal(signal.SIGINT, signal.SIG_IGN)
            self._before[signal.SIGTERM] = signal.signal(signal.SIGTERM, self._asked)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            if handler is not None:  # None: not installed by Python, so it cannot be put back
                signal.signal(number, handler)
        self._before.clear()

    def _asked(self, number: int, frame: Any) -> None:
        self._ends = min(self._ends, time.monotonic() + GRACE)

    def look(self) -> None:
        """Between two looks for a message."""
        if time.monotonic() > self._ends:
            self.__exit__()
            signal.raise_signal(signal.SIGTERM)
