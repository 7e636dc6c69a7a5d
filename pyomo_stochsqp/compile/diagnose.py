r"""Why a result is not finite: the component, the operation and the scenario row.

Runs only after an evaluation gave NaN or infinity. Every function is evaluated again, node by node
and row by row, until the first operation that leaves its domain:

    log(a), a <= 0;    sqrt(a), a < 0;    a ** -1, a = 0;    exp(a), a > 709.78;    ...

Points where only the derivative is infinite (sqrt at 0) are outside the domain too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..oracle import EvaluationIssue
from .algebra.node import Node
from .plan import Plan
from .vectors import kernels

Array = Any

_LARGEST = float(np.log(np.finfo(float).max))


def _not_whole(p: Array) -> Array:
    return np.asarray(p) != np.floor(p)


#: operation -> (test of its arguments, message); the first test that fails names the trouble
_DOMAIN: dict[str, list[tuple[Callable[..., Array], str]]] = {
    "log": [
        (lambda a: a < 0, "log of a negative number"),
        (lambda a: a == 0, "log of zero"),
    ],
    "log10": [
        (lambda a: a < 0, "log10 of a negative number"),
        (lambda a: a == 0, "log10 of zero"),
    ],
    "sqrt": [
        (lambda a: a < 0, "square root of a negative number"),
        (lambda a: a == 0, "square root of zero, where its derivative is infinite"),
    ],
    "asin": [(lambda a: np.abs(a) >= 1, "asin outside (-1, 1)")],
    "acos": [(lambda a: np.abs(a) >= 1, "acos outside (-1, 1)")],
    "acosh": [(lambda a: a <= 1, "acosh of a number not above 1")],
    "atanh": [(lambda a: np.abs(a) >= 1, "atanh outside (-1, 1)")],
    "exp": [(lambda a: a > _LARGEST, "overflow in exp")],
    "sinh": [(lambda a: np.abs(a) > _LARGEST, "overflow in sinh")],
    "cosh": [(lambda a: np.abs(a) > _LARGEST, "overflow in cosh")],
    "pow": [
        (lambda a, p: (a == 0) & (p < 0), "division by zero"),
        (lambda a, p: (a < 0) & _not_whole(p), "fractional power of a negative number"),
        (
            lambda a, p: (a == 0) & (p < 1) & _not_whole(p),
            "power below one of zero, where its derivative is infinite",
        ),
    ],
}


def diagnose(
    plan: Plan, x: NDArray[np.float64], batches: Sequence[Any], suspects: Iterable[int]
) -> EvaluationIssue | None:
    """The first trouble among the functions whose results are not finite, if it can be found."""
    if not np.isfinite(x).all():
        j = int(np.flatnonzero(~np.isfinite(x))[0])
        return EvaluationIssue(plan.program.variables[j].name, "the variable's value is not finite")
    with np.errstate(all="ignore"):
        for t in suspects:
            for stream, form in plan.forms[t].items():
                source = -1 if stream < 0 else plan.streams.streams[stream].source
                if source >= 0 and batches[source] is None:
                    continue
                run = _Run(plan, x, stream, None if source < 0 else batches[source])
                found = run.first_trouble(form.terms, form.terms.values())
                if found is not None:
                    return EvaluationIssue(plan.names[t], *found)
    return None


class _Run:
    """Evaluates nodes over the rows of one stream."""

    def __init__(self, plan: Plan, x: NDArray[np.float64], stream: int, batch: Any):
        self._plan = plan
        self._x = x
        self._stream = stream
        self._batch = batch
        self._values: dict[Node, Array] = {}
        self._kept: NDArray[np.intp] | None = None
        if stream >= 0:
            lookup = plan.streams.streams[stream].lookup
            if lookup is not None:
                local = lookup[batch.parts[0]]
                self._kept = np.flatnonzero(local >= 0)
                self._local = local[self._kept]

    def first_trouble(self, *groups: Iterable[Any]) -> tuple[str, int | None] | None:
        stack = [n for group in groups for n in group if isinstance(n, Node)]
        while stack:
            node = stack[-1]
            waiting = [a for a in node.args if isinstance(a, Node) and a not in self._values]
            if node in self._values:
                stack.pop()
            elif waiting:
                stack.extend(waiting)
            else:
                stack.pop()
                found = self._visit(node)
                if found is not None:
                    return found
        return None

    def _visit(self, node: Node) -> tuple[str, int | None] | None:
        args = [self._values[a] if isinstance(a, Node) else a for a in node.args]
        for test, message in _DOMAIN.get(node.op, []):
            bad = np.atleast_1d(test(*args))
            if bad.any():
                return message, self._row(bad)
        value = self._values[node] = self._value(node, args)
        bad = np.atleast_1d(~np.isfinite(value))
        if bad.any():
            where = "the data are not finite" if node.op == "data" else f"overflow in {node.op}"
            return where, self._row(bad)
        return None

    def _value(self, node: Node, args: list[Array]) -> Array:
        op = node.op
        if node.constant:
            return node.value
        if op == "var":
            return float(self._x[node.payload])
        if op == "data":
            return self._column(*node.payload)
        if op == "ell":
            ell = self._plan.streams.ells[node.payload]
            rows = self._rows(0)
            return (self._x[ell.indices[rows]] * ell.coefs[rows]).sum(axis=1)
        if op == "one":
            return np.ones(np.size(self._rows(0)))
        if op == "sum":
            return args[0] + sum(k * t for k, t in zip(args[1::2], args[2::2], strict=True))
        if op == "prod":
            return args[0] * args[1]
        if op == "mean":
            return np.average(args[0]) if np.size(args[0]) else 0.0
        return kernels.ARRAY_FUNCTIONS[op](*(np.asarray(a, dtype=float) for a in args))

    def _rows(self, part: int) -> Any:
        return self._batch.parts[part] if self._kept is None else self._local

    def _column(self, number: int, column: int) -> Array:
        info = self._plan.streams.fields[number]
        rows = self._rows(info.part)
        if info.matrix is None:
            return np.asarray(rows[info.position])[:, column]
        if info.sparse:
            return kernels.sparse_dense(kernels.sparse_rows(info.matrix, rows), info.width)[
                :, column
            ]
        return np.asarray(info.matrix[rows, column], dtype=float)

    def _row(self, bad: NDArray[np.bool_]) -> int | None:
        """The scenario row of the first bad entry, as the user numbers rows."""
        if bad.size == 1 and self._batch is None:
            return None
        if self._batch is None or bad.size != (
            self._batch.size if self._kept is None else self._kept.size
        ):
            return None
        b = int(np.flatnonzero(bad)[0])
        if self._kept is not None:
            b = int(self._kept[b])
        source = self._plan.program.sources[self._plan.streams.streams[self._stream].source]
        if source.size is None:
            return b
        numbers = [
            int(rows.start or 0) + b if isinstance(rows, slice) else int(rows[b])
            for rows in self._batch.numbers
        ]
        sizes = [part.size or 1 for part in source.parts]
        return int(np.ravel_multi_index(numbers, sizes))
