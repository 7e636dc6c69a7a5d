r"""Sums whose bits do not depend on who adds what.

Terms 0, ..., V - 1 are the leaves of a binary tree: node (i, l), l a power of two that divides i,
is the sum of terms i, ..., i + l - 1,

    (i, 2l) = (i, l) + (i + l, l).

A run of consecutive terms makes up a few nodes, and the nodes of neighbouring runs make up those of
both. So a sum can be divided between any number of processes, and comes out the same as in one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from .oracle import Vector


class Node(NamedTuple):
    """The sum of some terms."""

    first: int
    length: int
    value: Vector


class RunningSum:
    """The sum of consecutive terms, which are added from left to right."""

    def __init__(self, nodes: Iterable[Node] = ()):
        #: as few as possible, from left to right
        self.nodes: list[Node] = list(nodes)

    def add(self, term: int, value: Vector) -> None:
        """The next term; its array belongs to the sum from now on."""
        self._push(Node(term, 1, value))

    def extend(self, nodes: Iterable[Node]) -> None:
        """The terms that follow, as somebody else has added them."""
        for node in nodes:
            self._push(node)

    def total(self) -> Vector:
        """The sum of all terms, which start at 0."""
        total = self.nodes[-1].value.copy()
        for node in self.nodes[-2::-1]:
            total += node.value
        return total

    def _push(self, node: Node) -> None:
        while self.nodes:
            left = self.nodes[-1]
            if left.length != node.length or left.first % (2 * left.length):
                break
            self.nodes.pop()
            left.value[...] += node.value
            node = Node(left.first, 2 * left.length, left.value)
        self.nodes.append(node)
