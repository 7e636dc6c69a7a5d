r"""True KKT errors of a point, from exact values of all functions.

    infeasibility   max_i dist(c_i(x), [cl_i, cu_i])
    stationarity    |clip(x - (g + J'y), l, u) - x|_inf
    outside         max_i dist(x_i, [l_i, u_i])

y are the multipliers of the projected-gradient step with H = I: y_i is zero where row i is further
from its limit than that step goes, and has the sign of the limit where it is not. Errors are in the
units of the problem as stated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pyomo_stochsqp.compile import compile_program
from pyomo_stochsqp.declare import read_model
from pyomo_stochsqp.kkt import KKTPattern, make_backend
from pyomo_stochsqp.oracle import Estimate, Jacobian, Oracle, Problem, Vector, exact_estimate
from pyomo_stochsqp.oracles import GaussianNoiseOracle, ModelOracle
from pyomo_stochsqp.qp import ElasticQP
from pyomo_stochsqp.sample import Sampler

#: beyond this, in units of |g| / |J|, a multiplier is taken for that of a row that cannot hold
PENALTY = 1e8

#: (x, values at x) -> (y, the residual they leave)
Multipliers = Callable[[Vector, Estimate], tuple[Vector, Vector]]


@dataclass(frozen=True)
class Errors:
    """The three errors of one point; infinite where a function is undefined."""

    infeasibility: float
    stationarity: float
    outside: float

    @property
    def kkt(self) -> float:
        """The larger of infeasibility and stationarity."""
        return max(self.infeasibility, self.stationarity)


def multipliers_of(problem: Problem) -> Multipliers:
    """The multipliers at points of a problem.

    Rows that are violated count as just satisfied, so that a stationary point of violation has a
    zero residual, too.
    """
    pattern = KKTPattern(problem.n, problem.m, problem.jac_indptr, problem.jac_indices)
    jacobian = Jacobian(problem)
    qp = ElasticQP(problem, make_backend(pattern), jacobian, pattern)
    lower, upper = problem.x_lower, problem.x_upper

    def multipliers(x: Vector, e: Estimate) -> tuple[Vector, Vector]:
        c = e.c.clip(problem.row_lower, problem.row_upper)
        size = float(np.abs(e.g).max(initial=0.0)) / (float(np.abs(e.J).max(initial=0.0)) or 1.0)
        y = qp.solve(e.g, 1.0, c, e.J, lower - x, upper - x, PENALTY * max(size, 1.0)).y
        return y, (x - (e.g + jacobian.transposed(e.J, y))).clip(lower, upper) - x

    return multipliers


def errors_at(oracle: Oracle, multipliers: Multipliers, x: Vector) -> Errors:
    """True errors at x; of a noisy oracle, those of its exact values."""
    problem = oracle.problem
    noisy = isinstance(oracle, GaussianNoiseOracle)
    exact = oracle.without_noise(x) if noisy else exact_estimate(oracle, x)
    if exact.issue is not None:
        return Errors(np.inf, np.inf, np.inf)
    _, residual = multipliers(x, exact)
    return Errors(
        float(problem.violation(exact.c).max(initial=0.0)),
        float(np.abs(residual).max(initial=0.0)),
        float(np.abs(x - problem.project(x)).max(initial=0.0)),
    )


def model_oracle(model: object, seed: int = 0) -> ModelOracle:
    """The oracle of a Pyomo model."""
    program = read_model(model)
    return ModelOracle(program, compile_program(program), Sampler(program.sources, seed))
