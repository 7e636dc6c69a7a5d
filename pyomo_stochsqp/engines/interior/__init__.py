"""The filter interior point.

interior_point    the method
state             what an iteration leaves behind
barrier           rows with slacks, bounds as logarithms
newton_system     its linear systems, with the inertia of a descent step
line_search       how far a step goes
filter            what a trial point must improve on
restoration       the way back to feasible points
scaled_program    units in which all of it works
engine            the method as an engine, in the user's units
feasible_first    the same after a search for a feasible point: a second opinion
"""

from .engine import Interior
from .feasible_first import FeasibleFirst

__all__ = ["FeasibleFirst", "Interior"]
