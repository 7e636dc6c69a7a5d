"""From a Pyomo model to the record that is handed on.

read          a model becomes a StochasticProgram
terms         the expectations of an expression and their multipliers
summands      independent sources of one integrand
definitions   expectations inside formulas
checks        what a model must satisfy
suffixes      what a model says to a solver: scaling factors, multipliers
"""

from .read import Asked, read_formula, read_model
from .suffixes import scaling_factors, starting_duals

__all__ = ["Asked", "read_formula", "read_model", "scaling_factors", "starting_duals"]
