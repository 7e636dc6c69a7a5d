"""From a model's expressions to fast code for batch estimates."""

from .evaluator import Evaluator, compile_program
from .inspect import inspect_program

__all__ = ["Evaluator", "compile_program", "inspect_program"]
