r"""Sums of coefficient * variable, sorted by where the coefficients come from.

    sum_j k_j x_j                 constant coefficients
    sum_j k_j w_{c(j)} x_j        columns of one field of the drawn row
    f * sum_j k_j w_{c(j)} x_j    the same with a common factor (labels times features)

Long sums of these kinds are evaluated as one matrix product; what fits none of them, or is short,
is left to be written out term by term.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from .node import Coef, Node

#: Sums at least this long become a matrix product.
LONG = 7


@dataclass(eq=False)
class AffinePart:
    """factor * sum_i scales[i] * (column columns[i] of a field, or 1) * x[indices[i]]."""

    factor: Node | None
    #: field number; None for constant coefficients
    field: int | None
    indices: list[int]
    columns: list[int]
    scales: list[Coef]


def split_terms(
    terms: Iterable[tuple[Coef, Node]], shortest: int | None = None
) -> tuple[list[tuple[Coef, Node]], list[AffinePart]]:
    """(terms to write out, long parts); ``shortest`` is LONG unless given."""
    shortest = LONG if shortest is None else shortest
    rest: list[tuple[Coef, Node]] = []
    linear: list[tuple[Coef, Node]] = []
    for term in terms:
        (linear if term[1].op == "var" else rest).append(term)
    if len(linear) < shortest:
        return linear + rest, []
    factors = _common_factors(linear)
    parts: dict[tuple[Node | None, int | None], AffinePart] = {}
    members: dict[tuple[Node | None, int | None], list[tuple[Coef, Node]]] = {}
    for coef, var in linear:
        place = _place(coef, factors)
        if place is None:
            rest.append((coef, var))
            continue
        scale, factor, number, column = place
        key = (factor, number)
        part = parts.setdefault(key, AffinePart(factor, number, [], [], []))
        part.indices.append(var.payload)
        part.columns.append(column)
        part.scales.append(scale)
        members.setdefault(key, []).append((coef, var))
    long = []
    for key, part in parts.items():
        if len(part.indices) >= shortest:
            long.append(part)
        else:
            rest = members[key] + rest
    return rest, long


def _product(coef: Coef) -> tuple[Coef, Node] | None:
    """A coefficient as constant * node (node: data or a product of two), or None."""
    if coef.__class__ is not Node:
        return None
    assert isinstance(coef, Node)
    if coef.op == "sum" and len(coef.args) == 3 and coef.args[0] == 0.0:
        return coef.args[1], coef.args[2]
    return 1.0, coef


def _common_factors(linear: list[tuple[Coef, Node]]) -> set[Node]:
    """Factors that stand in more than half of the products data * data."""
    counts: Counter[Node] = Counter()
    products = 0
    for coef, _ in linear:
        split = _product(coef)
        if split is not None and split[1].op == "prod":
            products += 1
            counts.update(a for a in split[1].args)
    return {node for node, count in counts.items() if 2 * count > products}


def _place(coef: Coef, factors: set[Node]) -> tuple[Coef, Node | None, int | None, int] | None:
    if coef.__class__ is float or (isinstance(coef, Node) and coef.constant):
        return coef, None, None, 0
    split = _product(coef)
    if split is None:
        return None
    scale, node = split
    if node.op == "data":
        return scale, None, node.payload[0], node.payload[1]
    if node.op == "prod":
        for factor, leaf in (node.args, node.args[::-1]):
            if factor in factors and leaf.op == "data":
                return scale, factor, leaf.payload[0], leaf.payload[1]
    return None
