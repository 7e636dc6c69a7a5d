"""Other methods for the same problems, on the same oracle and driver as Algorithm 1.

``start(x)`` and ``step(state)``, as for ``sqp.StochasticSQP``: see ``report/driver.py``.
"""

from .lipschitz import coordinate_constants
from .state import State
from .subgradient import StochasticSubgradient
from .tstom import TStoM, TStoMParameters, TStoMState

__all__ = [
    "State",
    "StochasticSubgradient",
    "TStoM",
    "TStoMParameters",
    "TStoMState",
    "coordinate_constants",
]
