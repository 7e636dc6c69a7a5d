r"""One instance of the first study: a problem, a noise setting, a seed, a method.

    sqp           Algorithm 1 as in the paper: H = I, unscaled, L and Gamma fixed beforehand by
                  coordinate differences at x_1, alpha from the grid 1.1^t alpha_min
    subgradient   seven values of tau, each for the CPU time of ``sqp``; best iterate of all seven
    defaults      what the solver does when nothing is said (measured L and Gamma, scaling, growing
                  batches, certificates), for the same number of samples; an estimate with variance
                  eps beta_k^2 counts as beta_k^-2 samples
    profile       ``sqp``, keeping true KKT errors along the run

All record true errors of the best, the last and the tail iterates; ``defaults`` also those of the
point it returns, which it chooses by its own certificates without seeing true values.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

import numpy as np

from benchmarks.cutest.problems import build
from benchmarks.cutest.settings import F_MAX, K_MAX, SETTINGS, Setting
from benchmarks.store import Record, short
from benchmarks.trace import Trace, errors_at
from benchmarks.truth import Candidates, best_of, summary
from pyomo_stochsqp.baselines import StochasticSubgradient, coordinate_constants
from pyomo_stochsqp.baselines.subgradient import PENALTIES
from pyomo_stochsqp.compile import compile_program
from pyomo_stochsqp.declare import read_model
from pyomo_stochsqp.estimate import GaussianNoiseOracle, ModelOracle
from pyomo_stochsqp.kkt import KKTFailure
from pyomo_stochsqp.report import Budget, Certifier, Method, Progress, Tolerances, run
from pyomo_stochsqp.report.driver import DIVERGED
from pyomo_stochsqp.sample import Sampler
from pyomo_stochsqp.sqp import Choices, Parameters, State, assemble, unscaled

#: a tenth of the run, as the paper's 5000 iterations have 500
TAIL = 0.1
PROFILE_EVERY = 0.01
DEFAULT_BATCH = 64
#: certificates use up to this share of the samples on top of the iterations
CERTIFICATES = 1.1
NEVER = 1e-300


@lru_cache(maxsize=4)
def exact_oracle(problem: str) -> tuple[ModelOracle, tuple[float, float]]:
    """The compiled problem and its (L, Gamma)."""
    program = read_model(build(problem))
    oracle = ModelOracle(program, compile_program(program), Sampler(program.sources, 0))
    return oracle, coordinate_constants(oracle, oracle.problem.x0)


def run_instance(
    method: str, problem: str, setting: str, seed: int, iterations: int, cpu: float | None = None
) -> Record:
    """Run one instance and return its line for the result file."""
    runs: dict[str, Callable[..., dict[str, Any]]] = {
        "sqp": run_sqp,
        "profile": run_profile,
        "defaults": run_defaults,
    }
    if method == "subgradient":
        assert cpu is not None
        result = run_subgradient(problem, SETTINGS[setting], seed, cpu)
    else:
        result = runs[method](problem, SETTINGS[setting], seed, iterations)
    key = {"method": method, "problem": problem, "setting": setting, "seed": seed}
    return key | {"iterations": iterations} | short(result)


def literal_sqp(oracle: GaussianNoiseOracle, setting: Setting, constants: Any) -> Method:
    """Algorithm 1 with the paper's choices."""
    choices = Choices(
        batch=(1,),
        growth="constant",
        beta=setting.beta,
        lipschitz=constants,
        hessian="identity",
        scaling=unscaled(oracle.problem),
        literal=True,
        parameters=Parameters(step_rule="grid"),
    )
    return assemble(oracle, choices).method


def run_sqp(problem: str, setting: Setting, seed: int, iterations: int) -> dict[str, Any]:
    """Algorithm 1: errors, CPU time, and what Assumption event_asymptotic asks about."""
    exact, constants = exact_oracle(problem)
    trace = Trace(exact)
    oracle = GaussianNoiseOracle(trace, setting.variances, setting.beta, seed)
    method = literal_sqp(oracle, setting, constants)
    states, cpu = iterate(method, trace, range(iterations))
    values = trace.values()
    late = min(K_MAX, iterations) - 1
    tau = np.array([s.tau for s in states])
    xi = np.array([s.xi for s in states])
    settled = values.trial[late : len(tau)] >= tau[late:]
    f_late = exact.full(trace.points[min(late, len(trace.points) - 1)], objective=True).f
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
    iterate(literal_sqp(oracle, setting, constants), trace, range(iterations))
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


def run_defaults(problem: str, setting: Setting, seed: int, iterations: int) -> dict[str, Any]:
    """The solver's own choices on unit samples, as many as ``sqp`` used."""
    exact, _ = exact_oracle(problem)
    oracle = GaussianNoiseOracle(exact, setting.variances, lambda k: 1.0, seed)
    samples = setting.samples(iterations)
    began = time.process_time()
    assembly = assemble(oracle, Choices(batch=(DEFAULT_BATCH,)))
    points = [oracle.problem.x0]
    progress = Progress.beginning(assembly.method.start(points[0]), State.COLUMNS)
    try:
        outcome = run(
            assembly.method,
            progress,
            Certifier(oracle, assembly.subproblem.multipliers, assembly.scaling.units()),
            Budget(max_iter=iterations, max_samples=samples / CERTIFICATES),
            Tolerances(NEVER, NEVER),
            [lambda progress: points.append(progress.state.x)],
        )
        best, stop = outcome.best, outcome.stop.name
    except ArithmeticError as error:  # a failure of the solver is a result, too
        best, stop = progress.best, type(error).__name__
    cpu = time.process_time() - began
    returned = points[-1] if best is None else best.x
    return summary(*errors_at(exact, points), max(1, int(TAIL * len(points)))) | {
        "returned": [float(e[0]) for e in errors_at(exact, [returned])],
        "cpu": cpu,
        "k": progress.state.k,
        "samples": progress.state.samples,
        "stop": stop,
    }


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
