r"""Quantiles: the t with P(e <= t) = level.

The probability is smoothed, so that t is a differentiable function of the decisions:

    E[step(t - e)] = level,      the step rounded off as in rounding.py, unless a width is given.

t is not an expectation, but the solution of an equation between expectations; on a sample it is
eliminated like all numbers inside formulas.
"""

from __future__ import annotations

from typing import Any

from ...errors import ModelError
from ..formula_node import RandomFormula
from .averages import argument, mean, plain_mean, variance
from .rounding import Rounding, rounding


class QuantileData(RandomFormula):
    """One Quantile(...) node.

    ``variable``: the Var that stands for it in an extensive form, where other solvers have to solve
    the equation.
    """

    __slots__ = ("argument", "equation", "level", "mean", "rounding", "variable", "variance")

    def __init__(self, a: Any, level: float, width: Any):
        super().__init__()
        self.argument = a
        self.level = level
        #: of the random number
        self.mean = plain_mean(a)
        self.variance = variance(a, self.mean)
        self.rounding: Rounding = rounding(f"Quantile({a})", a, self.variance, width)
        #: what is zero at the quantile, in terms of its symbol
        self.equation = mean(lambda v: self.rounding.step(self.symbol - v), a) - level
        self.variable: Any = None

    def write_out(self, variable: Any) -> Any:
        """From now on the variable stands for it; returns the equation that it must satisfy."""
        self.variable = variable
        return mean(lambda v: self.rounding.step(variable - v), self.argument) == self.level

    def integrands(self) -> list[Any]:
        return self.mean.integrands()

    #: what it is called, and what of
    label = "Quantile"

    @property
    def arguments(self) -> tuple[Any, ...]:
        return (self.argument,)

    @property
    def parameter(self) -> float:
        return self.level

    @property
    def has_own_value(self) -> bool:
        return self.variable is None

    @property
    def _args_(self) -> tuple[Any, ...]:
        if self.variable is None:
            raise ModelError(
                f"{self} is the solution of an equation, which other solvers cannot see in an "
                "expression. Apply TransformationFactory('stochsqp.extensive_form') first: it adds "
                "a variable and a constraint for it."
            )
        return (self.variable,)

    @property
    def args(self) -> tuple[Any, ...]:
        return self._args_

    def is_fixed(self) -> bool:
        return bool(self.mean.is_fixed())

    def to_string(
        self, verbose: Any = None, labeler: Any = None, smap: Any = None, **_: Any
    ) -> str:
        return f"Quantile[{self.argument}, {self.level:g}]"


def Quantile(
    e: Any, level: float, width: Any = None, weights: Any = None, *, renormalise: bool = False
) -> QuantileData:
    """The ``level`` quantile of a random number: e is at most that with probability ``level``.

    Value-at-risk of a loss at confidence ``level``. The kink of every scenario is rounded off over
    ``width``, or, without one, over a share of the standard deviation.

    >>> import pyomo.environ as pyo, numpy as np
    >>> from pyomo_stochsqp import Quantile, RandomParam
    >>> m = pyo.ConcreteModel()
    >>> m.loss = RandomParam(data=np.arange(1.0, 101.0))
    >>> round(pyo.value(Quantile(m.loss, 0.905)), 6)
    91.0
    """
    check_level(f"Quantile({e})", level)
    return QuantileData(argument(e, weights, renormalise), float(level), width)


def check_level(what: str, level: Any) -> None:
    """A probability that leaves something on both sides."""
    if not (isinstance(level, (int, float)) and 0.0 < level < 1.0):
        raise ModelError(
            f"{what}: level={level} is not between 0 and 1. The level is the confidence: 0.95 is "
            "what a loss exceeds in one of twenty scenarios."
        )
