"""A communicator whose ranks are threads: the part of mpi4py's that a crew uses."""

from __future__ import annotations

import pickle
import threading
from collections import defaultdict, deque
from collections.abc import Callable
from typing import Any


class _Ranks:
    """What the threads share."""

    def __init__(self, size: int):
        self.size = size
        self.boxes: dict[Any, deque[bytes]] = defaultdict(deque)
        self.barrier = threading.Barrier(size, timeout=20.0)
        self.slots: list[Any] = [None] * size
        #: messages that were sent
        self.sent = 0


class ThreadComm:
    """Rank ``rank`` of them."""

    def __init__(self, ranks: _Ranks, rank: int):
        self.ranks, self.rank = ranks, rank

    def Get_rank(self) -> int:
        return self.rank

    def Get_size(self) -> int:
        return self.ranks.size

    def send(self, message: Any, dest: int, tag: int) -> None:
        self.ranks.boxes[self.rank, dest, tag].append(pickle.dumps(message))
        self.ranks.sent += 1

    def iprobe(self, source: int, tag: int) -> bool:
        return bool(self.ranks.boxes[source, self.rank, tag])

    def recv(self, source: int, tag: int) -> Any:
        return pickle.loads(self.ranks.boxes[source, self.rank, tag].popleft())

    def allgather(self, value: Any) -> list[Any]:
        self.ranks.slots[self.rank] = value
        self.ranks.barrier.wait()
        found = list(self.ranks.slots)
        self.ranks.barrier.wait()
        return found

    def bcast(self, value: Any, root: int) -> Any:
        return self.allgather(value)[root]


def on_ranks(size: int, work: Callable[[ThreadComm], Any]) -> tuple[list[Any], int]:
    """What ``work`` returns, or the error it raises, on every rank; messages that were sent."""
    ranks = _Ranks(size)
    results: list[Any] = [None] * size

    def run(rank: int) -> None:
        try:
            results[rank] = work(ThreadComm(ranks, rank))
        except Exception as error:
            results[rank] = error

    threads = [threading.Thread(target=run, args=(r,), daemon=True) for r in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30.0)
    assert not any(thread.is_alive() for thread in threads), "a rank hangs"
    return results, ranks.sent
