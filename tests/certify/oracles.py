"""Problems whose expectations, solutions and gaps are known, sampled by independent draws."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pyomo_stochsqp.certify import Certifier, Look, Sizes
from pyomo_stochsqp.oracle import Estimate, Problem, Sample, SourceInfo


class Known:
    """F(x, w), C(x, w) given by functions of x and the moments of a batch.

    ``values(x, w)`` -> (f, g, c, J) of a batch of rows w. ``truth(x)`` -> (f, c) exactly;
    ``solution`` and its multipliers are known.
    """

    def __init__(self, problem, draw, values, truth, solution, multipliers, seed=0):
        self.problem = problem
        self.sources = (SourceInfo("w", None),)
        self.truth = truth
        self.solution = np.asarray(solution, dtype=float)
        self.multipliers = np.asarray(multipliers, dtype=float)
        self._draw, self._values, self._seed = draw, values, seed

    def draw(self, stream, k, batch):
        rng = np.random.default_rng((self._seed, stream, k))
        return Sample(self._draw(rng, batch[0]), scenarios=batch[0])

    def estimate(self, x, sample, objective=False):
        f, g, c, J = self._values(x, sample.payload)
        return Estimate(
            np.array(g, dtype=float), np.array(c, dtype=float),
            np.array(J, dtype=float).ravel(), float(f),
        )  # fmt: skip


def tilting(seed=0):
    """min x^2 s.t. E[exp(x w)] = e, w ~ N(1, 1)."""

    def values(x, w):
        e = np.exp(w * x[0])
        return x[0] ** 2, 2 * x, [e.mean()], [(w * e).mean()]

    def truth(x):
        return x[0] ** 2, np.exp(x + 0.5 * x**2)

    x = np.sqrt(3.0) - 1.0
    problem = replace(
        Problem.equalities([0.5], 1), row_lower=np.array([np.e]), row_upper=np.array([np.e])
    )
    y = -2.0 * x / (np.e * np.sqrt(3.0))
    return Known(problem, lambda rng, n: 1 + rng.standard_normal(n), values, truth, [x], [y], seed)


def sphere(seed=0, n=4):
    """min c'x s.t. E|x - z|^2 = 1 + 0.1 n, var z = 0.1 each."""
    cost = np.arange(1.0, n + 1)
    level = np.array([1.0 + 0.1 * n])

    def values(x, z):
        d = x - z
        return cost @ x, cost, [(d**2).sum(axis=1).mean()], 2 * d.mean(axis=0)

    def truth(x):
        return cost @ x, np.array([x @ x + 0.1 * n])

    problem = replace(Problem.equalities(np.full(n, 0.5), 1), row_lower=level, row_upper=level)
    length = np.linalg.norm(cost)
    return Known(
        problem, lambda rng, size: np.sqrt(0.1) * rng.standard_normal((size, n)), values, truth,
        -cost / length, [0.5 * length], seed,
    )  # fmt: skip


def bounded(seed=0):
    """min E[(x1 - w1)^2 + (x2 - w2)^2] with x >= 0, x1 <= 1 as a row: E w = (2, -0.5).

    The row and the bound of x2 are active; x3 is free and only in the objective, E w3 = 1.
    """
    mean = np.array([2.0, -0.5, 1.0])

    def values(x, w):
        d = x - w
        return (d**2).sum(axis=1).mean(), 2 * d.mean(axis=0), [x[0]], [1.0, 0.0, 0.0]

    def truth(x):
        return ((x - mean) ** 2).sum() + 3.0, np.array([x[0]])

    problem = replace(
        Problem.equalities(np.ones(3), 1), x_lower=np.array([0.0, 0.0, -np.inf]),
        row_lower=np.array([-np.inf]), row_upper=np.array([1.0]),
    )  # fmt: skip
    return Known(
        problem, lambda rng, n: mean + rng.standard_normal((n, 3)), values, truth,
        [1.0, 0.0, 1.0], [2.0], seed,
    )  # fmt: skip


def certified(oracle, x, y=None, points=256, count=16, confidence=0.95, sizes=None, number=0):
    """A certificate on independent draws."""
    samples = [oracle.draw(1, number * count + r, [points]) for r in range(count)]
    y = oracle.multipliers if y is None else y
    sizes = sizes or Sizes.none(oracle.problem).with_point(oracle.problem.x0)
    x = np.asarray(x, dtype=float)
    made = Certifier(oracle).certify(x, y, samples, samples[:4], Look(number, sizes, confidence))
    return made[0]


def exact(problem_oracle, x, y, sizes=None):
    """A certificate without sampling error."""
    sample = Sample((), scenarios=0, exact=True)
    sizes = sizes or Sizes.none(problem_oracle.problem).with_point(np.asarray(x, dtype=float))
    made = Certifier(problem_oracle).certify(
        np.asarray(x, dtype=float), np.asarray(y, dtype=float), [sample], [sample],
        Look(0, sizes, 0.95),
    )  # fmt: skip
    return made[0]
