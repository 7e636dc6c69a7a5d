r"""Our defaults on the problems of the first study: as many samples, no more CPU time.

The paper adds its errors to g, c and J separately, so that J is not the derivative of c. Solving on
a fixed sample, as our defaults do, needs functions; here a sample is the program

    F(x) = f(x) + e_g'(x - x*),      C(x) = c(x) + e_c + E_J (x - x*),

whose derivatives have the paper's variances everywhere, and whose rows have them at x*, the
solution of the problem without noise (elsewhere more). A batch of B scenarios has errors of
variance eps / B; an estimate of Algorithm 1 with variance eps beta_k^2 counts as beta_k^-2
scenarios. The run ends when it has drawn as many as Algorithm 1, or has taken its CPU time. Second
derivatives are those of f and c: errors that are linear in x have none.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from math import inf, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.cutest.settings import Setting
from benchmarks.trace import errors_at
from pyomo_stochsqp.certify import Certifier, Tolerances
from pyomo_stochsqp.oracle import (
    Estimate,
    Jacobian,
    Problem,
    Sample,
    SecondOrderOracle,
    SourceInfo,
    Vector,
    whole_sample,
)
from pyomo_stochsqp.run import Budget, Judge, Outcome, Progress, run
from pyomo_stochsqp.sample.streams import generator
from pyomo_stochsqp.solve import engines_for
from pyomo_stochsqp.stages import Engines, Staged

#: tolerances that are never met, so that the whole budget is used
NEVER = 1e-100
#: for the solution without noise
EXACT = 1e-9
#: the last look of a run takes up to a quarter of the scenarios used before it
LAST_LOOK = 1.25


class NoisyProgram:
    """The problem with errors that are functions: an oracle with second derivatives."""

    def __init__(
        self,
        exact: SecondOrderOracle,
        variances: tuple[float, float, float],
        centre: Vector,
        seed: int,
    ):
        problem = exact.problem
        n, m = problem.n, problem.m
        full = Problem.equalities(problem.x0, m)
        self.problem = replace(
            problem,
            jac_indptr=full.jac_indptr,
            jac_indices=full.jac_indices,
            exact_rows=full.exact_rows,
        )
        self.sources: Sequence[SourceInfo] = (SourceInfo("noise", None),)
        self._exact = exact
        self._everything = whole_sample(exact)
        self._centre = centre
        self._seed = seed
        self._deviations = np.sqrt(np.divide(variances, (n, m, m * n)))
        row_of_entry = np.repeat(np.arange(m), np.diff(problem.jac_indptr))
        self._entries = row_of_entry * n + problem.jac_indices
        self._jacobian = Jacobian(self.problem)

    def draw(self, stream: int, k: int, batch: Sequence[int]) -> Sample:
        n, m = self.problem.n, self.problem.m
        rng = generator(self._seed, stream, 0, 0, k, batch[0])
        sizes = zip((n, m, m * n), self._deviations / sqrt(batch[0]), strict=True)
        return Sample(tuple(s * rng.standard_normal(size) for size, s in sizes), batch[0])

    def estimate(self, x: Vector, sample: Sample, objective: bool = False) -> Estimate:
        e_g, e_c, E_J = sample.payload
        exact = self._exact.estimate(x, self._everything, objective)
        away = x - self._centre
        J = E_J.copy()
        J[self._entries] += exact.J
        f = None if exact.f is None else exact.f + float(e_g @ away)
        c = exact.c + e_c + self._jacobian.times(E_J, away)
        return Estimate(exact.g + e_g, c, J, f, exact.issue)

    def hessian_pattern(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        return self._exact.hessian_pattern()

    def hessian(self, x: Vector, y: Vector, sample: Sample) -> Vector:
        return self._exact.hessian(x, y, self._everything)


def run_stages(
    exact: SecondOrderOracle, setting: Setting, seed: int, iterations: int, cpu: float
) -> dict[str, Any]:
    """The point that our defaults return, with the samples and the CPU time of Algorithm 1."""
    samples = setting.samples(iterations)
    oracle = NoisyProgram(exact, setting.variances, solution(exact), seed)
    began = time.process_time()
    outcome = solved(oracle, NEVER, samples / LAST_LOOK, cpu)
    used = time.process_time() - began
    returned = outcome.state.x if outcome.best is None else outcome.best.x
    infeasibility, stationarity = errors_at(exact, [returned])
    return {
        "returned": (float(infeasibility[0]), float(stationarity[0])),
        "cpu": used,
        "k": outcome.state.k,
        "samples": outcome.state.samples,
        "stop": outcome.stop.name,
    }


@lru_cache(maxsize=4)
def solution(exact: SecondOrderOracle) -> Vector:
    """The solution without noise that the engine for samples finds from the starting point."""
    outcome = solved(exact, EXACT, inf, inf)
    return outcome.state.x if outcome.best is None else outcome.best.x


def solved(
    oracle: SecondOrderOracle, tolerance: float, max_samples: float, seconds: float
) -> Outcome:
    """A run of the default method."""
    certifier = Certifier(oracle)
    tolerances = Tolerances(tolerance, tolerance)
    first = engines_for(oracle).first
    engines = Engines(first, first, engines_for(oracle).warm)
    method = Staged(oracle, certifier, tolerances, engines, max_samples=max_samples)
    start = method.start(oracle.problem.x0)
    progress = Progress.beginning(start)
    budget = Budget(max_samples=max_samples, max_samples_given=True)
    began = time.process_time()
    late = lambda _: time.process_time() - began > seconds  # noqa: E731
    return run(method, progress, Judge(oracle, certifier), budget, tolerances, [late])
