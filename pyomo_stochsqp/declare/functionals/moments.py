r"""Moments, and the entropic risk.

    Variance[e] = E[(e - E[e])^2]              Std[e] = sqrt(Variance[e])
    Covariance[a, b] = E[(a - E[a])(b - E[b])]
    Correlation[a, b] = Covariance[a, b] / (Std[a] Std[b])
    Entropic[e] = log(E[exp(theta e)]) / theta

All are centred before they are multiplied or exponentiated, so that large means cost no digits.
"""

from __future__ import annotations

from typing import Any

from pyomo.core.expr import exp, log, sqrt

from ...errors import ModelError
from ..formula_node import FormulaData
from .averages import argument, mean, plain_mean, variance


def Variance(e: Any, weights: Any = None, *, renormalise: bool = False) -> FormulaData:
    """The variance of a random number.

    >>> import pyomo.environ as pyo, numpy as np
    >>> from pyomo_stochsqp import RandomParam, Variance
    >>> m = pyo.ConcreteModel()
    >>> m.x = pyo.Var(initialize=2.0)
    >>> m.w = RandomParam(data=np.array([1.0, 3.0]))
    >>> pyo.value(Variance(m.w * m.x))
    4.0
    >>> print(Variance(m.w * m.x))
    Variance[w*x]
    """
    a = argument(e, weights, renormalise)
    return FormulaData("Variance", (a,), variance(a, plain_mean(a)))


def Std(e: Any, weights: Any = None, *, renormalise: bool = False) -> FormulaData:
    """The standard deviation of a random number.

    >>> import pyomo.environ as pyo, numpy as np
    >>> from pyomo_stochsqp import RandomParam, Std
    >>> m = pyo.ConcreteModel()
    >>> m.w = RandomParam(data=np.array([1.0, 3.0]))
    >>> pyo.value(Std(5 * m.w))
    5.0
    """
    a = argument(e, weights, renormalise)
    return FormulaData("Std", (a,), sqrt(variance(a, plain_mean(a))))


def Covariance(a: Any, b: Any, weights: Any = None, *, renormalise: bool = False) -> FormulaData:
    """The covariance of two random numbers.

    >>> import pyomo.environ as pyo, numpy as np
    >>> from pyomo_stochsqp import Covariance, RandomParam
    >>> m = pyo.ConcreteModel()
    >>> m.w = RandomParam([0, 1], data=np.array([[1.0, 2.0], [3.0, 8.0], [2.0, 2.0]]))
    >>> pyo.value(Covariance(m.w[0], m.w[1]))
    2.0
    """
    a, b = argument(a, weights, renormalise), argument(b, weights, renormalise)
    return FormulaData("Covariance", (a, b), _covariance(a, b, plain_mean(a), plain_mean(b)))


def Correlation(a: Any, b: Any, weights: Any = None, *, renormalise: bool = False) -> FormulaData:
    """Pearson's correlation of two random numbers.

    >>> import pyomo.environ as pyo, numpy as np
    >>> from pyomo_stochsqp import Correlation, RandomParam
    >>> m = pyo.ConcreteModel()
    >>> m.w = RandomParam([0, 1], data=np.array([[1.0, 2.0], [3.0, 8.0], [2.0, 2.0]]))
    >>> round(pyo.value(Correlation(m.w[0], m.w[1])), 6)
    0.866025
    """
    a, b = argument(a, weights, renormalise), argument(b, weights, renormalise)
    mean_a, mean_b = plain_mean(a), plain_mean(b)
    spread = sqrt(variance(a, mean_a) * variance(b, mean_b))
    return FormulaData("Correlation", (a, b), _covariance(a, b, mean_a, mean_b) / spread)


def Entropic(
    e: Any, theta: float, weights: Any = None, *, renormalise: bool = False
) -> FormulaData:
    """The entropic risk of a loss, log(E[exp(theta e)]) / theta: its certainty equivalent under
    exponential utility with risk aversion theta > 0.

    >>> import pyomo.environ as pyo, numpy as np
    >>> from pyomo_stochsqp import Entropic, RandomParam
    >>> m = pyo.ConcreteModel()
    >>> m.loss = RandomParam(data=np.array([1.0, 3.0]))
    >>> round(pyo.value(Entropic(m.loss, 1.0)), 6)  # log((e + e**3) / 2)
    2.433781
    """
    if not theta > 0.0:
        raise ModelError(f"Entropic({e}, theta={theta}): theta must be positive.")
    a = argument(e, weights, renormalise)
    centre = plain_mean(a)
    risk = centre + log(mean(lambda v: exp(theta * (v - centre)), a)) / theta
    return FormulaData("Entropic", (a,), risk, theta)


def _covariance(a: Any, b: Any, mean_a: Any, mean_b: Any) -> Any:
    return mean(lambda u, v: (u - mean_a) * (v - mean_b), a, b)
