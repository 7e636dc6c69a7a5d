r"""The log of a run: an aligned table in the manner of IPOPT, and a progress bar (bar.py).

Which iterations get a line depends on their number: all up to 10, then multiples of 10 up to 100,
of 100 up to 1000, and so on; so equal runs print equal tables. Every certificate gets a line of its
own. Slow runs also print a line whenever ``PATIENCE`` seconds have passed without one. An iteration
without a line costs a fraction of a microsecond.
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Sequence
from math import inf, isfinite
from typing import Any

from ..certify import Certificate, Tolerances
from ..certify.words import cautions, in_words
from ..oracle import Problem
from ..run import Budget, Outcome, Progress
from .bar import Bar, bars_on, picture_of
from .forecast import forecast

PATIENCE = 5.0  # seconds without a line
REDRAW = 0.1  # seconds between two pictures of the progress bar
HEADER_EVERY = 30  # lines

#: (heading, column of the history, format, width)
TABLE = (
    ("iter", "iteration", "d", 7),
    ("stage", "stage", "d", 7),
    ("scenarios", "batch", "d", 11),
    ("objective", "objective", ".6e", 15),
    ("violation", "violation", ".2e", 11),
    ("step", "step_norm", ".2e", 10),
    ("tau", "merit_parameter", ".2e", 10),
    ("xi", "ratio_parameter", ".2e", 10),
    ("alpha", "step_size", ".2e", 10),
)


class RunLog:
    """Writes one run's log to streams, and keeps its text. An observer of the loop.

    ``sign`` is -1 when the objective is maximised.
    """

    def __init__(
        self, streams: Sequence[Any], budget: Budget, tolerances: Tolerances, sign: int = 1
    ):
        self._text = io.StringIO()
        self._streams: Sequence[Any] = [self._text, *streams]
        #: why a stream is no longer written to
        self.trouble = ""
        self._bars: Sequence[Bar] = bars_on(streams)
        self._budget = budget
        self._tolerances = tolerances
        self._sign = sign
        self._next_k = 1
        self._last_k = 0
        self._seen: Certificate | None = None
        self._note = ""
        now = time.perf_counter()
        self._next_bar = min((now + bar.wait for bar in self._bars), default=inf)
        self._patience_ends = inf
        self._lines = 0

    @property
    def text(self) -> str:
        """All that was written so far, progress lines left out."""
        return self._text.getvalue()

    def write(self, text: str) -> None:
        """One or more whole lines."""
        self._each(self._bars, lambda bar: bar.make_room())
        self._each(self._streams, lambda stream: _put(stream, text + "\n"))

    def _each(self, targets: Sequence[Any], do: Callable[[Any], None]) -> None:
        """Something for every stream or bar; one that fails (a closed pipe, a full disk) is written
        to no more, because nobody wants to lose a run for its log."""
        for target in list(targets):
            try:
                do(target)
            except Exception as error:
                self.trouble = f"the log could not be written ({error})"
                self._streams = [s for s in self._streams if s is not target]
                self._bars = [b for b in self._bars if b is not target]

    def __call__(self, progress: Progress) -> None:
        k = progress.state.k
        now = time.perf_counter()
        if (k >= self._next_k and k > self._last_k) or now >= self._patience_ends:
            self.line(progress)
            self._next_k = _next_line(k)
            self._patience_ends = now + PATIENCE
        if progress.state.certificate is not self._seen:
            self.certificate(progress)
        if progress.state.note and progress.state.note != self._note:
            self._note = progress.state.note
            self.write(f"  {self._note}")
        if now >= self._next_bar:
            picture = picture_of(progress, self._budget)
            self._each(self._bars, lambda bar: bar.draw(picture))
            self._next_bar = now + REDRAW

    def line(self, progress: Progress) -> None:
        """One line of the table, for the last iteration."""
        history = progress.history
        if not history:
            return
        self._last_k = progress.state.k
        columns = [c for c in TABLE if c[1] in history.columns]
        if self._lines % HEADER_EVERY == 0:
            names = "".join(f"{heading:>{width}}" for heading, _, _, width in columns)
            self.write(f"\n{names}{'time':>9}")
        self._lines += 1
        last = dict(zip(history.columns, history.table[-1].tolist(), strict=True))
        last["objective"] = self._sign * last.get("objective", 0.0)
        numbers = "".join(
            f"{_plain(last[name], spec):>{width}}" for _, name, spec, width in columns
        )
        self.write(f"{numbers}{progress.seconds:9.2f}")

    def certificate(self, progress: Progress) -> None:
        """One line for a certificate, with what is left to do."""
        c = self._seen = progress.state.certificate
        if c is None:
            return
        kind = "exactly" if c.exact else f"on {c.scenarios} fresh scenarios"
        said = (
            f"  certified {kind}: violation {c.relative_infeasibility_bound:.1e}, gap "
            f"{c.relative_gap:.1e}, move {c.relative_displacement:.1e}"
        )
        rest = forecast(progress, c, self._tolerances)
        self.write(said + (f"; {rest}" if rest else ""))

    def summary(self, outcome: Outcome, problem: Problem) -> None:
        """How the run ended."""
        state, best = outcome.state, outcome.best
        self._each(self._bars, lambda bar: bar.close())
        if outcome.history and state.k != self._last_k:
            self.line(outcome.progress)
        lines = ["", f"Ended: {outcome.stop.value}."]
        if outcome.message:
            lines.append(f"       {outcome.message}")
        if best is not None:
            error = "" if best.exact else f" +- {best.objective_error:.1e} (standard error)"
            lines += [
                "",
                f"Objective    {self._sign * best.objective:.8g}{error}",
                f"Certificate  {in_words(best, problem.row_names, problem.variable_names)}",
                *(f"Caution      {caution}" for caution in cautions(best)),
            ]
        lines += [f"Warning      {warning}" for warning in outcome.warnings]
        lines.append(
            f"\n{state.k} iterations, {state.samples} scenarios, {outcome.seconds:.2f} seconds"
        )
        self.write("\n".join(lines))


def _plain(number: float, spec: str) -> str:
    if not isfinite(number):
        return "-"
    return f"{int(number)}" if spec == "d" else f"{number:{spec}}"


def _next_line(k: int) -> int:
    """The next iteration that gets a line.

    >>> [_next_line(k) for k in (1, 9, 10, 99, 100, 12345)]
    [2, 10, 20, 100, 200, 20000]
    """
    unit = 10 ** (len(str(k)) - 1)
    return (k // unit + 1) * unit


def _put(stream: Any, text: str) -> None:
    stream.write(text)
    stream.flush()
