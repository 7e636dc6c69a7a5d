r"""What an iteration of the interior point leaves behind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...oracle import Vector
from ..protocol import Ending


@dataclass(frozen=True)
class InteriorState:
    """The state after iteration k; v are the variables and the slacks of inequality rows."""

    k: int
    v: Vector
    y: Vector
    z_lower: Vector
    z_upper: Vector
    lower: Vector
    upper: Vector
    mu: float
    filter: Vector
    theta_min: float
    theta_max: float
    shift: float = 0.0
    #: the least shift, and short steps in a row
    damping: float = 0.0
    short: int = 0
    acceptable: int = 0
    #: restoration: where and with which mu it began, and its own state
    restored_from: Vector | None = None
    restored_mu: float = 0.0
    inner: Any = None
    error: float = np.inf
    objective: float = np.nan
    #: c(x) minus slacks or bounds, of every row
    residual: Vector | None = None
    step: float = np.nan
    ended: Ending | None = None
