r"""Running what is missing: seed by seed, so that an unfinished study is a smaller study."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.cutest.settings import (
    LARGE_NOISE,
    PROFILE_SEEDS,
    PROFILES,
    SETTINGS,
    SMALL_NOISE,
)
from benchmarks.cutest.study import run_instance
from benchmarks.pool import run_all
from benchmarks.store import ResultFile

#: in the order of their runs
METHODS = ("sqp", "sqp-scaled", "profile", "stages", "subgradient")
#: those that get the CPU time that ``sqp`` took
TIMED = ("stages", "subgradient")


@dataclass(frozen=True)
class Plan:
    """What a study consists of."""

    methods: tuple[str, ...]
    problems: tuple[str, ...]
    settings: tuple[str, ...]
    seeds: tuple[int, ...]
    iterations: int
    quick: bool = False


def run_missing(results: ResultFile, plan: Plan, jobs: int) -> None:
    """Run all instances of a plan that the file does not hold yet."""
    for method in METHODS:
        if method not in plan.methods:
            continue
        tasks = list(_tasks(results, plan, method))
        for record in run_all(run_instance, tasks, jobs, f"{method} instances"):
            results.append(record)


def _tasks(results: ResultFile, plan: Plan, method: str) -> Iterator[tuple[object, ...]]:
    for problem, setting, seed in _instances(plan, method):
        if (method, problem, setting, seed) in results:
            continue
        task: tuple[object, ...] = (method, problem, setting, seed, plan.iterations)
        if method in TIMED:
            sqp = ("sqp", problem, setting, seed)
            if sqp not in results:
                continue
            task += (results[sqp]["cpu"],)
        yield task


def _instances(plan: Plan, method: str) -> Iterator[tuple[str, str, int]]:
    if method == "profile":
        seeds = range(1, 4 if plan.quick else PROFILE_SEEDS + 1)
        names = [p for p in PROFILES if p in plan.problems]
        noises = [s.name for s in (LARGE_NOISE, SMALL_NOISE)]
        yield from ((p, s, seed) for p in names for s in noises for seed in seeds)
        return
    # scaled problems are there to compare with the paper's 1980 instances
    settings = [s for s in plan.settings if method != "sqp-scaled" or not SETTINGS[s].diminishing]
    for seed in plan.seeds:
        for problem in plan.problems:
            yield from ((problem, setting, seed) for setting in settings)
