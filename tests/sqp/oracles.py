"""Hand-written oracles: the algorithms run on anything with the Oracle's methods."""

from __future__ import annotations

import numpy as np

from pyomo_stochsqp.oracle import Estimate, Problem, Sample, SourceInfo
from pyomo_stochsqp.sample.streams import generator


class SampledOracle:
    """E[F(x, w)], E[C(x, w)] for vectorised functions of (x, rows of w)."""

    def __init__(self, x0, m, draw, functions, seed=1):
        self.problem = Problem.equalities(np.asarray(x0, dtype=float), m)
        self.sources = (SourceInfo("w", None),)
        self._draw = draw
        self._functions = functions
        self._seed = seed

    def draw(self, stream, k, batch):
        rng = generator(self._seed, stream, 0, 0, k, batch[0])
        return Sample(self._draw(rng, batch[0]), scenarios=batch[0])

    def estimate(self, x, sample, objective=False):
        f, g, c, J = self._functions(x, sample.payload)
        return Estimate(g, c, J, f if objective else None)


class ExactOracle:
    """A deterministic problem given by f, g, c, J of x."""

    def __init__(self, x0, m, functions):
        self.problem = Problem.equalities(np.asarray(x0, dtype=float), m)
        self.sources = ()
        self._functions = functions
        self.evaluations = 0

    def draw(self, stream, k, batch):
        return Sample((), scenarios=0, exact=True)

    def estimate(self, x, sample, objective=False):
        self.evaluations += 1
        f, g, c, J = self._functions(x)
        return Estimate(np.array(g), np.array(c), np.array(J), f)


def tilting(seed=1):
    """min x^2 s.t. E[exp(x w)] = e, w ~ N(1, 1): x = sqrt(3) - 1, y = -0.310968."""

    def functions(x, w):
        e = np.exp(w * x[0])
        return (
            x[0] ** 2,
            2 * x,
            np.array([e.mean() - np.e]),
            np.array([(w * e).mean()]),
        )

    return SampledOracle([0.5], 1, lambda rng, n: 1 + rng.standard_normal(n), functions, seed)


def noisy_sphere(seed=1, n=5):
    """min c'x s.t. E|x - z|^2 = 1.5, var z = 0.1 each: x = -c/|c|, f = -7.416198."""
    cost = np.arange(1.0, n + 1)

    def functions(x, z):
        difference = x - z
        return (
            float(cost @ x),
            cost.copy(),
            np.array([(difference**2).sum(axis=1).mean() - 1.5]),
            2 * difference.mean(axis=0),
        )

    draw = lambda rng, size: np.sqrt(0.1) * rng.standard_normal((size, n))  # noqa: E731
    return SampledOracle(np.full(n, 0.5), 1, draw, functions, seed)


def hs7():
    """min log(1 + x1^2) - x2 s.t. (1 + x1^2)^2 + x2^2 = 4: x = (0, sqrt 3)."""

    def functions(x):
        a = 1 + x[0] ** 2
        return (
            float(np.log(a) - x[1]),
            [2 * x[0] / a, -1.0],
            [a**2 + x[1] ** 2 - 4],
            [4 * x[0] * a, 2 * x[1]],
        )

    return ExactOracle([2.0, 2.0], 1, functions)
