r"""The upper tail of a loss.

    CVaR[e, level] = q + E[(e - q)^+] / (1 - level),    q = Quantile[e, level]

(Rockafellar and Uryasev): the mean of the worst 1 - level. q solves the condition under which the
right-hand side is least, so it may be minimised and maximised, and stand in constraints of either
sense.

    SemiDeviation[e] = E[(e - E[e])^+],    of order 2: sqrt(E[((e - E[e])^+)^2])

The positive part is rounded off (rounding.py).
"""

from __future__ import annotations

from typing import Any

from pyomo.core.expr import sqrt

from ...errors import ModelError
from ..formula_node import FormulaData
from .averages import argument, mean, plain_mean, variance
from .quantile import QuantileData, check_level
from .rounding import rounding


def CVaR(
    e: Any,
    level: float = 0.95,
    width: Any = None,
    weights: Any = None,
    *,
    renormalise: bool = False,
) -> FormulaData:
    """Conditional value-at-risk: the mean of a loss in the worst 1 - ``level`` of the scenarios.

    Also called expected shortfall, average value-at-risk, superquantile.

    >>> import pyomo.environ as pyo, numpy as np
    >>> from pyomo_stochsqp import CVaR, RandomParam
    >>> m = pyo.ConcreteModel()
    >>> m.w = RandomParam(data=np.arange(1.0, 101.0))
    >>> round(pyo.value(CVaR(m.w, 0.9, width=1e-6)), 3)  # the mean of 91, ..., 100
    95.5
    """
    check_level(f"CVaR({e})", level)
    a = argument(e, weights, renormalise)
    q = QuantileData(a, float(level), width)
    tail = mean(lambda v: q.rounding.positive_part(v - q), a)
    return FormulaData("CVaR", (a,), q + tail / (1.0 - level), level)


def SemiDeviation(
    e: Any, order: int = 1, width: Any = None, weights: Any = None, *, renormalise: bool = False
) -> FormulaData:
    """How far a loss lies above its mean, on average; of order 2, the root of the mean square.

    >>> import pyomo.environ as pyo, numpy as np
    >>> from pyomo_stochsqp import RandomParam, SemiDeviation
    >>> m = pyo.ConcreteModel()
    >>> m.loss = RandomParam(data=np.array([0.0, 0.0, 0.0, 4.0]))
    >>> round(pyo.value(SemiDeviation(m.loss)), 6), round(pyo.value(SemiDeviation(m.loss, 2)), 6)
    (0.75, 1.5)
    """
    if order not in (1, 2):
        raise ModelError(f"SemiDeviation({e}, order={order}): the order is 1 or 2.")
    a = argument(e, weights, renormalise)
    centre = plain_mean(a)
    smooth = rounding(f"SemiDeviation({e})", a, variance(a, centre), width)
    part = mean(lambda v: smooth.positive_part(v - centre) ** order, a)
    return FormulaData("SemiDeviation", (a,), part if order == 1 else sqrt(part), order)
