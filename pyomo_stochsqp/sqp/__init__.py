"""Algorithm 1 of the paper: start reading in ``algorithm.py``."""

from .algorithm import StochasticSQP
from .batches import GROWTHS, Batches
from .curvature import Curvature, Identity
from .parameters import Parameters
from .schedule import make_schedule
from .state import State
from .stepsize import STEP_RULES
from .subproblem import EqualitySubproblem

__all__ = [
    "GROWTHS",
    "STEP_RULES",
    "Batches",
    "Curvature",
    "EqualitySubproblem",
    "Identity",
    "Parameters",
    "State",
    "StochasticSQP",
    "make_schedule",
]
