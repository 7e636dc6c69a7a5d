"""The registry of the study: ``PROBLEMS[name]()`` or ``build(name)`` makes a fresh Pyomo model.

These are the CUTEst problems with equality constraints only, free variables, an objective that is
not constant and n + m <= 1000, without FLT and MSS1, whose Jacobians lose rank. Every model has

    x[1..n]     free variables, at the starting point of the collection,
    objective   minimised,
    c[1..m]     equations body == rhs; c(x) = body - rhs has the sign and the row order of CUTEst.

The starting points of HS61 and S316-322 have rank-deficient Jacobians.
"""

from pyomo.environ import ConcreteModel

from benchmarks.cutest import boggs_tolle, hock_schittkowski, others  # noqa: F401  (they register)
from benchmarks.cutest.registry import PROBLEMS

__all__ = ["PROBLEMS", "build"]


def build(name: str) -> ConcreteModel:
    """A fresh model of the CUTEst problem ``name``."""
    try:
        make = PROBLEMS[name]
    except KeyError:
        raise KeyError(f"no CUTEst problem {name!r}; known: {', '.join(PROBLEMS)}") from None
    return make()
