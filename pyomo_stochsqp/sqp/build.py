r"""Putting a method together for any oracle, Pyomo or not:

scaling -> KKT back end -> subproblem -> Algorithm 1

>>> import numpy as np
>>> from pyomo_stochsqp.sqp import Choices, assemble      # oracle: see pyomo_stochsqp.oracle
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import scaling
from ..errors import OptionError
from ..kkt import KKTPattern, make_backend
from ..method import Method
from ..oracle import Jacobian, Oracle, Problem, SecondOrderOracle, Vector
from ..scaling import Scaling
from .algorithm import StochasticSQP
from .batches import Batches
from .curvature import BFGS, Curvature, Diagonal, Fixed, Spectral, UserFunction, well_conditioned
from .elastic_subproblem import ElasticSubproblem
from .parameters import Parameters
from .schedule import make_schedule
from .second_order import LagrangianHessian
from .subproblem import EqualitySubproblem, Subproblem

#: beyond this many variables a dense quasi-Newton matrix costs more than it saves
LARGEST_DENSE = 1000


@dataclass(frozen=True)
class Choices:
    """What can be chosen, with the defaults of the solver."""

    batch: Sequence[int] = ()
    growth: str = "adaptive"
    growth_rate: float = 1.01
    beta: Any = "auto"
    #: 'auto' (measured on the way), 'once' (at the start), or (L, Gamma)
    lipschitz: str | tuple[float, float] = "auto"
    hessian: Any = "auto"
    #: None scales automatically
    scaling: Scaling | None = None
    kkt_solver: str = "auto"
    #: False: eq. linear_system as it stands, where there are equalities only
    elastic: bool = True
    parameters: Parameters = field(
        default_factory=lambda: Parameters(tau0=1.0, step_cap=1.0, restarts=True)
    )


@dataclass(frozen=True)
class Assembly:
    """Algorithm 1 ready to run, how it is scaled, and its KKT back end in words."""

    method: Method
    scaling: Scaling
    kkt: str


def assemble(oracle: Oracle, choices: Choices) -> Assembly:
    """Build Algorithm 1 for an oracle."""
    factors = choices.scaling or scaling.automatic(oracle, choices.batch)
    scaled = oracle if factors.units() is None else scaling.scaled(oracle, factors)
    beta = choices.beta
    if beta == "auto":
        beta = "diminishing" if choices.growth in ("constant", "variance") else 1.0
    schedule = make_schedule(beta)
    batches = Batches(
        oracle.sources,
        choices.batch,
        choices.growth,
        choices.growth_rate,
        schedule,
        probes=choices.elastic,
    )
    curvature, form = curvature_for(choices.hessian, scaled, factors.objective)
    subproblem, backend = subproblem_for(scaled.problem, choices, form)
    method = StochasticSQP(
        scaled,
        subproblem,
        curvature,
        batches,
        schedule,
        choices.parameters,
        choices.lipschitz,
        factors.units(),
    )
    return Assembly(method, factors, backend)


def subproblem_for(
    problem: Problem, choices: Choices, form: dict[str, Any]
) -> tuple[Subproblem, str]:
    """The subproblem that a problem's rows and bounds need, and its back end in words."""
    pattern = KKTPattern(problem.n, problem.m, problem.jac_indptr, problem.jac_indices, **form)
    plain = not choices.elastic and problem.equalities_only
    backend = make_backend(pattern, choices.kkt_solver, regularise=not plain)
    if plain:
        return EqualitySubproblem(problem, backend, pattern), backend.describe()
    elastic = ElasticSubproblem(problem, backend, Jacobian(problem), choices.parameters, pattern)
    return elastic, backend.describe()


def curvature_for(
    hessian: Any, oracle: Oracle, objective: float
) -> tuple[Curvature, dict[str, Any]]:
    """The rule for H that a name or a matrix asks for, and H's part of the KKT pattern.

    A user's matrix is in the units of the user's objective, which ``objective`` scales.
    """
    problem = oracle.problem
    n, m, x0 = problem.n, problem.m, problem.x0
    diagonal: dict[str, Any] = {}
    full = {"hessian_dense": True}
    if callable(hessian):
        first = checked_matrix(hessian(1, x0, np.zeros(m)), n)
        return UserFunction(hessian, objective), full if first.ndim == 2 else diagonal
    if not isinstance(hessian, str):
        H = checked_matrix(hessian, n)
        return Fixed(objective * H), full if H.ndim == 2 else diagonal
    if hessian not in CURVATURES:
        raise OptionError(
            f"hessian={hessian!r} is unknown; choose one of {', '.join(map(repr, CURVATURES))}."
        )
    return CURVATURES[hessian](oracle)


def _exact(oracle: Oracle) -> tuple[Curvature, dict[str, Any]]:
    if not isinstance(oracle, SecondOrderOracle):
        raise OptionError("hessian='exact' needs an oracle with second derivatives.")
    rule = LagrangianHessian(oracle, full=oracle.problem.n <= LARGEST_DENSE)
    return rule, rule.form


#: rules for H by name: each builds one, with H's part of the KKT pattern
CURVATURES: dict[str, Callable[[Oracle], tuple[Curvature, dict[str, Any]]]] = {
    "auto": lambda oracle: (Diagonal(oracle.problem.n), {}),
    "identity": lambda oracle: (Fixed(), {}),
    "spectral": lambda oracle: (Spectral(), {}),
    "diagonal": lambda oracle: (Diagonal(oracle.problem.n), {}),
    "bfgs": lambda oracle: (BFGS(oracle.problem.n), {"hessian_dense": True}),
    "exact": _exact,
}


def checked_matrix(hessian: Any, n: int) -> Vector:
    """A user's H: n positive numbers, or a symmetric positive definite n x n matrix."""
    H = np.asarray(hessian, dtype=float)
    if H.shape not in ((n,), (n, n)):
        raise OptionError(
            f"hessian has the shape {H.shape}; for {n} variables give {n} numbers or a matrix of "
            f"{n} x {n}."
        )
    positive = H.min() > 0.0 if H.ndim == 1 else np.allclose(H, H.T) and well_conditioned(H)
    if not (positive and np.isfinite(H).all()):
        raise OptionError(
            "hessian must be a symmetric and positive definite matrix, or positive numbers."
        )
    return H
