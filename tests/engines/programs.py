"""Programs written by hand, and engines run on them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pyomo_stochsqp.compile import compile_program
from pyomo_stochsqp.declare import read_model
from pyomo_stochsqp.engines import Accuracy, Scales
from pyomo_stochsqp.nlp import SampleAverage
from pyomo_stochsqp.oracle import Estimate, EvaluationIssue, Problem, whole_sample
from pyomo_stochsqp.oracles import ModelOracle
from pyomo_stochsqp.sample import Sampler

#: as for a model without randomness at its default tolerance
ACCURATE = Accuracy(1e-7, 1e-10, last_step=True)
MOST_STEPS = 4000


class Program:
    """A program from a function x -> (f, g, c, J, [H_f, H_1, ..., H_m]), all of them full."""

    second_order = True

    def __init__(self, x0, functions, rows=((), ()), bounds=None, domain=lambda x: True):
        x0 = np.asarray(x0, dtype=float)
        lower, upper = (np.asarray(b, dtype=float) for b in rows)
        problem = Problem.equalities(x0, lower.size)
        low, high = bounds if bounds is not None else (problem.x_lower, problem.x_upper)
        self.problem = replace(
            problem,
            row_lower=lower,
            row_upper=upper,
            x_lower=np.asarray(low, dtype=float),
            x_upper=np.asarray(high, dtype=float),
        )
        self._functions = functions
        self._domain = domain
        self.evaluations = 0

    def evaluate(self, x):
        self.evaluations += 1
        n, m = self.problem.n, self.problem.m
        if not self._domain(x):
            nothing = np.full(n, np.nan), np.full(m, np.nan), np.full(m * n, np.nan)
            return Estimate(*nothing, np.nan, EvaluationIssue("f", "log of a negative number"))
        f, g, c, J, _ = self._functions(x)
        return Estimate(
            np.array(g, dtype=float),
            np.array(c, dtype=float).reshape(m),
            np.array(J, dtype=float).reshape(m * n),
            float(f),
        )

    def hessian_pattern(self):
        n = self.problem.n
        rows = np.concatenate([np.arange(j + 1) for j in range(n)])
        return np.cumsum(np.arange(n + 1)), rows

    def hessian(self, x, y):
        first, *others = (np.asarray(H, dtype=float) for H in self._functions(x)[4])
        H = first + sum((v * other for v, other in zip(y, others, strict=True)), 0.0 * first)
        columns, rows = np.tril_indices(self.problem.n)
        return H[rows, columns]


class FirstOrder(Program):
    """The same without second derivatives."""

    second_order = False

    def hessian_pattern(self):
        raise AssertionError("nobody may ask")

    hessian = hessian_pattern


def quadratic(H, g, A=None, rows=((), ()), bounds=None, x0=None, kind=Program):
    """min 1/2 x'Hx + g'x with linear rows."""
    H, g = np.asarray(H, dtype=float), np.asarray(g, dtype=float)
    A = np.zeros((0, g.size)) if A is None else np.asarray(A, dtype=float)
    flat = [H, *np.zeros((len(A), g.size, g.size))]

    def functions(x):
        return 0.5 * x @ H @ x + g @ x, H @ x + g, A @ x, A, flat

    return kind(np.zeros(g.size) if x0 is None else x0, functions, rows, bounds)


def solved_quadratic(rng, n, equalities, active, inactive, held):
    """(program, x, y): a random convex program made from its solution.

    Rows are equalities, active and inactive inequalities (some with two bounds); ``held`` variables
    sit at a bound. Multipliers of what is active are at least 0.1.
    """
    B = rng.standard_normal((n, n))
    H = B @ B.T + np.eye(n)
    x = rng.standard_normal(n)
    m = equalities + active + inactive
    A = rng.standard_normal((m, n))
    c = A @ x
    y = np.zeros(m)
    y[:equalities] = rng.standard_normal(equalities)
    lower, upper = c.copy(), c.copy()
    room = 0.5 + rng.random(m)
    other = np.where(rng.random(m) < 0.5, room, np.inf)
    for i in range(equalities, m):
        sign = rng.choice([-1.0, 1.0])
        if i < equalities + active:
            y[i] = sign * (0.1 + rng.random())
            lower[i] = c[i] if sign < 0 else c[i] - other[i]
            upper[i] = c[i] if sign > 0 else c[i] + other[i]
        else:
            lower[i], upper[i] = c[i] - room[i], c[i] + other[i]
    low, high = np.full(n, -np.inf), np.full(n, np.inf)
    pull = np.zeros(n)
    for j in range(n):
        sign = rng.choice([-1.0, 1.0])
        if j < held:
            pull[j] = sign * (0.1 + rng.random())
            low[j], high[j] = (x[j], x[j] + 1.0) if sign > 0 else (x[j] - 1.0, x[j])
        elif rng.random() < 0.3:
            low[j], high[j] = x[j] - 0.7, x[j] + 0.9
    g = -H @ x - A.T @ y + pull  # g + Hx + A'y = pull: positive at a lower bound
    start = np.clip(x + rng.standard_normal(n), low, high)
    return quadratic(H, g, A, (lower, upper), (low, high), start), x, y


def of_model(model):
    """The program of a Pyomo model without randomness."""
    program = read_model(model)
    oracle = ModelOracle(program, compile_program(program), Sampler(program.sources, 0))
    return SampleAverage(oracle, [whole_sample(oracle)])


def make(kind, nlp, accuracy=ACCURATE, x=None):
    """An engine as a run would make it."""
    x = nlp.problem.project(nlp.problem.x0 if x is None else x)
    f = nlp.evaluate(x).f
    return kind(nlp, accuracy, Scales(np.abs(x), 1e-3 * abs(f) if np.isfinite(f) else 0.0))


def steps(engine, x, y):
    """All states from the start to the end."""
    state = engine.start(x, y)
    yield state
    while state.ended is None:
        state = engine.step(state)
        yield state
        assert state.k <= MOST_STEPS


def solved(kind, nlp, x=None, y=None, accuracy=ACCURATE, relaxed=None):
    """The last state of a solve."""
    engine = make(kind, nlp, accuracy, x)
    if relaxed is not None:
        engine.relax(np.asarray(relaxed, dtype=float))
    x = nlp.problem.x0 if x is None else np.asarray(x, dtype=float)
    y = np.zeros(nlp.problem.m) if y is None else y
    *_, last = steps(engine, x, y)
    return last
