r"""A random order of the rows 0, ..., N - 1 that is never written down.

A Feistel network permutes the pairs (l, r) with l < a, r < b, where a b >= N is as small as a
rectangle allows. Its rounds alternate

    l <- l + F(r) mod a,        r <- r + F(l) mod b,

F being a hash with a key of its own for every round. Positions that lead to a number >= N are
permuted again until they do not (a cycle of the permutation that starts below N returns there). So
row order[i] costs a few multiplications, whatever N is, and everybody computes the part that he
needs.
"""

from __future__ import annotations

from math import isqrt

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.intp]
Words = NDArray[np.uint64]

ROUNDS = 8
#: elements that are computed at once: they take a few words each
AT_ONCE = 1 << 18
_MULTIPLIERS = np.array([0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53], dtype=np.uint64)
_SHIFT, _HALF = np.uint64(33), np.uint64(32)


class RandomOrder:
    """The order that a generator chooses; its elements ``rows(start, stop)``."""

    def __init__(self, rng: np.random.Generator, size: int):
        self.size = size
        side = isqrt(size - 1) + 1
        self._sides = np.uint64(side), np.uint64(-(-size // side))
        self._keys = rng.integers(0, 1 << 64, ROUNDS, dtype=np.uint64)

    def rows(self, start: int, stop: int) -> Rows:
        """Elements start, ..., stop - 1."""
        if stop - start <= AT_ONCE:
            return self._elements(start, stop)
        rows = np.empty(stop - start, dtype=np.intp)
        for first in range(start, stop, AT_ONCE):
            last = min(first + AT_ONCE, stop)
            rows[first - start : last - start] = self._elements(first, last)
        return rows

    def _elements(self, start: int, stop: int) -> Rows:
        found = self._permuted(np.arange(start, stop, dtype=np.uint64))
        while (outside := np.flatnonzero(found >= self.size)).size:
            found[outside] = self._permuted(found[outside])
        return found.astype(np.intp)

    def _permuted(self, numbers: Words) -> Words:
        a, b = self._sides
        left, right = np.divmod(numbers, b)
        for i in range(0, ROUNDS, 2):
            left = _added(left, right, self._keys[i], a)
            right = _added(right, left, self._keys[i + 1], b)
        return left * b + right


def _added(numbers: Words, others: Words, key: np.uint64, below: np.uint64) -> Words:
    """numbers + F(others) modulo a bound of at most 32 bits."""
    hashed = others ^ key
    hashed *= _MULTIPLIERS[0]  # the finaliser of MurmurHash3: all bits are mixed into all others
    hashed ^= hashed >> _SHIFT
    hashed *= _MULTIPLIERS[1]
    hashed >>= _HALF
    hashed *= below
    hashed >>= _HALF
    hashed += numbers
    return np.where(hashed < below, hashed, hashed - below)
