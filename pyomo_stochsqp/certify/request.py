r"""What a locator is asked: a point, its values, and the sizes that they are compared with."""

from __future__ import annotations

from dataclasses import dataclass

from ..oracle import Estimate, Vector
from .replicates import Values


@dataclass(frozen=True)
class Request:
    """A point and what is known of it."""

    x: Vector
    #: multipliers for second derivatives
    y: Vector
    values: Values
    #: those of pairs of scenarios, if it is sampled
    pairs: Values | None
    mean: Estimate
    #: distances that variables are known to go (0: none), a length of each, the sizes of rows and
    #: objective
    known: Vector
    length: Vector
    row_size: Vector
    objective: float
    confidence: float
    #: rows that contradict each other within their noise are relaxed by so much
    relaxed: Vector | None

    @property
    def size(self) -> float:
        """The size of the objective, where it has one."""
        return self.objective or 1.0
