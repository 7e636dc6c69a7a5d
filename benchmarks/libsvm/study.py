r"""One instance of the second study: a data set, a pair of batch sizes, a seed, a method.

    sqp           Algorithm 1 as in the paper: Gamma = 2, L as the reading says (readings.py),
                  beta = 1, H = I, unscaled, 10,000 iterations
    tstom         TStoM with the paper's parameters, for the CPU time of ``sqp``
    subgradient   seven values of tau, each for the CPU time of ``sqp``; best iterate of all seven
    stages        the solver with nothing said, for as many samples and no more CPU time

True errors come from full passes over the data at every tenth iterate; they are not part of the CPU
times. ``stages`` has the errors of the point that it returns.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from benchmarks.libsvm.data import load
from benchmarks.libsvm.model import DATA, LINEAR, Draw, build, draw
from benchmarks.libsvm.readings import READINGS, Reading
from benchmarks.literal import literal_sqp
from benchmarks.store import Record, short
from benchmarks.trace import errors_at
from benchmarks.truth import Candidates, best_of, summary
from pyomo_stochsqp.baselines import StochasticSubgradient, TStoM, coordinate_constants
from pyomo_stochsqp.baselines.subgradient import PENALTIES
from pyomo_stochsqp.interface.options.table import validated
from pyomo_stochsqp.kkt import KKTFailure
from pyomo_stochsqp.method import Method
from pyomo_stochsqp.oracle import SETUP_STREAM, Oracle, Vector
from pyomo_stochsqp.run.looks import DIVERGED
from pyomo_stochsqp.solve import Setup, prepare
from pyomo_stochsqp.sqp import make_schedule

GAMMA = 2.0
CHECK_EVERY = 10
TAIL = 0.1
#: step of the differences that L comes from
DISPLACEMENT = 1e-4
#: a tolerance that is never met, so that the whole budget is used
NEVER = 1e-100


@dataclass(frozen=True)
class Instance:
    """What identifies a run; ``reading`` and ``beta`` are names."""

    method: str
    data: str
    b1: int
    b2: int
    seed: int
    reading: str = "literal"
    beta: str = "1"


def run_instance(
    instance: Instance, directory: str, iterations: int, cpu: float | None = None
) -> Record:
    """Run one instance and return its line for the result file."""
    made = random_draw(instance.data, instance.seed, instance.reading, directory)
    runs: dict[str, Callable[..., dict[str, Any]]] = {
        "sqp": run_sqp,
        "tstom": run_tstom,
        "subgradient": run_subgradient,
        "stages": run_stages,
    }
    result = runs[instance.method](instance, directory, iterations, cpu)
    facts = {"iterations": iterations, "feasible": made.feasible}
    return vars(instance) | facts | short(result)


@lru_cache(maxsize=1)
def features(name: str, directory: str, raw_labels: bool) -> tuple[Any, Any]:
    """The data set, kept between instances."""
    return load(name, directory, raw_labels)


@lru_cache(maxsize=1)
def random_draw(name: str, seed: int, reading: str, directory: str) -> Draw:
    """The draw of (A_k, a_k) and x_1, kept between instances."""
    X, _ = features(name, directory, READINGS[reading].raw_labels)
    return draw(X.shape[1], seed, READINGS[reading])


def setup_of(instance: Instance, directory: str, **options: Any) -> Setup:
    """The Pyomo model through the solver's own pipeline, before its first iteration."""
    reading = READINGS[instance.reading]
    made = random_draw(instance.data, instance.seed, instance.reading, directory)
    model = build(*features(instance.data, directory, reading.raw_labels), made)
    sizes = {DATA: instance.b1, LINEAR: instance.b2}
    return prepare(model, validated({"batch_size": sizes, "seed": instance.seed, **options}))


def constants_of(
    oracle: Oracle, reading: Reading, sizes: tuple[int, ...], seed: int
) -> tuple[float, float]:
    """(L, Gamma) of the paper: Gamma is known, L as the reading says."""
    if reading.L is not None:
        return reading.L, GAMMA
    x = oracle.problem.x0
    if not reading.from_batches:
        whole = [s.size or 1 for s in oracle.sources]
        return coordinate_constants(oracle, x, whole, floor=0.0)[0], GAMMA
    step = np.random.default_rng(seed).standard_normal(x.size)
    step *= DISPLACEMENT / np.linalg.norm(step)
    here = oracle.estimate(x, oracle.draw(SETUP_STREAM, 1, sizes))
    there = oracle.estimate(x + step, oracle.draw(SETUP_STREAM, 2, sizes))
    return float(np.linalg.norm(there.g - here.g)) / DISPLACEMENT, GAMMA


@lru_cache(maxsize=1)
def paper_setup(instance: Instance, directory: str) -> tuple[Oracle, tuple[float, float]]:
    """The oracle of an instance and the constants of its reading."""
    oracle = setup_of(instance, directory, preset="paper", lipschitz=(1.0, GAMMA)).oracle
    reading = READINGS[instance.reading]
    return oracle, constants_of(oracle, reading, sizes_of(oracle, instance), instance.seed)


def schedule_of(instance: Instance) -> Any:
    """beta_k."""
    return make_schedule("diminishing" if instance.beta == "diminishing" else float(instance.beta))


def run_sqp(instance: Instance, directory: str, iterations: int, _: Any) -> dict[str, Any]:
    """Algorithm 1."""
    oracle, constants = paper_setup(replace(instance, method="sqp"), directory)
    method = literal_sqp(oracle, sizes_of(oracle, instance), schedule_of(instance), constants)
    points, states, cpu = iterate(method, oracle, iterations)
    errors = errors_at(oracle, points)
    return summary(*errors, tail_of(points)) | {
        "cpu": cpu,
        "k": states[-1].k,
        "samples": states[-1].samples,
        "L": constants[0],
        "tau": states[-1].tau,
        "alpha": float(np.median([s.alpha for s in states])),
    }


def run_tstom(instance: Instance, directory: str, iterations: int, cpu: Any) -> dict[str, Any]:
    """TStoM with the paper's parameters."""
    oracle, _ = paper_setup(replace(instance, method="sqp"), directory)
    method = TStoM(oracle, sizes_of(oracle, instance))
    points, states, _ = iterate(method, oracle, None, cpu)
    return summary(*errors_at(oracle, points), tail_of(points)) | {"k": states[-1].k}


def run_subgradient(
    instance: Instance, directory: str, iterations: int, cpu: Any
) -> dict[str, Any]:
    """The subgradient method for every tau."""
    oracle, constants = paper_setup(replace(instance, method="sqp"), directory)
    sizes, beta = sizes_of(oracle, instance), schedule_of(instance)
    candidates, ks = [], []
    for tau in PENALTIES:
        method = StochasticSubgradient(oracle, sizes, beta, tau, constants)
        points, states, _ = iterate(method, oracle, None, cpu)
        candidates.append(Candidates.of(*errors_at(oracle, points)))
        ks.append(states[-1].k)
    best = best_of(candidates)
    winner = next(
        i for i, c in enumerate(candidates) if best in (c.least_error, c.least_infeasibility)
    )
    return {"best": best, "tau": PENALTIES[winner], "k": ks}


def run_stages(instance: Instance, directory: str, iterations: int, cpu: Any) -> dict[str, Any]:
    """The solver's own choices, for as many samples and as much CPU time."""
    samples = iterations * (instance.b1 + instance.b2)
    setup = setup_of(instance, directory, max_samples=samples, tol_feas=NEVER, tol_opt=NEVER)
    began = time.process_time()
    outcome = setup.run([lambda _: time.process_time() - began > cpu])
    used = time.process_time() - began
    returned = outcome.state.x if outcome.best is None else outcome.best.x
    return {
        "returned": [float(e[0]) for e in errors_at(setup.oracle, [returned])],
        "cpu": used,
        "k": outcome.state.k,
        "samples": outcome.state.samples,
        "stop": outcome.stop.name,
    }


def sizes_of(oracle: Oracle, instance: Instance) -> tuple[int, ...]:
    """Batch sizes in the order of the oracle's sources."""
    sizes = {DATA: instance.b1, LINEAR: instance.b2}
    return tuple(sizes[s.name] for s in oracle.sources)


def tail_of(points: list[Vector]) -> int:
    """How many of the points belong to the tail."""
    return max(1, int(TAIL * len(points)))


def iterate(
    method: Method, oracle: Oracle, iterations: int | None, cpu: float | None = None
) -> tuple[list[Vector], list[Any], float]:
    """(every tenth iterate, all states, CPU seconds), for a number of iterations or a time."""
    began = time.process_time()
    state = method.start(oracle.problem.x0)
    states, points = [], [state.x]
    for k in _count(iterations, cpu, began):
        try:
            state = method.step(state)
        except KKTFailure:
            break
        if state.issue is not None or not np.abs(state.x).max() < DIVERGED:
            break
        states.append(state)
        if k % CHECK_EVERY == 0:
            points.append(state.x)
    return points, states, time.process_time() - began


def _count(iterations: int | None, cpu: float | None, began: float) -> Iterator[int]:
    k = 0
    while k < iterations if iterations is not None else time.process_time() - began < (cpu or 0.0):
        for _ in range(CHECK_EVERY):
            k += 1
            yield k
