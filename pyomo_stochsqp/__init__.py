"""Stochastic SQP for Pyomo: minimise E[F(x, w)] subject to E[C(x, w)] = 0 by sampling scenarios.

Importing the package registers the solver ``'stochsqp'`` with both of Pyomo's solver factories.
"""

from .declare import E, RandomParam, RandomSource
from .estimate.evaluate import evaluate
from .interface import register
from .interface.version import VERSION as __version__

register()

__all__ = ["E", "RandomParam", "RandomSource", "__version__", "evaluate"]
