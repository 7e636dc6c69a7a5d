"""From a model's expressions to fast code for batch estimates.

evaluator    what others use: estimates of (g, c, J), Hessians, full passes
plan         every function as constants, linear rows, averages of data and blocks of terms
algebra/     expressions as  const + sum coef * node
scenarios/   explicit scenarios collapsed to templates and data
graph/       blocks of equal terms, their derivatives, where results go
vectors/     the plan written as NumPy code
loops/       the plan written as loops for numba
each_scenario  functions scenario by scenario, not their means
diagnose     why a result is not finite
explain      what was recognised in a model, in words
fingerprint  what a program computes, as numbers to compare
cache        compile again only when a model's structure has changed
"""

from .cache import CompilerCache
from .evaluator import Evaluator, compile_program
from .explain import explain_program

__all__ = ["CompilerCache", "Evaluator", "compile_program", "explain_program"]
