r"""KKT systems with a fixed pattern: analyse once, then refactor and refine.

    [ H   J'       ] [ d ]   [ r_x ]
    [ J  -diag(δ)  ] [ y ] = [ r_y ]

``make_backend(pattern)`` gives a back end: ``factorise`` takes new values, ``solve`` may be called
as often as needed in between.
"""

from .pattern import KKTPattern
from .protocol import HELD, Hessian, KKTBackend, KKTFailure, Solution
from .registry import REGISTRY, importable, make_backend

__all__ = [
    "HELD",
    "REGISTRY",
    "Hessian",
    "KKTBackend",
    "KKTFailure",
    "KKTPattern",
    "Solution",
    "importable",
    "make_backend",
]
