"""Comparing records bit by bit."""

from __future__ import annotations

from pyomo_stochsqp.run.records import packed


def same_bits(one, two):
    """Whether two records have the same structure, numbers and arrays, NaN included."""
    first, second = [], []
    if repr(packed(one, first)) != repr(packed(two, second)):
        return False
    return len(first) == len(second) and all(
        a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
        for a, b in zip(first, second, strict=True)
    )
