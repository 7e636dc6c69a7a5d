"""Random expression trees, built twice: over RandomParams under E, and over plain Params."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyomo.environ as pyo


class ByExponentials:
    """Hyperbolic functions by their definitions: Pyomo's differentiate does not know them."""

    sinh = staticmethod(lambda u: (pyo.exp(u) - pyo.exp(-u)) / 2)
    cosh = staticmethod(lambda u: (pyo.exp(u) + pyo.exp(-u)) / 2)
    tanh = staticmethod(lambda u: 1 - 2 / (pyo.exp(2 * u) + 1))
    asinh = staticmethod(lambda u: pyo.log(u + pyo.sqrt(u**2 + 1)))
    acosh = staticmethod(lambda u: pyo.log(u + pyo.sqrt(u**2 - 1)))
    atanh = staticmethod(lambda u: 0.5 * pyo.log((1 + u) / (1 - u)))


#: functions with an argument transformed into their domain
UNARY: list[Callable[..., Any]] = [
    lambda u, h: pyo.exp(0.3 * u),
    lambda u, h: pyo.log(u**2 + 1.5),
    lambda u, h: pyo.log10(u**2 + 1.5),
    lambda u, h: pyo.sqrt(u**2 + 0.5),
    lambda u, h: pyo.sin(u),
    lambda u, h: pyo.cos(u),
    lambda u, h: pyo.tan(0.2 * pyo.sin(u)),
    lambda u, h: pyo.asin(0.7 * pyo.sin(u)),
    lambda u, h: pyo.acos(0.7 * pyo.cos(u)),
    lambda u, h: pyo.atan(u),
    lambda u, h: h.sinh(pyo.sin(u)),
    lambda u, h: h.cosh(pyo.cos(u)),
    lambda u, h: h.tanh(u),
    lambda u, h: h.asinh(pyo.sin(u)),
    lambda u, h: h.acosh(u**2 + 1.2),
    lambda u, h: h.atanh(0.6 * pyo.sin(u)),
    lambda u, h: pyo.log(1 + pyo.exp(u)),
    lambda u, h: pyo.log(2 * pyo.exp(u) + pyo.exp(1.0 - u) + 0.5),
    lambda u, h: 1 / (1 + pyo.exp(-u)),
    lambda u, h: pyo.exp(u) / (1 + pyo.exp(u)),
    lambda u, h: u**2,
    lambda u, h: u**3,
    lambda u, h: u**5,
    lambda u, h: (u**2 + 0.3) ** 0.5,
    lambda u, h: (u**2 + 0.3) ** 1.5,
    lambda u, h: (u**2 + 0.3) ** 2.3,
    lambda u, h: (u**2 + 0.3) ** (-1.7),
    lambda u, h: (u**2 + 0.8) ** (-2),
    lambda u, h: 1.7 ** pyo.sin(u),
    lambda u, h: -u,
    lambda u, h: u / 3,
    lambda u, h: 2 / (u**2 + 1),
]

BINARY: list[Callable[[Any, Any], Any]] = [
    lambda a, b: a + b,
    lambda a, b: a - b,
    lambda a, b: a * b,
    lambda a, b: a / (b**2 + 1.0),
    lambda a, b: (a**2 + 0.5) ** pyo.sin(b),
    lambda a, b: a + 2 * b - 1,
    lambda a, b: a * b + a,
]


class TreeMaker:
    """Draws the decisions; asked twice with the same seed it builds the same tree."""

    def __init__(self, seed: int, x: Any, w: Any, p: Any, model: Any, hyperbolic: Any):
        self.rng = np.random.default_rng(seed)
        self.x, self.w, self.p = x, w, p
        self.model = model
        self.hyperbolic = hyperbolic
        self.named: list[Any] = []

    def leaf(self) -> Any:
        kind = self.rng.integers(0, 8)
        if kind < 4:
            return self.x[int(self.rng.integers(0, len(self.x)))]
        if kind < 6:
            return self.w[int(self.rng.integers(0, len(self.w)))]
        if kind == 6:
            return self.p[int(self.rng.integers(0, len(self.p)))]
        return float(np.round(self.rng.normal(), 2))

    def linear(self) -> Any:
        terms = []
        for j in range(len(self.x)):
            kind = self.rng.integers(0, 5)
            c = [1.0, self.w[j % len(self.w)], self.p[j % len(self.p)], 0.5, -1.0][kind]
            terms.append(c * self.x[j])
        return sum(terms)

    def tree(self, depth: int) -> Any:
        if depth == 0:
            return self.leaf()
        kind = self.rng.integers(0, 12)
        if kind < 4:
            f = UNARY[self.rng.integers(0, len(UNARY))]
            return f(self.tree(depth - 1), self.hyperbolic)
        if kind < 9:
            b = BINARY[self.rng.integers(0, len(BINARY))]
            return b(self.tree(depth - 1), self.tree(depth - 1))
        if kind == 9:
            return self.linear()
        if kind == 10 and self.named:
            return self.named[int(self.rng.integers(0, len(self.named)))]
        e = pyo.Expression(expr=self.tree(depth - 1))
        self.model.add_component(f"e{id(e)}", e)
        self.named.append(e)
        return e
