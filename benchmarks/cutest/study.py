r"""One instance of the first study: a problem, a noise setting, a seed, a method.

    sqp           Algorithm 1 as in the paper: H = I, unscaled, L and Gamma fixed beforehand by
                  coordinate differences at x_1, alpha from the grid 1.1^t alpha_min
    sqp-scaled    the same on the problem with f and every c_i divided by what their gradients at
                  x_1 have beyond 100 (largest entry), as interior-point codes do
    profile       ``sqp``, keeping true KKT errors along the run
    subgradient   seven values of tau, each for the CPU time of ``sqp``; best iterate of all seven
    stages        what the solver does when nothing is said (see our_defaults.py)

All record true errors of the best, the last and the tail iterates; ``stages`` those of the point it
returns, which it chooses by its own certificates without seeing true values.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

import numpy as np

from benchmarks.cutest.our_defaults import run_stages
from benchmarks.cutest.problems import build
from benchmarks.cutest.settings import F_MAX, K_MAX, SETTINGS, Setting
from benchmarks.literal import literal_sqp
from benchmarks.store import Record, short
from benchmarks.trace import Trace
from benchmarks.truth import Candidates, best_of, summary
from pyomo_stochsqp.baselines import StochasticSubgradient, coordinate_constants
from pyomo_stochsqp.baselines.subgradient import PENALTIES
from pyomo_stochsqp.compile import compile_program
from pyomo_stochsqp.declare import read_model
from pyomo_stochsqp.kkt import KKTFailure
from pyomo_stochsqp.method import Method
from pyomo_stochsqp.oracle import Oracle, exact_estimate
from pyomo_stochsqp.oracles import GaussianNoiseOracle, ModelOracle
from pyomo_stochsqp.run.looks import DIVERGED
from pyomo_stochsqp.sample import Sampler
from pyomo_stochsqp.scaling import Scaling, scaled

#: a tenth of the run, as the paper's 5000 iterations have 500
TAIL = 0.1
PROFILE_EVERY = 0.01
#: of gradients in ``sqp-scaled``
LARGEST_GRADIENT = 100.0


@lru_cache(maxsize=4)
def exact_oracle(problem: str) -> tuple[ModelOracle, tuple[float, float]]:
    """The compiled problem and its (L, Gamma)."""
    program = read_model(build(problem))
    oracle = ModelOracle(program, compile_program(program), Sampler(program.sources, 0))
    return oracle, coordinate_constants(oracle, oracle.problem.x0)


@lru_cache(maxsize=4)
def scaled_oracle(problem: str) -> tuple[Oracle, tuple[float, float]]:
    """The same with gradients at the starting point of at most 100."""
    exact, _ = exact_oracle(problem)
    here = exact_estimate(exact, exact.problem.x0)
    rows = np.zeros(exact.problem.m)
    row_of_entry = np.repeat(np.arange(rows.size), np.diff(exact.problem.jac_indptr))
    np.maximum.at(rows, row_of_entry, np.abs(here.J))
    factors = Scaling(
        LARGEST_GRADIENT / np.maximum(rows, LARGEST_GRADIENT),
        LARGEST_GRADIENT / max(float(np.abs(here.g).max()), LARGEST_GRADIENT),
    )
    oracle = scaled(exact, factors)
    return oracle, coordinate_constants(oracle, oracle.problem.x0)


def run_instance(
    method: str, problem: str, setting: str, seed: int, iterations: int, cpu: float | None = None
) -> Record:
    """Run one instance and return its line for the result file."""
    chosen = SETTINGS[setting]
    runs: dict[str, Callable[[], dict[str, Any]]] = {
        "sqp": lambda: run_sqp(*exact_oracle(problem), chosen, seed, iterations),
        "sqp-scaled": lambda: run_sqp(*scaled_oracle(problem), chosen, seed, iterations),
        "profile": lambda: run_profile(problem, chosen, seed, iterations),
        "subgradient": lambda: run_subgradient(problem, chosen, seed, cpu or 0.0),
        "stages": lambda: run_stages(
            exact_oracle(problem)[0], chosen, seed, iterations, cpu or 0.0
        ),
    }
    key = {"method": method, "problem": problem, "setting": setting, "seed": seed}
    return key | {"iterations": iterations} | short(runs[method]())


def run_sqp(
    exact: Oracle, constants: tuple[float, float], setting: Setting, seed: int, iterations: int
) -> dict[str, Any]:
    """Algorithm 1: errors, CPU time, and what Assumption event_asymptotic asks about."""
    trace = Trace(exact)
    oracle = GaussianNoiseOracle(trace, setting.variances, setting.beta, seed)
    method = literal_sqp(oracle, (1,), setting.beta, constants)
    states, cpu = iterate(method, trace, range(iterations))
    values = trace.values()
    late = min(K_MAX, iterations) - 1
    tau = np.array([s.tau for s in states])
    xi = np.array([s.xi for s in states])
    settled = values.trial[late : len(tau)] >= tau[late:]
    f_late = exact_estimate(exact, trace.points[min(late, len(trace.points) - 1)], objective=True).f
    return summary(values.infeasibility, values.stationarity, int(TAIL * iterations)) | {
        "cpu": cpu,
        "k": len(states),
        "tau": float(tau[-1]),
        "tau_settled": bool(tau[min(late, len(tau) - 1)] == tau[-1]),
        "xi_settled": bool(xi[min(late, len(xi) - 1)] == xi[-1]),
        "f_bounded": bool(f_late is not None and f_late <= F_MAX),
        "trial_share": float(settled.mean()) if settled.size else 0.0,
    }


def run_profile(problem: str, setting: Setting, seed: int, iterations: int) -> dict[str, Any]:
    """True KKT error of Algorithm 1 at a hundred iterations, evenly spaced."""
    exact, constants = exact_oracle(problem)
    trace = Trace(exact)
    oracle = GaussianNoiseOracle(trace, setting.variances, setting.beta, seed)
    iterate(literal_sqp(oracle, (1,), setting.beta, constants), trace, range(iterations))
    values = trace.values()
    error = np.maximum(values.infeasibility, values.stationarity)
    every = max(1, int(PROFILE_EVERY * iterations))
    ks = [1, *range(every, len(error) + 1, every)]
    return {"k": ks, "error": [float(error[k - 1]) for k in ks]}


def run_subgradient(problem: str, setting: Setting, seed: int, cpu: float) -> dict[str, Any]:
    """The subgradient method for every tau, each for the given CPU time."""
    exact, constants = exact_oracle(problem)
    candidates, lasts, ks = [], [], []
    for tau in PENALTIES:
        trace = Trace(exact)
        oracle = GaussianNoiseOracle(trace, setting.variances, setting.beta, seed)
        method = StochasticSubgradient(oracle, (1,), setting.beta, tau, constants)
        states, _ = iterate(method, trace, _until(cpu, trace))
        values = trace.values()
        candidates.append(Candidates.of(values.infeasibility, values.stationarity))
        lasts.append((float(values.infeasibility[-1]), float(values.stationarity[-1])))
        ks.append(len(states))
    best = best_of(candidates)
    winner = next(
        i for i, c in enumerate(candidates) if best in (c.least_error, c.least_infeasibility)
    )
    return {"best": best, "last": min(lasts, key=max), "tau": PENALTIES[winner], "k": ks}


def iterate(method: Method, trace: Trace, counter: Iterable[int]) -> tuple[list[Any], float]:
    """(states, CPU seconds without those of the trace); ends early where a run diverges."""
    states = []
    began = time.process_time()
    state = method.start(trace.problem.x0)
    for _ in counter:
        try:
            state = method.step(state)
        except KKTFailure:
            break
        states.append(state)
        if state.issue is not None or not np.abs(state.x).max() < DIVERGED:
            break
    return states, time.process_time() - began - trace.seconds


def _until(cpu: float, trace: Trace) -> Iterable[int]:
    """Count while CPU time is left; the clock is read every few iterations."""
    began = time.process_time()
    k = 0
    while time.process_time() - began - trace.seconds < cpu:
        for _ in range(10):
            yield k
            k += 1
