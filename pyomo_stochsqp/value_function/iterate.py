r"""The iterates of many interior points, one line per scenario; names as in interior_point.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .stage_functions import Numbers, taken

Array = NDArray[np.float64]

#: distance from bounds of a first point, as a share of its size and of the room there is
INSIDE, SHARE = 1e-2, 0.25


@dataclass(eq=False)
class Iterate:
    """y, s, the elastic p and n, and the multipliers."""

    y: Array
    s: Array
    p: Array
    n: Array
    #: of the rows, of the bounds of y, of the bounds of s
    multipliers: Array
    y_low: Array
    y_up: Array
    s_low: Array
    s_up: Array
    #: of p and n: M + multipliers and M - multipliers, which may be tiny beside M
    of_p: Array
    of_n: Array

    def some(self, which: Any) -> Iterate:
        """Those of some scenarios."""
        return Iterate(*(taken(getattr(self, f.name), which) for f in fields(self)))

    def copy(self) -> Iterate:
        return Iterate(*(getattr(self, f.name).copy(order="K") for f in fields(self)))

    def adapted(self, c: Array, of_y: Box, of_s: Box) -> Iterate:
        """For other scenarios with these bounds, whose rows have the values c at y."""
        c = np.where(np.isfinite(c), c, self.s)
        y = np.where(of_y.holds(self.y), self.y, of_y.inside(self.y))
        s = np.where(of_s.holds(c), c, of_s.inside(c))
        return replace(self, y=y, s=s)

    @classmethod
    def joined(cls, found: Sequence[Iterate]) -> Iterate:
        """Those of several samples, one after the other."""
        return cls(*(np.concatenate([getattr(i, f.name) for i in found]) for f in fields(cls)))

    def put(self, which: Any, other: Iterate) -> None:
        """Replace those of some scenarios."""
        for f in fields(self):
            getattr(self, f.name)[which] = getattr(other, f.name)


@dataclass(frozen=True, eq=False)
class Box:
    """Bounds with what is known of them: which are there, which leave no room."""

    low: Array
    up: Array
    has_low: NDArray[np.bool_]
    has_up: NDArray[np.bool_]
    fixed: NDArray[np.bool_]
    #: by how much lower bounds exceed upper ones
    crossed: Array

    @classmethod
    def of(cls, low: Array, up: Array) -> Box:
        crossed = np.maximum(low - up, 0.0)
        with np.errstate(invalid="ignore"):
            middle = np.where(crossed > 0.0, 0.5 * (low + up), low)
        low, up = np.where(crossed > 0.0, middle, low), np.where(crossed > 0.0, middle, up)
        size = np.maximum(1.0, np.where(np.isfinite(low), np.abs(low), 0.0))
        with np.errstate(invalid="ignore"):
            fixed = up - low <= 1e-10 * size
        return cls(low, up, np.isfinite(low) & ~fixed, np.isfinite(up) & ~fixed, fixed, crossed)

    def some(self, which: Any) -> Box:
        parts: list[Any] = [taken(getattr(self, f.name), which) for f in fields(self)]
        return Box(*parts)

    def inside(self, v: Array) -> Array:
        """The nearest point that keeps away from the bounds."""
        with np.errstate(invalid="ignore"):
            room = np.where(self.has_low & self.has_up, SHARE * (self.up - self.low), np.inf)
            low = self.low + np.minimum(INSIDE * np.maximum(1.0, np.abs(self.low)), room)
            up = self.up - np.minimum(INSIDE * np.maximum(1.0, np.abs(self.up)), room)
        v = np.where(self.has_low, np.maximum(v, low), v)
        v = np.where(self.has_up, np.minimum(v, up), v)
        return np.where(self.fixed, self.low, v)

    def holds(self, v: Array) -> NDArray[np.bool_]:
        """Whether v lies between the bounds."""
        return np.asarray((self.below(v) > 0.0) & (self.above(v) > 0.0) & ~self.fixed)

    def below(self, v: Array) -> Array:
        """v - low; 1 where there is no bound."""
        with np.errstate(invalid="ignore"):
            return np.where(self.has_low, v - self.low, 1.0)

    def above(self, v: Array) -> Array:
        """up - v; 1 where there is no bound."""
        with np.errstate(invalid="ignore"):
            return np.where(self.has_up, self.up - v, 1.0)


def boxes(numbers: Numbers, row_scale: Array) -> tuple[Box, Box]:
    """Those of y and of the scaled rows."""
    return (
        Box.of(numbers.y_lower, numbers.y_upper),
        Box.of(numbers.lower * row_scale, numbers.upper * row_scale),
    )


def first_iterate(y: Array, c: Array, of_y: Box, of_s: Box, mu: float, penalty: float) -> Iterate:
    """On the central path, as far as that is known, from y with the rows' values c."""
    s = of_s.inside(np.where(np.isfinite(c), c, 0.0))
    off = np.where(np.isfinite(c), s - c, 0.0)
    m = np.zeros_like(s)
    least = mu / penalty
    return Iterate(
        y,
        s,
        np.maximum(off, 0.0) + least,
        np.maximum(-off, 0.0) + least,
        m,
        np.where(of_y.has_low, mu / of_y.below(y), 0.0),
        np.where(of_y.has_up, mu / of_y.above(y), 0.0),
        np.where(of_s.has_low, mu / of_s.below(s), 0.0),
        np.where(of_s.has_up, mu / of_s.above(s), 0.0),
        np.full_like(s, penalty),
        np.full_like(s, penalty),
    )
