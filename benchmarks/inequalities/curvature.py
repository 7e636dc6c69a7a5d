r"""Rules for H on ill-conditioned problems: iterations to a relative KKT error of 1e-2.

In natural variables z, with E[w] = 0 and w of small variance,

    min E[f(z) + sigma w'z]   s.t.   E[c(z) + sigma v] in [cl, cu],   z >= lower,

and the solver sees x = S z with S = diag(sizes): the units a modeller happened to choose.

    separable     f = 1/2 (z - a)'diag(h)(z - a), h from 1 to 1e4, S = I
    mixed units   correlated, f = 1/2 (z - a)'C (z - a), C_ij = 0.7^|i - j|, S spans 1e3 (m to km)
    rotated       f = 1/2 (z - a)'Q diag(h) Q'(z - a), h from 1 to 1e3, S = I
    pipeline      a small engineering model: a position in metres and kilometres, a diameter in
                  millimetres, a pressure in pascals; S = (1e3, 1, 1e2, 1e5)

The quadratic ones have ten variables, an equation, an active inequality and an active bound. The
error is max(infeasibility, stationarity) of the natural problem at z = x / S, true values, divided
by that of the start: the same measure whatever the units. It must stay below its target for three
iterations. ``sampled`` runs are Algorithm 1 with batches of 64 that grow, on an infinite source;
``E-free`` runs are Algorithm 1 without randomness.

To hold: the default H, and the best rule on offer, take at most a tenth of the iterations of
H = I; the default takes at most 300 in mixed units.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.stats as st
from pyomo.environ import ConcreteModel, Constraint, Objective, Var, sqrt

from benchmarks.inequalities.errors import errors_at, model_oracle, multipliers_of
from benchmarks.inequalities.tables import table, verdict
from pyomo_stochsqp import E, RandomParam
from pyomo_stochsqp.oracle import Vector
from pyomo_stochsqp.sqp import CURVATURES, Choices, assemble

ITERATIONS = 3000
MAX_SAMPLES = 3_000_000
TARGET, EXACT_TARGET = 1e-2, 1e-6
HELD = 3
SIGMA = 0.01
BATCH = 64
FASTER, DEFAULT_LIMIT = 10.0, 300

#: (z, noise) -> (objective, rows); noise(i) is sigma w_i, or 0 in the E-free variant
Functions = Callable[[list, Callable[[int], object]], tuple]


@dataclass(frozen=True)
class Case:
    """A problem in natural variables, and the units it is stated in."""

    start: Vector
    lower: Vector
    sizes: Vector
    functions: Functions
    #: random numbers it uses
    noises: int

    def build(self, noisy: bool, natural: bool = False) -> ConcreteModel:
        """The model; in natural variables if asked for."""
        s = np.ones_like(self.sizes) if natural else self.sizes
        m = ConcreteModel()
        indices = range(s.size)
        m.x = Var(
            indices,
            initialize=dict(enumerate(s * self.start)),
            bounds=lambda _, i: (s[i] * self.lower[i], None),
        )
        z = [m.x[i] / s[i] for i in indices]
        if noisy:
            m.w = RandomParam(range(self.noises), distribution=st.norm(0, SIGMA))
        expected = E if noisy else (lambda expression: expression)
        objective, rows = self.functions(z, lambda i: m.w[i] if noisy else 0.0)
        m.objective = Objective(expr=expected(objective))
        m.c = Constraint(
            range(len(rows)),
            rule=lambda _, j: (rows[j][0], expected(rows[j][1]), rows[j][2]),
        )
        return m


def quadratic(H: Vector, sizes: Vector) -> Case:
    """Ten variables; the minimiser of f violates the inequality and the bound of z_1."""
    n = len(H)
    a = np.linspace(-1.0, 1.5, n)

    def functions(z, noise):
        r = [v - c for v, c in zip(z, a, strict=True)]
        f = 0.5 * sum(H[i, j] * r[i] * r[j] for i in range(n) for j in range(n) if H[i, j])
        f += sum(noise(i) * z[i] for i in range(n))
        return f, [(1.0, sum(z) + noise(n), 1.0), (None, z[-1] + z[-2] + noise(n + 1), 1.0)]

    return Case(np.full(n, 2.0), np.full(n, -0.8), sizes, functions, n + 2)


def pipeline(z, noise):
    """Where to put a depot along a road, and which pipe and pump to buy for an uncertain demand."""
    east, north, diameter, pressure = z
    place = (east - 3) ** 2 + (north - 2) ** 2 + 0.5 * (east - north) ** 2
    place += noise(0) * east + noise(1) * north
    cost = diameter + 0.2 * diameter**2 + 0.5 * pressure + 0.1 * pressure**2
    flow = diameter**2 * sqrt(pressure)
    return place + cost, [(6.0, east + 2 * north + noise(2), 6.0), (2.0, flow + noise(3), None)]


def cases() -> dict[str, Case]:
    """All of them, made anew."""
    n = 10
    h = np.logspace(0, 4, n)
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((n, n)))[0]
    index = np.arange(n)
    correlated = 0.7 ** np.abs(index[:, None] - index)
    return {
        "separable": quadratic(np.diag(h), np.ones(n)),
        "mixed units": quadratic(correlated, np.logspace(-1.5, 1.5, n)),
        "rotated": quadratic((Q * np.logspace(0, 3, n)) @ Q.T, np.ones(n)),
        "pipeline": Case(
            np.array([1.0, 1.0, 3.0, 2.0]),
            np.array([0.0, 0.0, 0.2, 0.5]),
            np.array([1e3, 1.0, 1e2, 1e5]),
            pipeline,
            4,
        ),
    }


def iterations_to(
    case: Case, hessian: str, noisy: bool, targets: tuple[float, ...], limit: int = ITERATIONS
) -> list[int | None]:
    """Iterations until the relative error is below each target, or None."""
    natural = model_oracle(case.build(False, natural=True))
    multipliers = multipliers_of(natural.problem)
    oracle = model_oracle(case.build(noisy), seed=1)
    method = assemble(oracle, Choices(batch=(BATCH,) * len(oracle.sources), hessian=hessian)).method
    state = method.start(oracle.problem.x0)
    first = errors_at(natural, multipliers, state.x / case.sizes).kkt
    found: list[int | None] = [None] * len(targets)
    below = [0] * len(targets)
    while state.k < limit and state.samples < MAX_SAMPLES and None in found:
        state = method.step(state)
        if state.issue is not None:
            break
        error = errors_at(natural, multipliers, state.x / case.sizes).kkt / first
        for i, target in enumerate(targets):
            below[i] = below[i] + 1 if error <= target else 0
            if found[i] is None and below[i] >= HELD:
                found[i] = state.k - below[i] + 1
    return found


def study(limit: int = ITERATIONS) -> str:
    """Both tables and the verdicts."""
    rows, exact_rows = [], []
    counts: dict[tuple[str, str], float] = {}
    for name, case in cases().items():
        sampled = [iterations_to(case, h, True, (TARGET,), limit)[0] for h in CURVATURES]
        counts |= {
            (name, h): float("inf") if k is None else float(k)
            for h, k in zip(CURVATURES, sampled, strict=True)
        }
        rows.append([name, *(_shown(k, limit) for k in sampled)])
        exact = [
            iterations_to(case, h, False, (TARGET, EXACT_TARGET), limit) for h in CURVATURES
        ]  # fmt: skip
        exact_rows.append([name, *(" / ".join(_shown(k, limit) for k in pair) for pair in exact)])
    head = ("problem", *CURVATURES)
    return "\n".join(
        [
            f"sampled: iterations to a relative KKT error of {TARGET:g}",
            table(head, rows),
            *_verdicts(counts, limit),
            "",
            f"E-free: iterations to {TARGET:g} / {EXACT_TARGET:g}",
            table(head, exact_rows),
        ]
    )


def _shown(k: int | None, limit: int) -> str:
    return f"> {limit}" if k is None else str(k)


def _verdicts(counts: dict[tuple[str, str], float], limit: int) -> list[str]:
    lines = []
    for name in dict.fromkeys(case for case, _ in counts):
        # A run that did not arrive counts with its limit: the ratio is then a lower bound.
        identity = min(counts[name, "identity"], limit)
        best = min(counts[name, h] for h in CURVATURES)
        for what, k in (("default", counts[name, "auto"]), ("best rule", best)):
            claim = f"{name}: H = I over {what}"
            lines.append(verdict(claim, identity / k, FASTER, at_least=True))
    default = counts["mixed units", "auto"]
    return [*lines, verdict("mixed units: default H, iterations", default, DEFAULT_LIMIT)]
