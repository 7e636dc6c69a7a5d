r"""The value function of smooth recourse, as an integrand.

    V(x, w) = min_y { q(x, y, w) : lower(w) <= c(x, y, w) <= upper(w), bounds of y }

program           a two-stage program as one in x and prices of rows under E
stage_functions   its second stage as functions of arrays
scales            units of cost and rows
interior_point    second stages of many scenarios at once
iterate           where they stand
newton_step       how they go on
neighbours        where those of new scenarios start
sensitivity       derivatives of their solutions
cuts              where second stages are infeasible, and what follows
reactions         what is done in scenarios at a fixed first stage
solved_samples    second stages of samples, solved and kept
oracle            what an algorithm may ask of all that
"""

from .cuts import Cut
from .oracle import Infeasible, ValueFunction
from .program import SmoothTwoStage, price_name, smooth
from .reactions import Reacted, Reactions

__all__ = [
    "Cut",
    "Infeasible",
    "Reacted",
    "Reactions",
    "SmoothTwoStage",
    "ValueFunction",
    "price_name",
    "smooth",
]
