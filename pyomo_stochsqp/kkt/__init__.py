r"""KKT systems with a fixed pattern: analyse once, then refactor and refine.

    [ H   J'       ] [ d ]   [ r_x ]
    [ J  -diag(δ)  ] [ y ] = [ r_y ]

``make_backend(pattern)`` gives a back end: ``factorise`` takes new values, ``solve`` may be called
as often as needed in between.

    protocol         what every back end offers; when rows are regularised
    refine           refinement to rounding, and how a solution is judged
    pattern          the fixed sparsity of H and J; hessian_values, matrix: values on it
    backends         one library in a file
    auto, registry   which back end suits a pattern; back ends by name
    indefinite       systems whose H is not definite, with their inertia
"""

from .indefinite import IndefiniteSystem, make_indefinite
from .pattern import KKTPattern, with_diagonal
from .protocol import HELD, REMOVED, Hessian, KKTBackend, KKTFailure, Solution
from .registry import REGISTRY, importable, make_backend

__all__ = [
    "HELD",
    "REGISTRY",
    "REMOVED",
    "Hessian",
    "IndefiniteSystem",
    "KKTBackend",
    "KKTFailure",
    "KKTPattern",
    "Solution",
    "importable",
    "make_backend",
    "make_indefinite",
    "with_diagonal",
]
