"""Random vectors, by their laws or by a way to draw them.

random_vectors   scipy.stats distributions and samplers: rows, also from points of the unit cube
copulas          dependence between given marginals
quadrature       Gauss rules of distributions
resampling       futures made of pieces of a time series
"""

from .copulas import GaussianCopula, StudentCopula
from .quadrature import tensor_rule
from .random_vectors import (
    Distribution,
    Sampled,
    checked,
    coupled,
    distribution,
    is_distribution,
    is_family,
    without_moments,
)
from .resampling import BlockBootstrap

__all__ = [
    "BlockBootstrap",
    "Distribution",
    "GaussianCopula",
    "Sampled",
    "StudentCopula",
    "checked",
    "coupled",
    "distribution",
    "is_distribution",
    "is_family",
    "tensor_rule",
    "without_moments",
]
