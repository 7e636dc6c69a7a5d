"""Other methods for the same problems, on the same oracle and driver as Algorithm 1.

``start(x)`` and ``step(state)``, as for ``sqp.StochasticSQP``: see ``report/driver.py``.
"""

from .choose import BASELINES, make_baseline
from .lipschitz import coordinate_constants
from .state import State
from .subgradient import StochasticSubgradient
from .tstom import TStoM, TStoMParameters, TStoMState

__all__ = [
    "BASELINES",
    "State",
    "StochasticSubgradient",
    "TStoM",
    "TStoMParameters",
    "TStoMState",
    "coordinate_constants",
    "make_baseline",
]
