r"""Futures made of pieces of the past: the block bootstrap of a time series.

A future of h periods is put together from blocks of b consecutive periods of the series, whose
starts are drawn at random, the series being closed to a circle (Politis and Romano, 1992), so that
every period is as likely as any other:

    x_{S_1}, ..., x_{S_1 + b - 1},  x_{S_2}, ..., x_{S_2 + b - 1},  ...       S_i uniform on 1..T

b = 1 is the bootstrap of Efron; longer blocks keep what periods have to do with each other.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import DataError
from ..user_numbers import as_floats

Rows = NDArray[np.float64]


class BlockBootstrap:
    """A sampler of futures; its columns are the periods one after the other, each with all the
    columns of the series.

    >>> import numpy as np, pyomo.environ as pyo
    >>> from pyomo_stochsqp import BlockBootstrap, RandomParam
    >>> prices = np.array([30.0, 32.0, 31.0, 35.0, 33.0])
    >>> m = pyo.ConcreteModel()
    >>> m.hours = pyo.RangeSet(3)
    >>> m.price = RandomParam(m.hours, sampler=BlockBootstrap(prices, horizon=3, block=2))
    """

    def __init__(self, series: Any, horizon: int, block: int = 1):
        rows = as_floats("BlockBootstrap: series", series)
        self.series = rows.reshape(len(rows), -1)
        if self.series.size == 0 or not np.isfinite(self.series).all():
            raise DataError("BlockBootstrap: the series needs rows of finite numbers.")
        if horizon < 1 or not 1 <= block <= len(rows):
            raise DataError(
                f"BlockBootstrap: horizon={horizon} must be at least 1, and block={block} between "
                f"1 and the {len(rows)} rows of the series."
            )
        self.horizon, self.block = int(horizon), int(block)

    def __call__(self, rng: np.random.Generator, size: int) -> Rows:
        blocks = -(-self.horizon // self.block)
        starts = rng.integers(len(self.series), size=(size, blocks, 1))
        periods = (starts + np.arange(self.block)).reshape(size, -1)[:, : self.horizon]
        return self.series[periods % len(self.series)].reshape(size, -1)
