r"""Numbers with a gradient and a Hessian, in extended precision: what expressions should give.

    f(a):   g = f' g_a,    H = f' H_a + f'' g_a g_a'

Independent of the package: every operation is applied as it stands in the expression, without
simplifying. Extended precision has a wider range than floats, so a finite result is found where
floats overflow on the way; ``Arithmetic.extreme`` says that they may. With ``noise`` every
operation is perturbed by so much: how far results move is how well floats determine them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

Long = np.longdouble
#: beyond this (or its inverse), floats may overflow or vanish in products that derivatives need
LARGE = Long(1e75)
#: beyond this, extended precision may, too
BEYOND = Long(10) ** 1200


class Number(NamedTuple):
    """A value; gradient and Hessian are None where it is free of variables."""

    v: Any
    g: Any = None
    H: Any = None


class Arithmetic:
    """Operations on such numbers, remembering what floats may find difficult."""

    def __init__(self, noise: float = 0.0, seed: int = 0, literal: bool = False):
        """``literal``: e - e and zero times e depend on variables, with derivatives zero."""
        self.literal = literal
        self.extreme = self.beyond = False
        self._noise = noise
        self._rng = np.random.default_rng(seed)

    def _made(self, v: Any, g: Any = None, H: Any = None) -> Number:
        for part in (v, g, H):
            if part is not None:
                size = np.abs(part)
                size = np.maximum(size, 1 / np.where(size > 0, size, 1))
                self.extreme = self.extreme or bool((size > LARGE).any())
                self.beyond = self.beyond or bool((size > BEYOND).any())
        if self._noise:
            v, g, H = (self._shaken(part) for part in (v, g, H))
            if H is not None:
                H = (H + H.T) / 2
        return Number(v, g, H)

    def _shaken(self, part: Any) -> Any:
        if part is None:
            return None
        return part * (1 + self._noise * self._rng.standard_normal(np.shape(part)).astype(Long))

    def add(self, a: Number, b: Number) -> Number:
        if a.g is None or b.g is None:
            other = a if b.g is None else b
            return self._made(a.v + b.v, other.g, other.H)
        return self._made(a.v + b.v, a.g + b.g, a.H + b.H)

    def multiply(self, a: Number, b: Number) -> Number:
        if a.g is None:
            a, b = b, a
        if a.g is None or (b.g is None and b.v == 0 and not self.literal and np.isfinite(a.v)):
            return self._made(a.v * b.v)
        if b.g is None:
            return self._made(a.v * b.v, a.g * b.v, a.H * b.v)
        cross = np.outer(a.g, b.g)
        return self._made(a.v * b.v, a.g * b.v + b.g * a.v, a.H * b.v + b.H * a.v + cross + cross.T)

    def negate(self, a: Number) -> Number:
        return Number(*(None if part is None else -part for part in a))

    def divide(self, a: Number, b: Number) -> Number:
        if b.v == 0:
            return self._undefined(a, b)
        if self._noise:  # as others may do it: then x/x has derivatives that cancel
            return self.multiply(a, self._fixed_power(b, Long(-1)))
        q, g, H = a.v / b.v, a.g, a.H
        if b.g is not None:
            g = -q * b.g / b.v if g is None else (g - q * b.g) / b.v
            cross = np.outer(g, b.g)
            H = (-q * b.H - cross - cross.T + (0 if H is None else H)) / b.v
        elif g is not None:
            g, H = g / b.v, H / b.v
        return self._made(q, g, H)

    def power(self, a: Number, b: Number) -> Number:
        """a ** b, with the derivatives of the real function where it has them."""
        whole = b.v == np.floor(b.v)
        if np.isnan(a.v) or (a.v < 0 and not whole) or (a.v == 0 and b.v < 0):
            return self._undefined(a, b)
        if b.g is None:
            return self._fixed_power(a, b.v)
        if a.v < 0:
            return self._undefined(a, b)
        if a.v == 0:
            # 0 for every b > 0; smooth towards other a, too, if b is large enough
            if b.v <= 0 or (a.g is not None and b.v < 1):
                return self._undefined(a, b)
            g = 0 * b.g if a.g is None else a.g * Long(b.v == 1)
            smooth = a.g is None or b.v > 2
            return self._made(Long(0), g, (0 if smooth else Long("nan")) * np.outer(g, g))
        return self.function("exp", self.multiply(b, self.function("log", a)))

    def _fixed_power(self, a: Number, p: Any) -> Number:
        def slopes(v: Any) -> tuple[Any, Any]:
            first = Long(0) if p == 0 else p * v ** (p - 1)
            second = Long(0) if p in (0, 1) else p * (p - 1) * v ** (p - 2)
            return first, second

        return self._applied(a, a.v**p, slopes)

    def function(self, name: str, a: Number) -> Number:
        value, slopes = _FUNCTIONS[name]
        return self._applied(a, value(a.v), slopes)

    def _applied(self, a: Number, value: Any, slopes: Callable[[Any], tuple[Any, Any]]) -> Number:
        if np.isinf(value) and np.isfinite(a.v) and abs(a.v) > 1:
            self.extreme = self.beyond = True  # no end of a domain, but of the range of numbers
        if a.g is None or not np.isfinite(value):
            return self._made(value) if a.g is None else self._undefined(a)
        first, second = slopes(a.v)
        return self._made(value, first * a.g, first * a.H + second * np.outer(a.g, a.g))

    def _undefined(self, *args: Number) -> Number:
        nan = Long("nan")
        return Number(nan, *next(
            ((np.full_like(a.g, nan), np.full_like(a.H, nan)) for a in args if a.g is not None),
            (None, None)))  # fmt: skip


_ONE = Long(1)
_LN10 = np.log(Long(10))

#: name -> value, (first, second derivative)
_FUNCTIONS: dict[str, tuple[Callable[..., Any], Callable[..., tuple[Any, Any]]]] = {
    "exp": (np.exp, lambda v: (np.exp(v), np.exp(v))),
    "log": (np.log, lambda v: (1 / v, -1 / v**2)),
    "log10": (np.log10, lambda v: (1 / v / _LN10, -1 / v**2 / _LN10)),
    "sqrt": (np.sqrt, lambda v: (_ONE / 2 / np.sqrt(v), -_ONE / 4 / (v * np.sqrt(v)))),
    "sin": (np.sin, lambda v: (np.cos(v), -np.sin(v))),
    "cos": (np.cos, lambda v: (-np.sin(v), -np.cos(v))),
    "tan": (np.tan, lambda v: (1 + np.tan(v) ** 2, 2 * np.tan(v) * (1 + np.tan(v) ** 2))),
    "asin": (np.arcsin, lambda v: (_root(v) ** -1, v * _root(v) ** -3)),
    "acos": (np.arccos, lambda v: (-(_root(v) ** -1), -v * _root(v) ** -3)),
    "atan": (np.arctan, lambda v: (1 / (1 + v * v), -2 * v / (1 + v * v) ** 2)),
    "sinh": (np.sinh, lambda v: (np.cosh(v), np.sinh(v))),
    "cosh": (np.cosh, lambda v: (np.sinh(v), np.cosh(v))),
    "tanh": (np.tanh, lambda v: (np.cosh(v) ** -2, -2 * np.tanh(v) * np.cosh(v) ** -2)),
    "asinh": (np.arcsinh, lambda v: ((1 + v * v) ** -0.5, -v * (1 + v * v) ** -1.5)),
    "acosh": (np.arccosh, lambda v: (_minus(v) ** -0.5, -v * _minus(v) ** -1.5)),
    "atanh": (np.arctanh, lambda v: (1 / (1 - v * v), 2 * v / (1 - v * v) ** 2)),
}
NAMES = tuple(_FUNCTIONS)
assert all(hasattr(math, name) for name in NAMES)


def _root(v: Any) -> Any:
    return np.sqrt((1 - v) * (1 + v))


def _minus(v: Any) -> Any:
    return (v - 1) * (v + 1)
