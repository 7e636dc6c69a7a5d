r"""A finished run as its user reads it: the model's names and sign in every table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..errors import StochSQPError
from ..method import Stop
from ..run import History, Outcome
from ..run.progress import CERTIFICATE_COLUMNS
from ..text_table import Shown, TextTable, Verdict
from .certified import CertifiedPoint


@dataclass(frozen=True)
class FinishedRun:
    """How a run ended, for somebody who knows the model and nothing else."""

    outcome: Outcome
    variable_names: Sequence[str]
    row_names: Sequence[str]
    #: -1 if the objective is maximised
    sign: int = 1
    #: the first stage, by name, of a run with recourse
    decision: Mapping[str, float] | None = None

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
    def iterations(self) -> int:
        """Iterations made."""
        return int(self.outcome.state.k)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What went wrong beside the run."""
        return self.outcome.warnings

    @property
    def samples(self) -> int:
        """Scenarios drawn."""
        return int(self.outcome.state.samples)

    @property
    def message(self) -> str:
        """Why the run ended, in one sentence."""
        detail = f" ({self.outcome.message})" if self.outcome.message else ""
        return f"{self.outcome.stop.value}{detail}"

    def shown(self) -> list[Shown]:
        """How it ended, the objective, what is certified, what it took."""
        outcome, point = self.outcome, self.certificate
        rows = []
        if point is not None:
            noise = point.objective_error
            error = f" ± {noise:.2g} (standard error)" if noise > 0.0 else ""
            rows += [
                ("objective", f"{point.objective:.8g}{error}"),
                ("certified", point.sentence),
                *(("caution", caution) for caution in point.cautions),
            ]
        work = f"{self.iterations} iterations, {self.samples} scenarios, {outcome.seconds:.2f} s"
        rows += [("run", work), *(("warning", warning) for warning in self.warnings)]
        table = TextTable(("", ""), rows, left=(0, 1))
        return [Verdict(self.message, outcome.stop is Stop.CONVERGED), table]

    def plot(self, path: Any = None, title: str | None = None) -> Any:
        """Draw the run; save it if a path is given."""
        from .plot import plot_run

        return plot_run(self.history, self.certificates, path, title)

    def _signed(self, table: History) -> History:
        if self.sign < 0 and "objective" in table.columns:
            table = table.copy()
            table["objective"][:] *= -1.0
        return table


@dataclass(frozen=True)
class NoRun:
    """What there is to say of a model that ended before the first iteration."""

    message: str
    history: History = field(default_factory=lambda: History(("iteration",)))
    certificates: History = field(default_factory=lambda: History(CERTIFICATE_COLUMNS))
    certificate: None = None
    iterations: int = 0
    samples: int = 0
    warnings: tuple[str, ...] = ()
    decision: None = None

    def shown(self) -> list[Shown]:
        """The message."""
        return [Verdict(self.message, False)]

    def plot(self, path: Any = None, title: str | None = None) -> Any:
        """There is nothing to draw."""
        raise StochSQPError(f"There was no run, so there is nothing to plot. {self.message}")
