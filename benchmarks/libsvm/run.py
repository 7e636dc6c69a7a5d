r"""Running what is missing: seed by seed, all methods of an instance in one process.

The baselines get the CPU time that Algorithm 1 took in the same instance, and reuse its compiled
model.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from benchmarks.libsvm.data import DATA_SETS
from benchmarks.libsvm.study import Instance, run_instance
from benchmarks.pool import run_all
from benchmarks.store import Record, ResultFile

METHODS = ("sqp", "stages", "tstom", "subgradient")
#: those that run for the CPU time of ``sqp``
TIMED = ("stages", "tstom", "subgradient")
BATCHES = ((16, 16), (16, 128), (128, 16), (128, 128))


@dataclass(frozen=True)
class Plan:
    """What a study consists of."""

    methods: tuple[str, ...] = METHODS
    data: tuple[str, ...] = tuple(DATA_SETS)
    batches: tuple[tuple[int, int], ...] = BATCHES
    seeds: tuple[int, ...] = (1, 2, 3, 4, 5)
    reading: str = "literal"
    beta: str = "1"
    iterations: int = 10_000


def run_missing(results: ResultFile, plan: Plan, directory: str, jobs: int) -> None:
    """Run all instances of a plan that the file does not hold yet."""
    tasks = list(_tasks(results, plan, directory))
    for made in run_all(run_methods, tasks, jobs, "instances"):
        for record in made:
            results.append(record)


def run_methods(
    instance: Instance, methods: tuple[str, ...], cpu: float | None, directory: str, iterations: int
) -> list[Record]:
    """Several methods on one instance, Algorithm 1 first."""
    made = []
    for method in methods:
        record = run_instance(replace(instance, method=method), directory, iterations, cpu)
        if method == "sqp":
            cpu = record["cpu"]
        made.append(record)
    return made


def _tasks(results: ResultFile, plan: Plan, directory: str) -> Iterator[tuple[object, ...]]:
    for seed in plan.seeds:
        for data in plan.data:
            for b1, b2 in plan.batches:
                sqp = Instance("sqp", data, b1, b2, seed, plan.reading, plan.beta)
                key = results.key(vars(sqp))
                cpu = results[key]["cpu"] if key in results else None
                missing = tuple(
                    method
                    for method in METHODS
                    if method in plan.methods
                    and results.key(vars(replace(sqp, method=method))) not in results
                    and not (method in TIMED and cpu is None and "sqp" not in plan.methods)
                )
                if missing:
                    yield (sqp, missing, cpu, directory, plan.iterations)
