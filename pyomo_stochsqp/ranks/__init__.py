"""Several processes at work on one solve (MPI ranks).

crew       rank 0 asks, the others answer; what all have found comes back as one
waiting    receiving messages without keeping a core busy
agreement  the ranks have built the same model

Rank 0 runs the method, keeps the clock, writes log and checkpoints, handles signals. So ranks
cannot disagree about what comes next. What a question is about is none of this room's business.
"""

from .agreement import agree, fault_of_any
from .crew import Crew

__all__ = ["Crew", "agree", "fault_of_any"]
