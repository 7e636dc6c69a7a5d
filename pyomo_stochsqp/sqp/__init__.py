"""Algorithm 1 of the paper: start reading in ``algorithm.py``."""

from .algorithm import StochasticSQP
from .assemble import Assembly, Choices, assemble, unscaled
from .batches import GROWTHS, Batches
from .curvature import BFGS, Curvature, Fixed
from .parameters import Parameters
from .scaling import Scaling
from .schedule import make_schedule
from .state import State
from .stepsize import STEP_RULES
from .subproblem import EqualitySubproblem

__all__ = [
    "BFGS",
    "GROWTHS",
    "STEP_RULES",
    "Assembly",
    "Batches",
    "Choices",
    "Curvature",
    "EqualitySubproblem",
    "Fixed",
    "Parameters",
    "Scaling",
    "State",
    "StochasticSQP",
    "assemble",
    "make_schedule",
    "unscaled",
]
