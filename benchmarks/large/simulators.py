"""Samplers that take 5 ms a row: one that waits (for a program, a network), one that computes."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import pyomo.environ as pyo

from pyomo_stochsqp import E, RandomParam, evaluate
from pyomo_stochsqp.declare import read_model
from pyomo_stochsqp.sample import Sampler

SECONDS = 5e-3
ITERATIONS = 10
SAMPLES = 2048


def waiting(rng: Any, size: int) -> Any:
    time.sleep(SECONDS * size)
    return rng.normal(1.0, 0.5, (size, 2))


def computing(rng: Any, size: int) -> Any:
    end = time.thread_time() + SECONDS * size  # CPU time: what others do does not count
    while time.thread_time() < end:
        pass
    return rng.normal(1.0, 0.5, (size, 2))


def model(sampler: Callable[..., Any]) -> pyo.ConcreteModel:
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(2), initialize=0.0)
    m.w = RandomParam(range(2), sampler=sampler)
    m.obj = pyo.Objective(expr=E(sum((m.x[j] - m.w[j]) ** 2 for j in m.x)))
    return m


def workers(args: argparse.Namespace) -> None:
    print("Wall time: milliseconds of a batch of 64 rows, seconds of evaluate")
    for sampler in (waiting, computing):
        counts = [1 << i for i in range(args.most.bit_length())]
        alone = None
        for count in counts:
            batch, whole = _batch(sampler, count), _evaluation(sampler, count)
            alone = alone or (batch, whole)
            print(
                f"{sampler.__name__:10} {count} workers  {batch * 1e3:6.0f} {whole:6.1f}   "
                f"{alone[0] / batch:.2f} and {alone[1] / whole:.2f} times faster"
            )


def _batch(sampler: Callable[..., Any], count: int) -> float:
    drawn = Sampler(read_model(model(sampler)).sources, 1, workers=count)
    seconds = []
    for k in range(ITERATIONS):
        began = time.perf_counter()
        assert drawn.batch(0, k, [64]).batches
        seconds.append(time.perf_counter() - began)
    drawn.close()
    return sorted(seconds)[ITERATIONS // 2]


def _evaluation(sampler: Callable[..., Any], count: int) -> float:
    m = model(sampler)
    began = time.perf_counter()
    evaluate(m, samples=SAMPLES, seed=1, workers=count)
    return time.perf_counter() - began
