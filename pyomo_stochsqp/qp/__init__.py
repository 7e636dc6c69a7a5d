"""The elastic quadratic program of an iteration: always feasible, exactly one solution.

quadratic_program   the program, its optimality conditions, solutions and warm starts
quadratic_term      d'Hd in each form that H comes in
elastic_qp          the cheapest method that can
newton              H diagonal: Newton's method on the dual
active_set          any H: corrections of a guess
interior            any H, from anywhere: an interior point
"""

from .elastic_qp import ElasticQP
from .quadratic_program import QP, QPSolution, Status, WarmStart
from .quadratic_term import quadratic_form, quadratic_term

__all__ = [
    "QP",
    "ElasticQP",
    "QPSolution",
    "Status",
    "WarmStart",
    "quadratic_form",
    "quadratic_term",
]
