r"""The progress bar of a run: a line that is drawn again and again, in terminals and in notebooks.

In a terminal it is the last line of the log, written over. Notebooks have no terminal under their
output: there it is a display of its own that is updated, and that only long runs get. Both are a
few lines of code of our own: rich and tqdm are not needed by Pyomo, so they would be one more
dependency, and a redraw ten times a second is all that is wanted of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import inf
from typing import Any, NamedTuple, Protocol

from ..run import Budget, Progress

#: seconds without a bar: a notebook keeps the place of a display, even an empty one
TERMINAL_WAIT, NOTEBOOK_WAIT = 0.0, 0.5


class Picture(NamedTuple):
    """What is left to do."""

    #: the part of the budget that is used up; None without limits of one's own
    share: float | None
    said: str


class Bar(Protocol):
    """Where a picture is drawn."""

    wait: float

    def draw(self, picture: Picture) -> None:
        """In place of the last one."""

    def make_room(self) -> None:
        """Before something else is written."""

    def close(self) -> None:
        """At the end of the run."""


class TerminalBar:
    """The last line of a terminal."""

    wait = TERMINAL_WAIT

    def __init__(self, stream: Any):
        self._stream = stream
        self._shown = False

    def draw(self, picture: Picture) -> None:
        self._stream.write(f"\r{_drawn(picture)}\x1b[K")
        self._stream.flush()
        self._shown = True

    def make_room(self) -> None:
        if self._shown:
            self._stream.write("\r\x1b[K")
            self._shown = False

    close = make_room


class NotebookBar:
    """A display of its own, updated in place."""

    wait = NOTEBOOK_WAIT

    def __init__(self) -> None:
        self._display: Any = None

    def draw(self, picture: Picture) -> None:
        value = "" if picture.share is None else f' value="{picture.share:.4f}"'
        self._show(
            f'<progress max="1"{value} style="width:16em;vertical-align:middle"></progress> '
            f"<code>{escape(picture.said)}</code>"
        )

    def make_room(self) -> None:
        """Nothing is in the way."""

    def close(self) -> None:
        if self._display is not None:
            self._show("")

    def _show(self, html: str) -> None:
        from IPython.display import HTML, display

        if self._display is None:
            self._display = display(HTML(html), display_id=True)
        else:
            self._display.update(HTML(html))


def bars_on(streams: Sequence[Any]) -> list[Bar]:
    """One for every terminal, and one for the notebook that a stream belongs to."""
    bars: list[Bar] = [TerminalBar(s) for s in streams if _is_terminal(s)]
    if any(_is_notebook(s) for s in streams):
        bars.append(NotebookBar())
    return bars


def picture_of(progress: Progress, budget: Budget) -> Picture:
    """The time left, judged by the part of the budget that runs out first."""
    share, what = _share_done(progress, budget)
    if share is None:
        state, seconds = progress.state, progress.seconds
        return Picture(None, f"iteration {state.k}, {state.samples} scenarios, {seconds:.1f} s")
    left = f", {progress.seconds * (1.0 - share) / share:.1f} s left at most" if share > 0 else ""
    return Picture(share, f"{100 * share:3.0f} % of {what}{left}")


def _drawn(picture: Picture) -> str:
    """With a bar of characters.

    >>> _drawn(Picture(0.25, " 25 % of iterations, 6.0 s left at most"))
    '[######                  ]  25 % of iterations, 6.0 s left at most'
    """
    if picture.share is None:
        return picture.said
    return f"[{'#' * int(24 * picture.share):24}] {picture.said}"


def _share_done(progress: Progress, budget: Budget) -> tuple[float | None, str]:
    """The part of the budget that is used up most; None without limits of one's own."""
    state = progress.state
    shares = []
    if 0 < budget.max_iter < inf:
        shares.append((state.k / budget.max_iter, "iterations"))
    if 0 < budget.max_samples < inf and budget.max_samples_given:
        shares.append((state.samples / budget.max_samples, "scenarios"))
    if 0 < budget.time_limit < inf:
        shares.append((progress.seconds / budget.time_limit, "time"))
    if not shares:
        return None, ""
    share, what = max(shares)
    return min(share, 1.0), what


def _is_terminal(stream: Any) -> bool:
    return bool(getattr(stream, "isatty", lambda: False)())


def _is_notebook(stream: Any) -> bool:
    """Whether Jupyter's kernel has made it."""
    return type(stream).__module__.startswith("ipykernel.")
