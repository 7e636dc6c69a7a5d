r"""What a run asks of a method whose points are judged on the way.

An algorithm of :mod:`pyomo_stochsqp.method` only makes points. A run needs a method that also
certifies them, or is wrapped by one (run/looks.py), because a run ends on a certificate.
"""

from __future__ import annotations

from typing import Any, Protocol

from ..method import State
from ..oracle import Vector
from .certificate import Certificate, Sizes


class JudgedState(State, Protocol):
    """A state with what was certified so far."""

    @property
    def certificate(self) -> Certificate | None:
        """The last certificate."""

    @property
    def best(self) -> Certificate | None:
        """The best one so far."""

    @property
    def sizes(self) -> Sizes:
        """The largest sizes seen."""

    @property
    def narrowed(self) -> int:
        """The level at which kinks are rounded off."""

    @property
    def message(self) -> str:
        """More about why the method has ended."""

    @property
    def note(self) -> str:
        """What the log should say of this iteration."""

    @property
    def solving(self) -> bool:
        """The next step draws nothing: it works on a sample that is paid for."""

    @property
    def average(self) -> Vector | None:
        """A mean of iterates that may be a better answer than the last one."""

    def with_multipliers(self, y: Vector) -> JudgedState:
        """The same with other multiplier estimates, in the method's units."""


class JudgedMethod(Protocol):
    """A method for :func:`pyomo_stochsqp.run.run`."""

    def start(self, x: Vector) -> JudgedState:
        """The state before the first iteration."""

    def step(self, state: Any) -> JudgedState:
        """One iteration, or a look."""
