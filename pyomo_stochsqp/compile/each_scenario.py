r"""Functions scenario by scenario: values and derivatives in every one of them, not their means.

    F_k(x, y_s, w_s),      k = 1, ..., K,   s = 1, ..., S

x is the same in all scenarios, y and w are not. In z = (x, y) there are

    values      F_k                              (S, K)
    slopes      dF_k/dz                          (S, K, z)
    curvature   sum_k m_sk d^2F_k/dz^2           (S, z, z),  with multipliers m of every scenario

Arrays are laid out function by function, so that what is done to a column runs through memory.

The graph of local derivatives is that of the other rooms. It is walked operation by operation, each
of which is one array over the scenarios.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..given import real
from .algebra.form import Form
from .algebra.lower import Lowering
from .algebra.node import Node, Nodes
from .algebra.normal_form import Algebra
from .graph.adjoint import gradient
from .graph.values import Graph, Val
from .vectors.kernels import ARRAY_FUNCTIONS

Array = NDArray[np.float64]
#: values by the place they go to: (function), (function, z) or (z, z, 0)
Wanted = dict[tuple[int, ...], Val]


@dataclass(frozen=True, eq=False)
class Derivatives:
    """See the module's docstring; ``curvature`` is None unless multipliers were given."""

    values: Array
    slopes: Array
    curvature: Array | None


class EachScenario:
    """Functions of x, y and w, compiled. ``random`` are the RandomParam members of w, in the order
    in which their columns will be given."""

    def __init__(
        self,
        functions: Sequence[tuple[str, Any]],
        x: Sequence[Any],
        y: Sequence[Any],
        random: Sequence[Any],
    ):
        self.count, self._nx, self._n = len(functions), len(x), len(x) + len(y)
        nodes = Nodes(lambda key: real(key.item, key.item))
        algebra = Algebra(nodes)
        variables = {id(v): j for j, v in enumerate([*x, *y])}
        places = {id(member): (0, k) for k, member in enumerate(random)}
        lower = Lowering(algebra, variables, places)
        graph = _Values(self._nx)
        roots = [graph.of_form(lower(e, name)) for name, e in functions]
        tables: Wanted = {(k,): root for k, root in enumerate(roots)}
        self._values = _Walk(tables)
        slopes = [gradient(graph.graph, root, average=False) for root in roots]
        first: Wanted = {
            (k, v.payload): d for k, found in enumerate(slopes) for v, d in found.items()
        }
        lagrangian = graph.graph.add(
            *(graph.graph.mul(graph.multiplier(k), root) for k, root in enumerate(roots))
        )
        second: Wanted = {}
        for v, slope in gradient(graph.graph, lagrangian, average=False).items():
            for other, d in gradient(graph.graph, slope, average=False).items():
                second[v.payload, other.payload, 0] = d
        self._first = _Walk({**tables, **first})
        self._second = _Walk({**tables, **first, **second})

    def values(self, x: Array, y: Array, w: Sequence[Array]) -> Array:
        """F, one line per scenario. What is undefined is not finite."""
        out = np.empty((len(y), self.count), order="F")
        for (k,), value in self._values.run(x, y, w, None):
            out[:, k] = value
        return out

    def derivatives(
        self, x: Array, y: Array, w: Sequence[Array], multipliers: Array | None = None
    ) -> Derivatives:
        """Values and derivatives of first order, or of second order, too."""
        size = len(y)
        values = np.empty((size, self.count), order="F")
        slopes = np.zeros((size, self.count, self._n), order="F")
        curvature = None if multipliers is None else np.zeros((size, self._n, self._n), order="F")
        walk = self._first if multipliers is None else self._second
        for key, value in walk.run(x, y, w, multipliers):
            if len(key) == 1:
                values[:, key[0]] = value
            elif len(key) == 2:
                slopes[:, key[0], key[1]] = value
            else:
                assert curvature is not None
                curvature[:, key[0], key[1]] = value
        return Derivatives(values, slopes, curvature)


class _Values:
    """Normal forms as values of one graph."""

    def __init__(self, nx: int):
        self.graph = Graph()
        self._nx = nx
        self._known: dict[Node, Val] = {}

    def multiplier(self, k: int) -> Val:
        return self.graph.leaf("m", k, True, False, False)

    def of_form(self, form: Form) -> Val:
        for node in form.terms:
            self._walk(node)
        terms = [self.graph.mul(self._get(k), self._get(t)) for t, k in form.terms.items()]
        return self.graph.add(self._get(form.const), *terms)

    def _walk(self, root: Node) -> None:
        stack: list[Node] = [root]
        while stack:
            node = stack[-1]
            waiting = [a for a in node.args if a.__class__ is Node and a not in self._known]
            if node in self._known or node.constant:
                stack.pop()
            elif any(not a.constant for a in waiting):
                stack.extend(a for a in waiting if not a.constant)
            else:
                self._known[stack.pop()] = self._value(node)

    def _get(self, item: Any) -> Val:
        if item.__class__ is not Node:
            return self.graph.number(item)
        if item.constant:
            return self.graph.number(item.value)
        if item not in self._known:
            self._walk(item)
        return self._known[item]

    def _value(self, node: Node) -> Val:
        graph, op = self.graph, node.op
        if op == "var":
            return graph.leaf("z", node.payload, node.payload >= self._nx, False, True)
        if op == "data":
            return graph.leaf("w", node.payload[1], True, False, False)
        args = [self._get(a) for a in node.args]
        if op == "sum":
            pairs = zip(args[1::2], args[2::2], strict=True)
            return graph.add(args[0], *(graph.mul(k, t) for k, t in pairs))
        if op == "prod":
            return graph.mul(*args)
        if op == "pow":
            return graph.pow(*args)
        return graph.function(op, *args)


class _Walk:
    """The operations behind some values, in order."""

    def __init__(self, wanted: Wanted):
        self._wanted = wanted
        needed: dict[Val, None] = {}
        stack = list(wanted.values())
        while stack:
            v = stack.pop()
            if v not in needed:
                needed[v] = None
                stack.extend(v.args)
        self._steps = [
            (v, _STEPS.get(v.op) or ARRAY_FUNCTIONS[v.op])
            for v in sorted(needed, key=lambda v: v.index)
            if v.op not in _LEAVES
        ]
        self._leaves = [v for v in needed if v.op in _LEAVES]

    def run(
        self, x: Array, y: Array, w: Sequence[Array], m: Array | None
    ) -> list[tuple[tuple[int, ...], Any]]:
        """(key, number or numbers) of all that is wanted."""
        found: dict[Val, Any] = {}
        for v in self._leaves:
            k = v.payload
            if v.op == "z":
                found[v] = x[k] if k < x.size else y[:, k - x.size]
            elif v.op == "w":
                found[v] = w[k]
            elif v.op == "m":
                assert m is not None
                found[v] = m[:, k]
            else:
                found[v] = k
        with np.errstate(all="ignore"):
            for v, step in self._steps:
                args = [found[a] for a in v.args]
                found[v] = step(*args) if v.op != "lit" else v.payload * args[0]
        return [(key, found[v]) for key, v in self._wanted.items()]


def _sum(*args: Any) -> Any:
    total = args[0]
    for a in args[1:]:
        total = total + a
    return total


_LEAVES = frozenset(("z", "w", "m", "num"))
_STEPS: dict[str, Callable[..., Any]] = {
    "add": _sum,
    "mul": np.multiply,
    "mix": np.multiply,
    "raise": np.multiply,
    "lit": np.multiply,
}
