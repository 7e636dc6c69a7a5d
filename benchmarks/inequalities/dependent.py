r"""Dependent rows with independent noise.

A row that is stated twice has one gradient but, sampled independently, two gradients and two
right-hand sides. Their linearisations meet far away or nowhere, and a method that insists on both
pays with the merit parameter: without the noise-aware test of ``elastic_subproblem.py`` the paper's
tau falls to 1e-4 and x ends 0.27 from the solution. Thresholds: |x - x*|_inf <= 5e-3 and
tau >= 0.05.

    row twice          min 1/2 |x - a|^2   s.t.  sum x = 1,  sum x = 1,   a = (1, 2, 3)
    sum of rows        min 1/2 |x - a|^2   s.t.  x1 + x2 = 1,  x2 + x3 = 1,  x1 + 2 x2 + x3 = 2
    circle twice       min x1 + x2         s.t.  |x|^2 = 2,  |x|^2 = 2
    inequality twice   min 1/2 |x - b|^2   s.t.  sum x <= 1, sum x <= 1, x >= 0,  b = (0, 1/2, 1)
    all of them noisy  the first again, as a Pyomo model with E[...] and two sources

The paper's noise, twice: unit batches with the diminishing beta_k (``constant``), and batches of 64
that grow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np
import scipy.stats as st
from pyomo.environ import ConcreteModel, Constraint, Objective, Var

from benchmarks.cutest.settings import LARGE_NOISE
from benchmarks.inequalities.errors import model_oracle
from benchmarks.inequalities.tables import table, verdict
from pyomo_stochsqp import E, RandomParam
from pyomo_stochsqp.oracle import Oracle
from pyomo_stochsqp.oracles import GaussianNoiseOracle
from pyomo_stochsqp.sqp import Choices, assemble

ITERATIONS = 3000
SEEDS = (1, 2, 3)
TAIL = 0.1
#: samples per iteration, on average: the solver's own limit for batches that grow
BUDGET = 64
DISTANCE, TAU = 5e-3, 0.05


def quadratic(a: Sequence[float], lower: float | None = None) -> ConcreteModel:
    """min 1/2 |x - a|^2, to which rows are added."""
    m = ConcreteModel()
    m.x = Var(range(len(a)), initialize=0.0, bounds=(lower, None))
    m.objective = Objective(expr=0.5 * sum((m.x[i] - v) ** 2 for i, v in enumerate(a)))
    return m


def row_twice() -> ConcreteModel:
    m = quadratic([1, 2, 3])
    m.c = Constraint([1, 2], rule=lambda m, _: sum(m.x.values()) == 1)
    return m


def sum_of_rows() -> ConcreteModel:
    m = quadratic([1, 2, 3])
    x1, x2, x3 = m.x.values()
    rows = [x1 + x2 == 1, x2 + x3 == 1, x1 + 2 * x2 + x3 == 2]
    m.c = Constraint([0, 1, 2], rule=lambda _, j: rows[j])
    return m


def circle_twice() -> ConcreteModel:
    m = ConcreteModel()
    m.x = Var([1, 2], initialize={1: -1.5, 2: 0.5})
    m.objective = Objective(expr=m.x[1] + m.x[2])
    m.c = Constraint([1, 2], rule=lambda m, _: m.x[1] ** 2 + m.x[2] ** 2 == 2)
    return m


def inequality_twice() -> ConcreteModel:
    m = quadratic([0, 0.5, 1], lower=0.0)
    m.c = Constraint([1, 2], rule=lambda m, _: sum(m.x.values()) <= 1)
    return m


def sampled_twice() -> ConcreteModel:
    """Each copy of the row has a source of its own, in its coefficients and its right-hand side."""
    m = quadratic([1, 2, 3])
    for copy in ("one", "two"):
        w = RandomParam(range(4), distribution=st.norm(0, 0.3))
        m.add_component(f"w_{copy}", w)
        body = sum((1 + w[i]) * m.x[i] for i in range(3)) + w[3]
        m.add_component(copy, Constraint(expr=E(body) == 1))
    return m


MODELS: dict[str, tuple[Callable[[], ConcreteModel], tuple[float, ...]]] = {
    "row twice": (row_twice, (-2 / 3, 1 / 3, 4 / 3)),
    "sum of rows": (sum_of_rows, (1.0, 0.0, 1.0)),
    "circle twice": (circle_twice, (-1.0, -1.0)),
    "inequality twice": (inequality_twice, (0.0, 0.25, 0.75)),
    "sampled twice": (sampled_twice, (-2 / 3, 1 / 3, 4 / 3)),
}
BATCHES = ("constant", "adaptive")


@dataclass(frozen=True)
class Run:
    """Distances to the solution and the merit parameter of one run."""

    name: str
    batches: str
    last: float
    average: float
    tau: float
    least_tau: float


def oracle_of(name: str, batches: str, seed: int) -> tuple[Oracle, Choices]:
    """The noisy problem, and how it is sampled."""
    exact = model_oracle(MODELS[name][0](), seed)
    if batches == "adaptive":
        choices = Choices(batch=(BUDGET,) * max(len(exact.sources), 1))
        beta: Callable[[int], float] = lambda k: 1.0  # noqa: E731
    else:
        beta = LARGE_NOISE.beta
        size = BUDGET if exact.sources else 1
        growth = "variance" if exact.sources else "constant"
        choices = Choices(batch=(size,) * max(len(exact.sources), 1), growth=growth, beta=beta)
    if exact.sources:
        return exact, choices
    return GaussianNoiseOracle(exact, LARGE_NOISE.variances, beta, seed), choices


def run_instance(name: str, batches: str, seed: int, iterations: int = ITERATIONS) -> Run:
    """One run of the sampled method, to the end of its iterations or samples."""
    oracle, choices = oracle_of(name, batches, seed)
    method = assemble(oracle, choices).method
    solution = np.array(MODELS[name][1])
    state, least = method.start(oracle.problem.x0), inf
    tail = []
    while state.k < iterations and state.samples < BUDGET * iterations:
        state = method.step(state)
        least = min(least, state.tau)
        tail.append(state.x)
    average = np.mean(tail[int((1 - TAIL) * len(tail)) :], axis=0)
    distance = lambda x: float(np.abs(x - solution).max())  # noqa: E731
    return Run(name, batches, distance(state.x), distance(average), state.tau, least)


def study(seeds: Sequence[int] = SEEDS, iterations: int = ITERATIONS) -> str:
    """All models, both ways of sampling; the worst over the seeds."""
    rows = []
    for name in MODELS:
        for batches in BATCHES:
            runs = [run_instance(name, batches, seed, iterations) for seed in seeds]
            worst = [max(getattr(r, field) for r in runs) for field in ("last", "average")]
            taus = [min(getattr(r, field) for r in runs) for field in ("tau", "least_tau")]
            rows.append([name, batches, *worst, *taus])
    head = ("rows", "batches", "|x - x*| last", "average", "tau at the end", "least tau")
    lines = [f"dependent rows, {len(seeds)} seeds, {iterations} iterations", table(head, rows)]
    for batches in BATCHES:
        mine = [row for row in rows if row[1] == batches]
        lines += [
            verdict(f"|x - x*| last, {batches}", max(r[2] for r in mine), DISTANCE),
            verdict(f"|x - x*| average, {batches}", max(r[3] for r in mine), DISTANCE),
            verdict(f"least tau, {batches}", min(r[5] for r in mine), TAU, at_least=True),
        ]
    return "\n".join(lines)
