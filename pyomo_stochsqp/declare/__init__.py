"""The modelling language: from what the user writes to a frozen record of the program.

expectation       E(...), a node of Pyomo expressions
formula_node      what such nodes have in common; symbol, the number that stands for one
functionals/      Variance, CVaR, Probability and others, by name
width_factor      how closely their kinks are rounded off, for all models at once
randomness/       RandomParam, RandomSource and all that can stand behind them
program           the record that is handed on: StochasticProgram
read              a model becomes that record
scan, terms,      what an expression contains; its expectations and their multipliers;
summands          independent sources of one integrand
definitions       expectations inside formulas
template          an expression, written out for many scenarios
checks            what a model must satisfy
suffixes          what a model says to a solver: scaling factors, multipliers
extensive_form/   finite sums for every other Pyomo solver
latex             models as text
"""

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
from .randomness import (
    BlockBootstrap,
    GaussianCopula,
    RandomParam,
    RandomSource,
    StudentCopula,
)
from .read import read_model

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
