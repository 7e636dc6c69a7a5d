r"""A certificate as its user reads it: names instead of numbers, the model's sign, words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..certify import Certificate
from ..certify.words import cautions, in_words


@dataclass(frozen=True)
class CertifiedPoint:
    """What is certified of the point that a run returns; prints as a sentence.

    Every number of :class:`~pyomo_stochsqp.certify.Certificate` is an attribute here, too.
    """

    certificate: Certificate
    variable_names: Sequence[str]
    row_names: Sequence[str]
    #: -1 if the objective is maximised
    sign: int = 1

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "certificate":
            raise AttributeError(name)
        return getattr(self.certificate, name)

    @property
    def objective(self) -> float:
        """The objective's estimate, as the model has it."""
        return self.sign * self.certificate.objective

    @property
    def variables(self) -> dict[str, float]:
        """The bound on the distance of every variable to a local solution."""
        return dict(zip(self.variable_names, self.certificate.displacement.tolist(), strict=True))

    @property
    def rows(self) -> dict[str, float]:
        """The bound on the violation of every row, in the units of the row."""
        return dict(zip(self.row_names, self.certificate.violation_bound.tolist(), strict=True))

    @property
    def cautions(self) -> list[str]:
        """What should be known before the bounds are believed."""
        return cautions(self.certificate)

    def __str__(self) -> str:
        said = in_words(self.certificate, self.row_names, self.variable_names)
        return "\n".join([said, *self.cautions])
