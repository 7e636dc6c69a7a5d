r"""Fourteen problems with inequalities and bounds under the paper's Gaussian noise.

    variances of entries of g, c, J:   (eps_g / n,  eps_c / m,  eps_J / mn) beta_k^2

5000 iterations on one sample each, five seeds; true errors (see errors.py) of the last iterate and
of the average of the last tenth, and whether an iterate ever left its bounds.

What "low" and "high" mean. The thresholds come from runs whose worst infeasibilities, low and high,
were as 1 to 5, after 5000 iterations of a schedule that drops beta at iteration 501. That is the
diminishing schedule, and standard deviations as 1 to 5 belong to the study's SMALL_NOISE and
LARGE_NOISE in ``cutest/settings.py``:

    low     (eps_g, eps_c, eps_J) = (0.01, 0.01, 0.1)    beta_k diminishing
    high    (0.25, 0.25, 0.5)                            beta_k diminishing

The same thresholds are also held against the smaller variances (1e-8, 1e-4, 1e-2) and (0.01, 0.01,
0.1) with constant beta = 0.1. There theta beta = 1, steps have full length, and a row of the last
iterate is as wrong as its last estimate: its standard deviation is 0.1 sqrt(eps_c / m), 1e-3 and
1e-2 for one row, so that the last iterate cannot meet thresholds below that and only the average
can be expected to.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from benchmarks.cutest.settings import LARGE_NOISE, SMALL_NOISE, Setting
from benchmarks.inequalities.errors import Errors, errors_at, model_oracle, multipliers_of
from benchmarks.inequalities.sampled_problems import SAMPLED
from benchmarks.inequalities.tables import table, verdict
from benchmarks.pool import run_all
from pyomo_stochsqp.oracles import GaussianNoiseOracle, ModelOracle
from pyomo_stochsqp.sqp import Choices, assemble

ITERATIONS = 5000
SEEDS = (1, 2, 3, 4, 5)
TAIL = 0.1
CURVATURES = ("identity", "auto")


@dataclass(frozen=True)
class Level:
    """A noise setting and the largest errors it may leave."""

    setting: Setting
    infeasibility: float
    stationarity: float
    #: the last iterate is judged, too, not only the average
    last: bool = True


LEVELS = {
    "low": Level(SMALL_NOISE, 5e-4, 8e-3),
    "high": Level(LARGE_NOISE, 2.5e-3, 1.5e-2),
    "constant-low": Level(Setting(1e-8, 1e-4, 1e-2, False), 5e-4, 8e-3, last=False),
    "constant-high": Level(Setting(1e-2, 1e-2, 1e-1, False), 2.5e-3, 1.5e-2, last=False),
}


@dataclass(frozen=True)
class Run:
    """One instance and its errors; ``scale`` is 1 / |grad f| near the start."""

    problem: str
    level: str
    hessian: str
    seed: int
    last: Errors
    average: Errors
    #: largest distance of any iterate to the box
    outside: float
    tau: float
    scale: float


@lru_cache(maxsize=4)
def exact_oracle(problem: str) -> ModelOracle:
    return model_oracle(SAMPLED[problem].build())


def run_instance(
    problem: str, level: str, hessian: str, seed: int, iterations: int = ITERATIONS
) -> Run:
    """5000 iterations of the sampled method on one problem."""
    setting = LEVELS[level].setting
    oracle = GaussianNoiseOracle(exact_oracle(problem), setting.variances, setting.beta, seed)
    choices = Choices(batch=(1,), growth="constant", beta=setting.beta, hessian=hessian)
    assembly = assemble(oracle, choices)
    state = assembly.method.start(oracle.problem.x0)
    total, first, outside = np.zeros(oracle.problem.n), int((1 - TAIL) * iterations), 0.0
    for k in range(iterations):
        state = assembly.method.step(state)
        outside = max(outside, float(np.abs(state.x - oracle.problem.project(state.x)).max()))
        if k >= first:
            total += state.x
    multipliers = multipliers_of(oracle.problem)
    at = lambda x: errors_at(oracle, multipliers, x)  # noqa: E731
    last, average = at(state.x), at(total / (iterations - first))
    return Run(
        problem, level, hessian, seed, last, average, outside, state.tau, assembly.scaling.objective
    )


def study(
    problems: Iterable[str], levels: Sequence[str], seeds: Sequence[int], iterations: int, jobs: int
) -> str:
    """Run all instances and print their tables."""
    tasks = [
        (p, level, hessian, seed, iterations)
        for level in levels
        for hessian in CURVATURES
        for p in problems
        for seed in seeds
    ]
    runs = list(run_all(run_instance, tasks, jobs, "noise"))
    groups = ((level, hessian) for level in levels for hessian in CURVATURES)
    return "\n\n".join(
        report([r for r in runs if (r.level, r.hessian) == g], *g) for g in groups
    )  # fmt: skip


HEAD = (
    "problem", "infeas last", "stat last", "relative", "infeas avg", "stat avg", "relative",
    "outside", "tau",
)  # fmt: skip


def report(runs: Sequence[Run], level: str, hessian: str) -> str:
    """The worst of all seeds, problem by problem, and the verdicts."""
    rows = []
    for problem in dict.fromkeys(r.problem for r in runs):
        mine = [r for r in runs if r.problem == problem]
        rows.append(
            [
                problem,
                max(r.last.infeasibility for r in mine),
                max(r.last.stationarity for r in mine),
                max(r.last.stationarity * r.scale for r in mine),
                max(r.average.infeasibility for r in mine),
                max(r.average.stationarity for r in mine),
                max(r.average.stationarity * r.scale for r in mine),
                max(r.outside for r in mine),
                min(r.tau for r in mine),
            ]
        )
    limits = LEVELS[level]
    title = f"{level} noise {limits.setting.name}, hessian={hessian!r}: worst of {_seeds(runs)}"
    lines = [title, table(HEAD, rows), *verdicts(runs, limits)]
    return "\n".join(lines)


def verdicts(runs: Sequence[Run], limits: Level) -> list[str]:
    """The thresholds of one level."""
    lines = []
    for name in ("last", "average"):
        if name == "last" and not limits.last:
            continue
        errors: list[Errors] = [getattr(r, name) for r in runs]
        worst = max(e.infeasibility for e in errors)
        lines.append(verdict(f"infeasibility, {name}", worst, limits.infeasibility))
        for what, scaled in (("stationarity", False), ("relative stationarity", True)):
            worst = max(
                e.stationarity * (r.scale if scaled else 1.0)
                for e, r in zip(errors, runs, strict=True)
            )
            lines.append(verdict(f"{what}, {name}", worst, limits.stationarity))
    lines.append(verdict("distance to the box, all iterates", max(r.outside for r in runs), 0.0))
    return lines


def _seeds(runs: Sequence[Run]) -> str:
    seeds = len({r.seed for r in runs})
    return f"{seeds} seed{'s' if seeds > 1 else ''}"
