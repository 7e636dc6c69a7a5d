r"""Curvature H_k: symmetric positive definite matrices in [zeta I, kappa_H I] (Assumption H).

H_k is built from what was seen before iteration k only, as the theory asks.

    identity   H = I, the paper's choice
"""

from __future__ import annotations

from typing import Any, Protocol

from ..oracle import Estimate, Vector


class Curvature(Protocol):
    """The matrix of the current iteration, and what it learns from a step."""

    @property
    def matrix(self) -> Any:
        """A float (multiple of I), a diagonal (n,), or a matrix."""

    def squared_norm(self, d: Vector) -> float:
        """d'Hd."""

    def observe(self, here: Estimate, there: Estimate, s: Vector, y: Vector) -> None:
        """Both ends of a step s, estimated on one sample, and multipliers y."""


class Identity:
    """H = I."""

    matrix = 1.0

    def squared_norm(self, d: Vector) -> float:
        return float(d @ d)

    def observe(self, here: Estimate, there: Estimate, s: Vector, y: Vector) -> None:
        """Nothing to learn."""
