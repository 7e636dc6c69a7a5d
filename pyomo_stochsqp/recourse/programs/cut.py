r"""A condition on the first stage."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(eq=False)
class Cut:
    """slope'x <= limit."""

    slope: NDArray[np.float64]
    limit: float
    #: the second-stage row that weighs most in it
    row: int = -1
