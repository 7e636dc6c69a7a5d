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

from ..kkt import KKTPattern, make_backend
from ..oracle import ITERATION_STREAM, Jacobian, Oracle, Problem, Vector
from ..report import Method
from . import scaling
from .algorithm import StochasticSQP
from .batches import Batches
from .curvature import BFGS, Curvature, Diagonal, Fixed, Spectral, UserFunction
from .elastic_subproblem import ElasticSubproblem
from .exact import ExactSQP
from .parameters import Parameters
from .phases import TwoPhase
from .scaling import ScaledOracle, Scaling
from .schedule import make_schedule
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
    scaled = oracle if factors.units() is None else ScaledOracle(oracle, factors)
    problem = scaled.problem
    beta = choices.beta
    if beta == "auto":
        beta = "diminishing" if choices.growth in ("constant", "variance") else 1.0
    schedule = make_schedule(beta)
    batches = Batches(oracle.sources, choices.batch, choices.growth, choices.growth_rate, schedule)

    curvature, dense = curvature_for(choices.hessian, problem, factors.objective, exact=False)
    first, backend = subproblem_for(problem, choices, dense)
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
    user, _ = subproblem_for(oracle.problem, choices, False)
    if choices.literal:
        return Assembly(sampled, user, factors, backend, (first, user))
    curvature, dense = curvature_for(choices.hessian, problem, factors.objective, exact=True)
    second, _ = subproblem_for(problem, choices, dense)
    whole = scaled.draw(ITERATION_STREAM, 0, [s.size or 1 for s in oracle.sources])
    exact = ExactSQP(scaled, whole, second, curvature, choices.parameters, factors.units())
    method = TwoPhase(sampled, exact, batches)
    return Assembly(method, user, factors, backend, (first, user, second))


def subproblem_for(problem: Problem, choices: Choices, dense: bool) -> tuple[Subproblem, str]:
    """The subproblem that a problem's rows and bounds need, and its back end in words."""
    pattern = KKTPattern(
        problem.n, problem.m, problem.jac_indptr, problem.jac_indices, hessian_dense=dense
    )
    backend = make_backend(pattern, choices.kkt_solver)
    jacobian = Jacobian(problem)
    if choices.literal and problem.equalities_only:
        return EqualitySubproblem(problem, backend, jacobian), backend.describe()
    elastic = ElasticSubproblem(problem, backend, jacobian, choices.parameters, pattern)
    return elastic, backend.describe()


def curvature_for(
    hessian: Any, problem: Problem, objective: float, exact: bool
) -> tuple[Curvature, bool]:
    """The rule for H that a name or a matrix asks for, and whether its H is a full matrix.

    A user's matrix is in the units of the user's objective, which ``objective`` scales.
    """
    n, m, x0 = problem.n, problem.m, problem.x0
    if callable(hessian):
        shape = np.shape(hessian(1, x0, np.zeros(m)))
        return UserFunction(hessian, objective), len(shape) == 2
    if not isinstance(hessian, str):
        return Fixed(objective * hessian), hessian.ndim == 2
    if hessian == "auto":
        hessian = "bfgs" if exact and n <= LARGEST_DENSE else "diagonal"
    if hessian == "bfgs":
        return BFGS(n), True
    if hessian == "diagonal":
        return Diagonal(n), False
    return (Spectral() if hessian == "spectral" else Fixed()), False


def unscaled(problem: Problem) -> Scaling:
    """Factors of one."""
    rows: Vector = np.ones(problem.m)
    return Scaling(rows, 1.0)
