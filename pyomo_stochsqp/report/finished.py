r"""A finished run as its user reads it: the model's names and sign in every table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..run import History, Outcome
from .certified import CertifiedPoint


@dataclass(frozen=True)
class FinishedRun:
    """How a run ended, for somebody who knows the model and nothing else."""

    outcome: Outcome
    variable_names: Sequence[str]
    row_names: Sequence[str]
    #: -1 if the objective is maximised
    sign: int = 1

    @cached_property
    def history(self) -> History:
        """One row per iteration."""
        return self._signed(self.outcome.history)

    @cached_property
    def certificates(self) -> History:
        """One row per certified point."""
        return self._signed(self.outcome.certificates)

    @cached_property
    def certificate(self) -> CertifiedPoint | None:
        """What is certified of the point that was returned."""
        best = self.outcome.best
        if best is None:
            return None
        return CertifiedPoint(best, self.variable_names, self.row_names, self.sign)

    @property
    def message(self) -> str:
        """Why the run ended, in one sentence."""
        detail = f" ({self.outcome.message})" if self.outcome.message else ""
        return f"{self.outcome.stop.value}{detail}"

    def plot(self, path: Any = None, title: str | None = None) -> Any:
        """Draw the run; save it if a path is given."""
        from .plot import plot_run

        return plot_run(self.history, self.certificates, path, title)

    def _signed(self, table: History) -> History:
        if self.sign < 0 and "objective" in table.columns:
            table = table.copy()
            table["objective"][:] *= -1.0
        return table
