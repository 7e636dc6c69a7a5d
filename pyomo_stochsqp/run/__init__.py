"""One run, from its first iteration to its outcome.

loop             the main loop
verdict          what its end is called
looks            Algorithm 1 or a baseline alone, certified from time to time
progress         everything a run has gathered so far
history          one row of numbers per iteration
random_iterate   the answer of the complexity theorem
checkpoint       a run on disk; records as text and arrays; identity, of the problem it belongs to
plain_arrays     files of arrays, read without trust
safe_file        a file that is always complete, for one run at a time
interruption     Ctrl-C and termination requests

"""

from .history import History
from .looks import Judge, Looked
from .loop import Budget, Observer, Outcome, run
from .progress import Progress

__all__ = ["Budget", "History", "Judge", "Looked", "Observer", "Outcome", "Progress", "run"]
