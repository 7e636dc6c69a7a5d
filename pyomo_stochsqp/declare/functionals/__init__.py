"""What people compute of random numbers, by name.

averages      the mean of a function of one or several random numbers
moments       Variance, Std, Covariance, Correlation, Entropic
smooth        positive_part, smooth_max and others: kinks rounded off over a width
rounding      that width, where nobody says it
quantile      Quantile: the number that a random one exceeds with a given probability
tails         CVaR, SemiDeviation
probability   Probability of an event, as a value and near a level
chance        rows that hold one probability
kinks         max, min and abs under an expectation
"""

from .moments import Correlation, Covariance, Entropic, Std, Variance
from .probability import Probability
from .quantile import Quantile
from .smooth import positive_part, smooth_abs, smooth_max, smooth_min
from .tails import CVaR, SemiDeviation

__all__ = [
    "CVaR",
    "Correlation",
    "Covariance",
    "Entropic",
    "Probability",
    "Quantile",
    "SemiDeviation",
    "Std",
    "Variance",
    "positive_part",
    "smooth_abs",
    "smooth_max",
    "smooth_min",
]
