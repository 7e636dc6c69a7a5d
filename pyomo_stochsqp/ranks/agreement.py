r"""The ranks of a solve have built the same model, or all of them hear why not.

Every rank builds its own model, from its own copy of the user's program. What it has built is
compared with rank 0's before the run begins: names, bounds, patterns, sizes of the data, and the
functions' values and derivatives at the start on a few scenarios.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..deadline import OutOfTime
from ..errors import RankError, StochSQPError
from ..oracle import Vector
from .crew import Crew, Trouble

#: values may differ by this much between machines; on one machine they are equal
TOLERANCE = 1e-9


def fault_of_any(crew: Crew, fault: Exception | None) -> None:
    """Raise the fault that any rank has met, on all of them; on the rank itself as it was."""
    mine = None
    if fault is not None:
        known = isinstance(fault, (StochSQPError, OutOfTime))
        mine = Trouble(crew.rank, fault if known else None, repr(fault))
    troubles = [trouble for trouble in crew.comm.allgather(mine) if trouble is not None]
    if fault is not None:
        raise fault
    if troubles:
        raise troubles[0].raised()


def agree(crew: Crew, labels: Mapping[str, str], numbers: Vector) -> None:
    """Raise on all ranks unless these are the same on all of them."""
    expected, probe = crew.comm.bcast((dict(labels), numbers), root=0)
    fault = None
    different = [what for what, text in expected.items() if labels.get(what) != text]
    if different:
        what = different[0]
        fault = f"{what}: {labels.get(what)} on rank {crew.rank}, {expected[what]} on rank 0"
    elif probe.shape != numbers.shape or not np.allclose(
        probe, numbers, TOLERANCE, TOLERANCE, equal_nan=True
    ):
        fault = f"values of the functions at the start differ on rank {crew.rank}"
    faults: list[Any] = [text for text in crew.comm.allgather(fault) if text is not None]
    if faults:
        raise RankError(
            f"The ranks have built different models ({faults[0]}). Every rank must build the same "
            "one: give random data in the model's program a seed, and all ranks the same files."
        )
