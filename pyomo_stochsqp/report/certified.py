r"""A certificate as its user reads it: names instead of numbers, the model's sign, words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..certify import Certificate
from ..certify.words import cautions, in_words
from ..oracle import Vector
from ..text_table import TextTable, html_of

#: rows, and variables, that a notebook shows
SHOWN = 6
TINY = 1e-300


@dataclass(frozen=True, repr=False)
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

    @property
    def sentence(self) -> str:
        """What is certified, without the cautions."""
        return in_words(self.certificate, self.row_names, self.variable_names)

    def table(self) -> TextTable:
        """The bounds of the objective, of the worst rows and of the worst variables."""
        c = self.certificate
        rows = [("objective", f"{self.objective:.6g}", f"{c.gap:.2g}")] if c.has_gradient else []
        for j in _largest(c.displacement / np.maximum(c.variable_size, TINY)):
            rows.append((self.variable_names[j], f"{c.x[j]:.6g}", f"{c.displacement[j]:.2g}"))
        for i in _largest(c.violation_bound / np.maximum(c.row_size, TINY)):
            rows.append((self.row_names[i], "violation", f"{c.violation_bound[i]:.2g}"))
        level = "exactly" if c.exact else f"{100 * c.confidence:.3g} %"
        return TextTable(("", "", f"within ({level})"), rows)

    def __str__(self) -> str:
        return "\n".join([self.sentence, *self.cautions])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return html_of([self.table(), *self.cautions])


def _largest(numbers: Vector) -> list[int]:
    """Where the largest stand, in the order of the model."""
    return sorted(np.argsort(-numbers, kind="stable")[:SHOWN].tolist())
