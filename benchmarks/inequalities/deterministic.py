r"""Problems without noise at default options, beside SciPy's SLSQP and the published optimum.

An answer counts as

    optimum   |f - f*| <= 1e-5 max(1, |f*|)  at a point whose certificate meets the tolerances
    better    f < f* by more than that, at such a point (a published value may be rounded)
    local     another f at such a point: a local solution within 1e-6, but a better one is known
    FAILED    anything else

A KKT point need not be a minimiser; problems whose docstring names other stationary values list
them, and an answer near none of those is marked with "?".

``prepare`` and ``run`` are what SolverFactory('stochsqp') calls; an evaluation is one of f, grad f,
c and J together, certificates included. SLSQP gets the same functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import minimize

from benchmarks.inequalities.errors import model_oracle
from benchmarks.inequalities.registry import Collection, Entry
from benchmarks.inequalities.tables import table
from pyomo_stochsqp.interface.options.table import validated
from pyomo_stochsqp.method import Stop
from pyomo_stochsqp.oracle import Estimate, Jacobian, Oracle, Sample, Vector, exact_estimate
from pyomo_stochsqp.solve import prepare

CLOSE = 1e-5
#: SLSQP: relative violation that counts as feasible, tolerance, iterations
FEASIBLE, TOLERANCE, ITERATIONS = 1e-6, 1e-10, 1000
TIME_LIMIT = 60.0  # seconds


@dataclass(frozen=True)
class Answer:
    """What a solver made of a problem."""

    kind: str
    status: str
    f: float
    violation: float
    #: bound on f minus its value at a local solution, relative to the size of f
    gap: float
    iterations: int
    evaluations: int


class Counter:
    """Counts the evaluations of a model's oracle, in place."""

    def __init__(self, oracle: Any):
        self.count = 0
        self._estimate = oracle.estimate
        oracle.estimate = self.estimate

    def estimate(self, x: Vector, sample: Sample, objective: bool = False) -> Estimate:
        self.count += 1
        return self._estimate(x, sample, objective)


def solve(entry: Entry, **options: Any) -> Answer:
    """Our answer, at default options unless others are given."""
    setup = prepare(entry.build(), validated(options))
    setup = replace(setup, budget=replace(setup.budget, time_limit=TIME_LIMIT))
    counter = Counter(setup.oracle)
    outcome = setup.run()
    best, status = outcome.best, outcome.stop.name
    if best is None:
        nothing = float("nan")
        return Answer("FAILED", status, nothing, nothing, nothing, outcome.state.k, counter.count)
    certified = outcome.stop is Stop.CONVERGED and setup.tolerances.met(best)
    return Answer(
        kind_of(entry, best.objective, certified),
        status,
        best.objective,
        best.infeasibility,
        best.relative_gap,
        outcome.state.k,
        counter.count,
    )


def kind_of(entry: Entry, f: float, certified: bool) -> str:
    """See the head of this file."""
    if not certified:
        return "FAILED"
    if near(f, entry.value):
        return "optimum"
    if f < entry.value:
        return "better"
    return "local" if any(near(f, v) for v in entry.local) else "local?"


def near(f: float, value: float) -> bool:
    return abs(f - value) <= CLOSE * max(1.0, abs(value))


def slsqp(entry: Entry) -> Answer:
    """SciPy's answer from the same start, projected on the bounds."""
    oracle = model_oracle(entry.build())
    counter = Counter(oracle)
    problem, at = oracle.problem, _Memory(oracle)
    equal = problem.row_lower == problem.row_upper
    low = np.isfinite(problem.row_lower) & ~equal
    up = np.isfinite(problem.row_upper) & ~equal
    dense = _Dense(oracle)
    rows = [
        {
            "type": kind,
            "fun": lambda x, s=sign, p=picked, b=bound: s * (at(x).c[p] - b[p]),
            "jac": lambda x, s=sign, p=picked: s * dense(at(x).J)[p],
        }
        for kind, sign, picked, bound in (
            ("eq", 1.0, equal, problem.row_lower),
            ("ineq", 1.0, low, problem.row_lower),
            ("ineq", -1.0, up, problem.row_upper),
        )
        if picked.any()
    ]
    with np.errstate(all="ignore"):
        found = minimize(
            lambda x: at(x).f,
            problem.project(problem.x0),
            jac=lambda x: at(x).g,
            bounds=list(zip(problem.x_lower, problem.x_upper, strict=True)),
            constraints=rows,
            method="SLSQP",
            options={"ftol": TOLERANCE, "maxiter": ITERATIONS},
        )
    violation = float(problem.violation(at(problem.project(found.x)).c).max(initial=0.0))
    # Its line search may end in rounding at the solution, which it reports as a failure.
    fine = violation <= FEASIBLE * max(1.0, float(np.abs(found.x).max()))
    f, nan = float(found.fun), float("nan")
    kind = kind_of(entry, f, fine).rstrip("?")
    return Answer(kind, str(found.status), f, violation, nan, found.nit, counter.count)


class _Memory:
    """Values at the last point."""

    def __init__(self, oracle: Oracle):
        self._oracle = oracle
        self._x: Vector | None = None

    def __call__(self, x: Vector) -> Estimate:
        if self._x is None or not np.array_equal(x, self._x):
            self._x, self._values = x.copy(), exact_estimate(self._oracle, x.copy(), True)
        return self._values


class _Dense:
    """The Jacobian as a matrix."""

    def __init__(self, oracle: Oracle):
        self._jacobian, self._rows = Jacobian(oracle.problem), np.eye(oracle.problem.m)

    def __call__(self, J: Vector) -> Vector:
        rows = [self._jacobian.transposed(J, e) for e in self._rows]
        return np.array(rows).reshape(self._jacobian.shape)


HEAD = (
    "problem", "n", "m", "answer", "status", "f", "f*", "violation", "gap", "iter", "eval",
    "SLSQP", "f", "iter", "eval",
)  # fmt: skip


def study(title: str, collection: Collection, names: Sequence[str]) -> str:
    """The table of some problems of a collection, and how many answers are of each kind."""
    rows, kinds = [], []
    for name in names:
        entry = collection[name]
        model = entry.build()
        ours, theirs = solve(entry), slsqp(entry)
        kinds.append(ours.kind.rstrip("?"))
        rows.append([
            name, len(entry.start), len(model.c), ours.kind, ours.status, f"{ours.f:.8g}",
            f"{entry.value:.8g}", ours.violation, ours.gap, ours.iterations,
            ours.evaluations, theirs.kind, f"{theirs.f:.8g}", theirs.iterations,
            theirs.evaluations,
        ])  # fmt: skip
    counts = ", ".join(f"{kinds.count(k)} {k}" for k in dict.fromkeys(kinds))
    failed = [n for n, k in zip(names, kinds, strict=True) if k == "FAILED"]
    end = f"MISSED  failed on {', '.join(failed)}" if failed else "ok      KKT points of all"
    return "\n".join([title, table(HEAD, rows), f"{len(rows)} problems: {counts}", end])
