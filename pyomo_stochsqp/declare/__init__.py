"""The modelling language: from what the user writes to a frozen record of the program.

expectation       E(...), a node of Pyomo expressions
randomness/       RandomParam, RandomSource and all that can stand behind them
program           the record that is handed on: StochasticProgram
read              a model becomes that record
scan, terms,      what an expression contains; its expectations and their multipliers;
summands          independent sources of one integrand
checks            what a model must satisfy
suffixes          what a model says to a solver: scaling factors, multipliers
extensive_form/   finite sums for every other Pyomo solver
latex             models as text
"""

from .expectation import E, ExpectationData
from .extensive_form import ExtensiveForm
from .latex import to_latex
from .program import StochasticProgram
from .randomness import RandomParam, RandomSource
from .read import read_model

__all__ = [
    "E",
    "ExpectationData",
    "ExtensiveForm",
    "RandomParam",
    "RandomSource",
    "StochasticProgram",
    "read_model",
    "to_latex",
]
