r"""A number that stands for an expectation inside a formula: t in log(t), t = E[...].

It is a variable to everything that takes derivatives, and belongs to no model.
"""

from __future__ import annotations

from typing import Any

from pyomo.core.base.set_types import Reals
from pyomo.core.base.var import VarData


class Symbol(VarData):
    """The stand-in. Its name is the text of what it stands for, as far as that can be read."""

    __slots__ = ("stands_for",)

    def __init__(self, stands_for: Any):
        super().__init__()
        self.stands_for = stands_for

    @property
    def domain(self) -> Any:
        return Reals

    @property
    def name(self) -> str:
        from .reading.terms import shortened

        return shortened(self.stands_for)

    def getname(self, *args: Any, **kwds: Any) -> str:
        return self.name

    local_name = name

    def __str__(self) -> str:
        return self.name
