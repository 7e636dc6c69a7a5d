r"""A finished run with recourse as its user reads it: the decision's gap, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..errors import StochSQPError
from ..method import Stop
from ..recourse import Gap
from ..run import History
from ..text_table import Shown, TextTable, Verdict


@dataclass(frozen=True)
class CertifiedDecision:
    """What is certified of a first-stage decision; prints as a sentence.

    ``gap`` is the bound on how far the objective is from the optimum, at the level ``confidence``.
    """

    found: Gap
    #: -1 if the objective is maximised
    sign: int
    incomplete: bool
    #: the model's own names are in the results; a gap says nothing about single variables
    variables: dict[str, float] = field(default_factory=dict)
    rows: dict[str, float] = field(default_factory=dict)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "found":
            raise AttributeError(name)
        return getattr(self.found, name)

    @property
    def objective(self) -> float:
        """The objective's estimate, as the model has it."""
        return self.sign * self.found.objective

    @property
    def gap(self) -> float:
        """The bound on the distance of the objective to the optimum."""
        return self.found.bound

    @property
    def relative_gap(self) -> float:
        """The same, relative to the objective."""
        return self.found.relative

    @property
    def lower_bound(self) -> float:
        """What the sample problems prove on average: a bound of the optimum, with their noise."""
        return self.sign * self.found.lower_bound

    @property
    def cautions(self) -> list[str]:
        """What should be known before the gap is believed."""
        g = self.found
        if g.infeasible:
            said = f" (row {g.row})" if g.row else ""
            return [
                f"the second stage is infeasible in {g.infeasible} of {g.scenarios} fresh "
                f"scenarios{said}; a shortage variable with a price would make it feasible"
            ]
        if self.incomplete and not g.exact:
            return [
                "the second stage is feasible in all fresh scenarios, which leaves a probability "
                f"of at most {3.0 / g.scenarios:.1e} that it is not"
            ]
        return []

    def __str__(self) -> str:
        g = self.found
        if g.exact:
            said = (
                f"objective within {_short(g.bound)} of the optimum over all {g.scenarios} "
                "scenarios"
            )
        elif g.infeasible:
            said = "no gap is certified"
        else:
            said = (
                f"objective within {_short(g.bound)} ({g.relative:.2g} of it) of the optimum "
                f"({g.confidence:.0%}, {g.replicates} fresh samples)"
            )
        return "\n".join([said, *self.cautions])


def _short(number: float) -> str:
    return f"{number:.3g}"


@dataclass(frozen=True)
class FinishedTwoStage:
    """How a run with recourse ended."""

    stop: Stop
    detail: str
    certificate: CertifiedDecision | None
    history: History
    iterations: int
    samples: int
    #: variables of the first stage by name
    decision: dict[str, float]
    #: nothing goes wrong beside these runs: they write no files
    warnings: tuple[str, ...] = ()

    @property
    def certificates(self) -> History:
        """One row per certified decision: the same as the history."""
        return self.history

    @property
    def message(self) -> str:
        """Why the run ended, in one sentence."""
        c = self.certificate
        if self.stop is Stop.CONVERGED and c is not None:
            if c.exact:
                return f"optimal over all {c.scenarios} scenarios, gap {c.relative_gap:.1g}"
            said = f"optimal: gap {c.relative_gap:.2g} of the objective, certified "
            said += f"({c.confidence:.0%})"
            return said + "".join(f"; {caution}" for caution in c.cautions)
        said = self.stop.value
        if self.detail:
            said += f" ({self.detail})"
        if c is not None and not c.exact:
            what = c.cautions[0] if c.infeasible else f"gap {c.relative_gap:.2g}, certified"
            said += f"; {what}"
        return said

    def shown(self) -> list[Shown]:
        """How it ended, the objective, what is certified, what it took."""
        c, rows = self.certificate, []
        if c is not None:
            rows = [
                ("objective", f"{c.objective:.8g} ± {c.objective_error:.1e} (standard error)"),
                ("certified", str(c)),
            ]
        rows.append(("run", f"{self.iterations} stages, {self.samples} scenarios"))
        return [
            Verdict(self.message, self.stop is Stop.CONVERGED),
            TextTable(("", ""), rows, left=(0, 1)),
        ]

    def plot(self, path: Any = None, title: str | None = None) -> Any:
        """Gaps over scenarios (extra ``plot``)."""
        if not len(self.history):
            raise StochSQPError("There was no run, so there is nothing to plot.")
        from .gap_plot import plot_gaps

        return plot_gaps(self.history, path, title)


class TwoStageLog:
    """The log of a run with recourse; keeps its text."""

    HEADER = (
        f"{'stage':>6}{'scenarios':>11}{'samples':>9}{'objective':>16}{'+-':>10}"
        f"{'gap':>11}{'certified':>11}{'time':>9}"
    )

    def __init__(self, streams: Sequence[Any], sign: int):
        self._streams, self._sign = streams, sign
        self._lines: list[str] = []

    @property
    def text(self) -> str:
        """All that was written."""
        return "".join(line + "\n" for line in self._lines)

    def write(self, text: str) -> None:
        """Some lines."""
        self._lines.append(text)
        for stream in self._streams:
            stream.write(text + "\n")
            stream.flush()

    def stage(self, stage: int, each: int, gap: Gap | None, samples: int, seconds: float) -> None:
        """One line per stage."""
        if not any(line.startswith(self.HEADER[:6]) for line in self._lines):
            self.write(self.HEADER)
        if gap is None:
            numbers = f"{'-':>9}{'-':>16}{'-':>10}{'-':>11}{'-':>11}"
        else:
            numbers = (
                f"{gap.replicates:>9}{self._sign * gap.objective:>16.8g}"
                f"{gap.objective_error:>10.1e}{gap.estimate:>11.2e}{gap.bound:>11.2e}"
            )
        self.write(f"{stage:>6}{each:>11}{numbers}{seconds:>9.2f}")
        if gap is not None and gap.infeasible:
            row = f", row {gap.row}" if gap.row else ""
            self.write(f"  recourse infeasible in {gap.infeasible} of {gap.scenarios}{row}")
