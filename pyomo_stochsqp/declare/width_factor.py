r"""The factor of all widths that nobody gave: 1, and less while somebody looks closer.

    width = factor * share * Std[z],      factor = 1, 1/4, 1/16, ...

It is a Param of every model at once that no model contains. What it is worth is a matter of who
asks: a compiled model reads its Params within :func:`narrowed`, and keeps what it has read.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from pyomo.core.base.param import ScalarParam

from ..oracle import NARROWER

_factor: ContextVar[float] = ContextVar("width factor", default=1.0)


class WidthFactor(ScalarParam):
    """The leaf of expressions; there is one."""

    def __init__(self) -> None:
        super().__init__(mutable=True, initialize=1.0, name="width_factor")
        self.construct()

    def __call__(self, exception: Any = True) -> float:
        return _factor.get()

    def __deepcopy__(self, memo: Any) -> WidthFactor:
        return self

    def __reduce__(self) -> str:
        return "WIDTH_FACTOR"


WIDTH_FACTOR = WidthFactor()


@contextmanager
def narrowed(level: int) -> Iterator[None]:
    """Widths NARROWER^level times as large as usual."""
    token = _factor.set(NARROWER**level)
    try:
        yield
    finally:
        _factor.reset(token)
