"""The modelling language: E, RandomParam, RandomSource, and reading a model into a record."""

from .expectation import E, ExpectationData
from .extensive_form import ExtensiveForm
from .latex import to_latex
from .program import StochasticProgram
from .randomparam import RandomParam
from .source import RandomSource
from .walk import read_model

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
