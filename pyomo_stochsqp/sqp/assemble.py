r"""Putting a method together for any oracle, Pyomo or not:

scaling -> KKT back end -> subproblem -> sampled phase (Algorithm 1) + exact phase

>>> import numpy as np
>>> from pyomo_stochsqp.sqp import Choices, assemble      # oracle: see pyomo_stochsqp.oracle
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import OptionError
from ..kkt import KKTPattern, make_backend
from ..oracle import ITERATION_STREAM, Jacobian, Oracle, Problem, SecondOrderOracle, Vector
from ..report import Method
from . import scaling
from .algorithm import StochasticSQP
from .batches import Batches
from .curvature import (
    BFGS,
    Curvature,
    Diagonal,
    Fixed,
    Spectral,
    UserFunction,
    well_conditioned,
)
from .elastic_subproblem import RHO_HIGH, RHO_LIMIT, ElasticSubproblem
from .exact import ExactSQP
from .parameters import Parameters
from .phases import TwoPhase
from .scaling import Scaling
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
    #: Algorithm 1 and nothing else: no exact phase, no elastic rows where there are equalities only
    literal: bool = False
    parameters: Parameters = field(
        default_factory=lambda: Parameters(tau0=1.0, step_cap=1.0, restarts=True)
    )


@dataclass(frozen=True)
class Assembly:
    """A method ready to run, and what a certificate needs in the user's units."""

    method: Method
    #: multipliers of the problem in the user's units
    subproblem: Subproblem
    scaling: Scaling
    kkt: str
    #: every subproblem; each remembers where its last solution was
    subproblems: tuple[Subproblem, ...] = ()


def assemble(oracle: Oracle, choices: Choices) -> Assembly:
    """Build the two phases for an oracle."""
    factors = choices.scaling or scaling.automatic(oracle, choices.batch)
    scaled = oracle if factors.units() is None else scaling.scaled(oracle, factors)
    problem = scaled.problem
    beta = choices.beta
    if beta == "auto":
        beta = "diminishing" if choices.growth in ("constant", "variance") else 1.0
    schedule = make_schedule(beta)
    batches = Batches(oracle.sources, choices.batch, choices.growth, choices.growth_rate, schedule)

    curvature, form = curvature_for(choices.hessian, scaled, factors.objective, exact=False)
    first, backend = subproblem_for(problem, choices, form)
    sampled = StochasticSQP(
        scaled,
        first,
        curvature,
        batches,
        schedule,
        choices.parameters,
        choices.lipschitz,
        factors.units(),
    )
    user, _ = subproblem_for(oracle.problem, choices, {})
    if choices.literal or any(s.size is None for s in oracle.sources):
        return Assembly(sampled, user, factors, backend, (first, user))
    curvature, form = curvature_for(choices.hessian, scaled, factors.objective, exact=True)
    second, _ = subproblem_for(problem, choices, form, RHO_LIMIT)
    whole = scaled.draw(ITERATION_STREAM, 0, [s.size or 1 for s in oracle.sources])
    exact = ExactSQP(scaled, whole, second, curvature, choices.parameters, factors.units())
    method = TwoPhase(sampled, exact, batches)
    return Assembly(method, user, factors, backend, (first, user, second))


def subproblem_for(
    problem: Problem, choices: Choices, form: dict[str, Any], rho_limit: float = RHO_HIGH
) -> tuple[Subproblem, str]:
    """The subproblem that a problem's rows and bounds need, and its back end in words."""
    pattern = KKTPattern(problem.n, problem.m, problem.jac_indptr, problem.jac_indices, **form)
    backend = make_backend(pattern, choices.kkt_solver)
    jacobian = Jacobian(problem)
    if choices.literal and problem.equalities_only:
        return EqualitySubproblem(problem, backend, jacobian, pattern), backend.describe()
    elastic = ElasticSubproblem(
        problem, backend, jacobian, choices.parameters, pattern, rho_limit=rho_limit
    )
    return elastic, backend.describe()


def curvature_for(
    hessian: Any, oracle: Oracle, objective: float, exact: bool
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
    if hessian == "auto":
        hessian = best_curvature(oracle) if exact else "diagonal"
    if hessian == "exact":
        if not isinstance(oracle, SecondOrderOracle):
            raise OptionError("hessian='exact' needs an oracle with second derivatives.")
        rule = LagrangianHessian(oracle, exact, full=n <= LARGEST_DENSE)
        return rule, rule.form
    if hessian == "bfgs":
        return BFGS(n), full
    if hessian == "diagonal":
        return Diagonal(n), diagonal
    return (Spectral() if hessian == "spectral" else Fixed()), diagonal


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


def best_curvature(oracle: Oracle) -> str:
    """The rule of the exact phase.

    Second derivatives need the fewest iterations. Over data they cost n times a gradient, which
    differences of gradients make up for as long as a full matrix of them is affordable.
    """
    small = oracle.problem.n <= LARGEST_DENSE
    if isinstance(oracle, SecondOrderOracle) and not (small and oracle.sources):
        return "exact"
    return "bfgs" if small else "diagonal"


def unscaled(problem: Problem) -> Scaling:
    """Factors of one."""
    rows: Vector = np.ones(problem.m)
    return Scaling(rows, 1.0)
