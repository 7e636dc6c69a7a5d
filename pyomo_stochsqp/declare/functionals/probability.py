r"""The probability of an event, P(e <= 0), as a value and as a chance constraint.

As a value it is smoothed, E[step(-e)] (rounding.py). As a constraint that would not do: where the
event is nearly certain, or nearly impossible, the smoothed probability is flat and its slope tells
nothing. The quantile knows the way from everywhere, and

    P(e <= 0) >= p      if and only if      q <= 0,      q = Quantile[e, p].

So the row is read as  p - q D >= p,  D the density of e at q: a linear model of the probability
about level p, exact where it matters, with the slope, the multiplier and the units of the
probability itself.

D is a factor that must not vanish: with it the row would, and any point would do. But between two
scenarios of a table, and between two hills of a density, it can. So

    D = (a + sqrt(a^2 + b^2)) / 2,    a the density, by kinks of the usual width,
                                      b a tenth of that by kinks which are far wider,

both of them whatever the quantile itself becomes when kinks are less rounded off. Where both agree
D is a, but for a quarter of a percent.
"""

from __future__ import annotations

from typing import Any

from pyomo.core.expr import relational_expr as re
from pyomo.core.expr import sqrt

from ...errors import ModelError
from ..formula_node import FormulaData
from .averages import argument, mean, plain_mean, variance
from .quantile import QuantileData
from .rounding import rounding, wide

#: the part of a very smooth density that counts where there is none
LEAST = 0.1


class ProbabilityData(FormulaData):
    """One Probability(...) node: of ``argument`` <= 0."""

    __slots__ = ("_rows", "argument", "width")

    def __init__(self, event: Any, a: Any, width: Any):
        self.argument = a
        self.width = width
        smooth = rounding(f"Probability({event})", a, variance(a, plain_mean(a)), width)
        super().__init__("P", (event,), mean(lambda v: smooth.step(-v), a))
        self._rows: dict[float, Any] = {}

    def _density_at(self, q: QuantileData) -> Any:
        """Positive everywhere."""
        usual = rounding("", self.argument, q.variance, self.width, narrows=False)
        a = mean(lambda v: usual.bump(q - v), self.argument)
        b = mean(lambda v: wide(q.variance).bump(q - v), self.argument)
        return (a + sqrt(a**2 + (LEAST * b) ** 2)) / 2

    def around(self, level: float) -> Any:
        """The probability as it is near a level, by the quantile."""
        if not 0.0 < level < 1.0:
            raise ModelError(
                f"{self}: a probability of {level:g} is no chance constraint. For what must always "
                "hold, bound the random number; otherwise ask for a level between 0 and 1."
            )
        if level not in self._rows:
            q = QuantileData(self.argument, level, self.width)
            self._rows[level] = level - q * self._density_at(q)
        return self._rows[level]


def Probability(
    event: Any, width: Any = None, weights: Any = None, *, renormalise: bool = False
) -> ProbabilityData:
    """The probability of an event, ``Probability(loss <= 10)``.

    In a constraint, ``Probability(loss <= 10) >= 0.95``, it is a chance constraint. Over explicit
    scenarios give a slice, list or mapping of numbers: the event is that they are <= 0.

    >>> import pyomo.environ as pyo, numpy as np
    >>> from pyomo_stochsqp import Probability, RandomParam
    >>> m = pyo.ConcreteModel()
    >>> m.loss = RandomParam(data=np.arange(1.0, 101.0))
    >>> round(pyo.value(Probability(m.loss <= 90.5)), 6)
    0.9
    """
    z = _at_most_zero(event)
    a = argument(z, weights, renormalise)
    return ProbabilityData(event if a is z else a, a, width)


def _at_most_zero(event: Any) -> Any:
    """e, for an event e <= 0."""
    if isinstance(event, re.InequalityExpression):
        smaller, larger = event.args
        return smaller - larger
    if isinstance(event, (re.EqualityExpression, re.RangedExpression, bool)):
        raise ModelError(
            f"Probability({event}): an event is one inequality between random numbers. Write a "
            "range as the difference of two probabilities."
        )
    return event
