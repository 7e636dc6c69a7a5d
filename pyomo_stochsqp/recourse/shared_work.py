r"""Replicates, divided among the ranks of an MPI communicator: rank r takes r, r + size, ...

All ranks make the same run and come to the same decisions, for what they decide from is gathered.
What depends on time, rank 0 decides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from ..deadline import OutOfTime

Item = TypeVar("Item")
Found = TypeVar("Found")


class SharedWork:
    """The ranks of one solve; without a communicator there is one."""

    def __init__(self, comm: Any = None):
        self._comm = None if comm is None or comm.Get_size() == 1 else comm
        self.rank = 0 if self._comm is None else int(self._comm.Get_rank())
        self.size = 1 if self._comm is None else int(self._comm.Get_size())

    def each(self, work: Callable[[Item], Found], items: Sequence[Item]) -> list[Found]:
        """``work`` of every item, in their order. What any rank raises, all do."""
        fault: Exception | None = None
        mine: list[Found] = []
        try:
            mine = [work(item) for item in items[self.rank :: self.size]]
        except Exception as error:
            fault = error
        if self._comm is None:
            if fault is not None:
                raise fault
            return mine
        gathered = self._comm.allgather((mine, fault))
        faults = [f for _, f in gathered if f is not None]
        if faults:
            raise next((f for f in faults if not isinstance(f, OutOfTime)), faults[0])
        return [gathered[i % self.size][0][i // self.size] for i in range(len(items))]

    def agreed(self, value: Any) -> Any:
        """Rank 0's."""
        return value if self._comm is None else self._comm.bcast(value, root=0)
