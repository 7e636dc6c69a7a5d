r"""Replicates, divided among the ranks of an MPI communicator: rank r takes r, r + size, ...

All ranks make the same run and come to the same decisions, for what they decide from is gathered.
What depends on time, rank 0 decides. Ctrl-C reaches some rank, or all of them, at any moment; it is
heard of where the ranks meet, by all, so that none waits for one that has left.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from ..deadline import OutOfTime
from ..errors import RankError, StochSQPError

Item = TypeVar("Item")
Found = TypeVar("Found")


class SharedWork:
    """The ranks of one solve; without a communicator there is one."""

    def __init__(self, comm: Any = None):
        self._comm = None if comm is None or comm.Get_size() == 1 else comm
        self.rank = 0 if self._comm is None else int(self._comm.Get_rank())
        self.size = 1 if self._comm is None else int(self._comm.Get_size())
        self._interrupted = False

    @contextmanager
    def patiently(self) -> Iterator[None]:
        """Inside, Ctrl-C is heard of where the ranks meet."""
        if self._comm is None or threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.getsignal(signal.SIGINT)
        signal.signal(signal.SIGINT, self._note)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def _note(self, number: int, frame: Any) -> None:
        self._interrupted = True

    def each(self, work: Callable[[Item], Found], items: Sequence[Item]) -> list[Found]:
        """``work`` of every item, in their order. What any rank raises, all do."""
        if self._comm is None:
            return [work(item) for item in items]
        fault: BaseException | None = None
        mine: list[Found] = []
        try:
            mine = [work(item) for item in items[self.rank :: self.size]]
        except (Exception, KeyboardInterrupt) as error:
            fault = error
        if self._interrupted:
            fault = KeyboardInterrupt()
        gathered = self._comm.allgather((mine, fault if _can_travel(fault) else repr(fault)))
        faults = [(r, f) for r, (_, f) in enumerate(gathered) if f is not None]
        if faults:
            self._raise(fault, faults)
        return [gathered[i % self.size][0][i // self.size] for i in range(len(items))]

    def _raise(self, mine: BaseException | None, faults: Sequence[tuple[int, Any]]) -> None:
        """The gravest of what the ranks have met; of the user's mistakes, the own one first."""
        rank, worst = min(faults, key=lambda fault: _order(fault[1]))
        if mine is not None and _order(mine) == _order(worst):
            raise mine
        if isinstance(worst, (OutOfTime, KeyboardInterrupt)):
            raise worst
        if isinstance(worst, StochSQPError):
            raise type(worst)(f"{worst} (on rank {rank})")
        raise RankError(f"rank {rank} failed: {worst}")

    def any_of(self, value: Any) -> Any:
        """That of the first rank that has one."""
        values = [value] if self._comm is None else self._comm.allgather(value)
        return next((v for v in values if v is not None), None)

    def agreed(self, value: Any) -> Any:
        """Rank 0's."""
        return value if self._comm is None else self._comm.bcast(value, root=0)


def _can_travel(fault: BaseException | None) -> bool:
    """Whether it says the same on another rank."""
    return fault is None or isinstance(fault, (StochSQPError, OutOfTime, KeyboardInterrupt))


def _order(fault: Any) -> int:
    """Mistakes before Ctrl-C, and that before the end of the time."""
    return 2 if isinstance(fault, OutOfTime) else int(isinstance(fault, KeyboardInterrupt))
