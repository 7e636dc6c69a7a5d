"""The modelling language: from what the user writes to a frozen record of the program.

expectation       E(...), a node of Pyomo expressions
formula_node      what such nodes have in common; symbol, the number that stands for one
functionals/      Variance, CVaR, Probability and others, by name
width_factor      how closely their kinks are rounded off, for all models at once
distributions/    random vectors: scipy.stats, samplers, copulas, resampling
user_numbers      the user's numbers as floats: what is refused
randomness/       RandomParam, RandomSource and all that can stand behind them
scan              what an expression contains
template          an expression, written out for many scenarios
program           the record that is handed on: StochasticProgram
recourse_block    Recourse: a Block with the second stage, declared once
reading/          a model becomes that record, and what is checked on the way
recourse/         decisions that are made when the random numbers are known
over_scenarios    an expression over arrays of numbers
extensive_form/   finite sums for every other Pyomo solver
latex             models as text
"""

from .distributions import BlockBootstrap, GaussianCopula, StudentCopula
from .expectation import E, ExpectationData
from .extensive_form import ExtensiveForm
from .functionals import (
    Correlation,
    Covariance,
    CVaR,
    Entropic,
    Probability,
    Quantile,
    SemiDeviation,
    Std,
    Variance,
    positive_part,
    smooth_abs,
    smooth_max,
    smooth_min,
)
from .latex import to_latex
from .program import StochasticProgram
from .randomness import RandomParam, RandomSource
from .reading import read_model
from .recourse_block import Recourse

__all__ = [
    "BlockBootstrap",
    "CVaR",
    "Correlation",
    "Covariance",
    "E",
    "Entropic",
    "ExpectationData",
    "ExtensiveForm",
    "GaussianCopula",
    "Probability",
    "Quantile",
    "RandomParam",
    "RandomSource",
    "Recourse",
    "SemiDeviation",
    "Std",
    "StochasticProgram",
    "StudentCopula",
    "Variance",
    "positive_part",
    "read_model",
    "smooth_abs",
    "smooth_max",
    "smooth_min",
    "to_latex",
]
