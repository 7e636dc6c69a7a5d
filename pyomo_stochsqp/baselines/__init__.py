"""Other methods for the same problems, on the same oracle and the same loop as Algorithm 1.

choose                   a baseline by its name
subgradient, tstom       the two of the paper
baseline_state           what their iterations leave behind
coordinate_differences   Lipschitz constants, fixed beforehand
"""

from .baseline_state import BaselineState
from .choose import BASELINES, make_baseline
from .coordinate_differences import coordinate_constants
from .subgradient import StochasticSubgradient
from .tstom import TStoM, TStoMParameters, TStoMState

#: the records in their states
RECORDS: tuple[type, ...] = (BaselineState, TStoMState)

__all__ = [
    "BASELINES",
    "RECORDS",
    "BaselineState",
    "StochasticSubgradient",
    "TStoM",
    "TStoMParameters",
    "TStoMState",
    "coordinate_constants",
    "make_baseline",
]
