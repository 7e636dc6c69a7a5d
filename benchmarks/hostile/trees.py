r"""Random expression trees with everything that is awkward: zeros, ones, huge and tiny numbers,
mutable Params that are zero, fixed variables, powers of all kinds, points where domains end.

A tree is data, nested tuples (operation, arguments); ``as_pyomo`` and ``as_number`` give its two
meanings.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pyomo.environ as pyo

from benchmarks.hostile.taylor import NAMES, Arithmetic, Number
from pyomo_stochsqp import RandomParam

VARIABLES, COLUMNS, PARAMS, ROWS = 3, 2, 4, 4
NUMBERS = (0.0, 1.0, -1.0, 2.0, 3.0, 0.5, -2.0, 1.5, 10.0, -0.3, 4, 7, 1e-8, 1e8)
EXPONENTS = (2, 3, 0.5, -1, -2, 1.5, 0, 1, 4, 5, 8.5, 0.3, -0.5, 2.0, 64, 71, -3, 1 / 3)
#: values of variables, Params and data
POINTS = (0.0, 1.0, -1.0, 2.0, -2.0, 0.5, 0.1, 3.0, -0.7, 20.0, 1e-3)
OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
             "**": operator.pow}  # fmt: skip


class Maker:
    """Draws trees."""

    def __init__(self, rng: np.random.Generator):
        self._rng = rng
        self._made: list[Any] = []

    def _one_of(self, choices: Any) -> Any:
        return choices[int(self._rng.integers(len(choices)))]

    def leaf(self) -> Any:
        kind = self._rng.random()
        if kind < 0.5:
            return ("x", int(self._rng.integers(VARIABLES)))
        if kind < 0.7:
            return ("w", int(self._rng.integers(COLUMNS)))
        if kind < 0.85:
            return ("p", int(self._rng.integers(PARAMS)))
        if kind < 0.9:
            return ("fixed", 0)
        return ("number", self._one_of(NUMBERS))

    def tree(self, depth: int) -> Any:
        """A tree, or one that was used before (a shared or a named expression)."""
        if depth == 0:
            return self.leaf()
        kind = self._rng.random()
        if kind < 0.06 and self._made:
            return self._one_of(self._made)
        if kind < 0.12:
            made = ("named", self.tree(depth - 1))
        elif kind < 0.42:
            made = (self._one_of(NAMES), self.tree(depth - 1))
        elif kind < 0.56:
            made = ("**", self.tree(depth - 1), ("number", self._one_of(EXPONENTS)))
        elif kind < 0.62:
            made = ("**", self.tree(depth - 1), self.leaf())
        elif kind < 0.66:
            made = self._exponentials(depth)
        else:
            op = self._one_of("+-*/*")
            made = (op, self.tree(depth - 1), self.tree(int(self._rng.integers(depth))))
        self._made.append(made)
        return made

    def _exponentials(self, depth: int) -> Any:
        """Forms that are recognised and evaluated in another way than they are written."""
        u = self.tree(depth - 1)
        e, one = ("exp", u), ("number", 1.0)
        forms = [
            ("log", ("+", one, e)), ("/", e, ("+", one, e)), ("/", one, ("+", one, e)),
            ("log", ("+", e, ("exp", self.leaf()))),
        ]  # fmt: skip
        return self._one_of(forms)


class Model:
    """A Pyomo model with leaves, and the numbers behind them."""

    def __init__(self, rng: np.random.Generator, mild: bool):
        def drawn(*shape: int) -> Any:
            if mild:
                return np.round(rng.normal(size=shape), 3)
            return rng.choice(POINTS, size=shape)

        self.x, self.p, self.fixed = drawn(VARIABLES), drawn(PARAMS), drawn(1)
        self.w = drawn(ROWS, COLUMNS)
        m = self.m = pyo.ConcreteModel()
        m.x = pyo.Var(range(VARIABLES), initialize=lambda m, j: float(self.x[j]))
        m.fixed = pyo.Var([0], initialize=lambda m, j: float(self.fixed[j]))
        m.fixed.fix()
        m.p = pyo.Param(range(PARAMS), mutable=True, initialize=lambda m, j: float(self.p[j]))
        m.w = RandomParam(range(COLUMNS), data=self.w)
        m.e = pyo.Expression(pyo.Any)
        self._named: dict[Any, Any] = {}

    def as_pyomo(self, tree: Any) -> Any:
        """The expression; equal trees are one object."""
        if tree in self._named:
            return self._named[tree]
        op, *args = tree
        if op == "number":
            return args[0]
        if op in ("x", "w", "p", "fixed"):
            return getattr(self.m, op)[args[0]]
        inside = [self.as_pyomo(a) for a in args]
        if op == "named":
            key = len(self.m.e)
            self.m.e[key] = inside[0]
            made = self.m.e[key]
        elif op in OPERATORS:
            made = OPERATORS[op](*inside)
        else:
            made = getattr(pyo, op)(inside[0])
        self._named[tree] = made
        return made

    def as_number(self, tree: Any, row: int, arithmetic: Arithmetic) -> Number:
        """Its value and derivatives with one row of the data."""
        leaves = {"x": self.x, "p": self.p, "fixed": self.fixed, "w": self.w[row]}
        eye = np.eye(VARIABLES, dtype=np.longdouble)
        none = np.zeros((VARIABLES, VARIABLES), dtype=np.longdouble)
        known: dict[Any, Number] = {}

        def number(t: Any) -> Number:
            if t not in known:
                known[t] = make(*t)
            return known[t]

        def make(op: str, *args: Any) -> Number:
            if op == "number":
                return Number(np.longdouble(args[0]))
            if op in leaves:
                value = np.longdouble(leaves[op][args[0]])
                return Number(value, eye[args[0]], none) if op == "x" else Number(value)
            inside = [number(a) for a in args]
            if op == "named":
                return inside[0]
            divided = op == "/" and inside[1].v == 0
            if _constant(op, args) and not divided and all(_finite(n) for n in inside):
                v = np.longdouble(1.0 if op == "**" else 0.0)
                varies = arithmetic.literal and any(n.g is not None for n in inside)
                return Number(v, 0 * eye[0], none) if varies else Number(v)
            if op == "-":
                return arithmetic.add(inside[0], arithmetic.negate(inside[1]))
            binary = {"+": arithmetic.add, "*": arithmetic.multiply, "/": arithmetic.divide,
                      "**": arithmetic.power}  # fmt: skip
            if op in binary:
                return binary[op](*inside)
            return arithmetic.function(op, inside[0])

        return number(tree)


def _constant(op: str, args: Any) -> bool:
    """Whether an operation gives the same number for all arguments for which it is defined."""
    zero = [a[0] == "number" and a[1] == 0 for a in args]
    if op == "*":
        return any(zero)
    if op == "**":
        return zero[1]
    return (op == "/" and zero[0]) or (op == "-" and _bare(args[0]) == _bare(args[1]))


def _bare(tree: Any) -> Any:
    return _bare(tree[1]) if tree[0] == "named" else tree


def _finite(n: Number) -> bool:
    return all(part is None or bool(np.isfinite(part).all()) for part in n)
