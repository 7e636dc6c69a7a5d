"""Algorithm 1 of the paper, and what stands around it.

algorithm             the loop's body, one call per line of the paper
merit, stepsize       tau, xi, Delta l; alpha
parameters, schedule  constants of the "Require" line; beta_k
subproblem            eq. linear_system; elastic_subproblem with inequalities and bounds
lipschitz             L and Gamma, measured on the way
batches               batch sizes
curvature             H_k; second_order from second derivatives
state                 what an iteration leaves behind; average of the last iterates
build                 a method put together for any oracle
"""

from .algorithm import StochasticSQP
from .batches import GROWTHS, Batches
from .build import CURVATURES, Assembly, Choices, assemble
from .curvature import BFGS, Curvature, Fixed
from .parameters import Parameters
from .schedule import make_schedule
from .state import State
from .stepsize import STEP_RULES
from .subproblem import EqualitySubproblem

__all__ = [
    "BFGS",
    "CURVATURES",
    "GROWTHS",
    "STEP_RULES",
    "Assembly",
    "Batches",
    "Choices",
    "Curvature",
    "EqualitySubproblem",
    "Fixed",
    "Parameters",
    "State",
    "StochasticSQP",
    "assemble",
    "make_schedule",
]
