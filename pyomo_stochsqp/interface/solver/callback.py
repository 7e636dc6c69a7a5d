r"""What a user's callback sees: the run between two iterations, read-only.

    def callback(state):
        print(state.iteration, state.violation, state.x[m.price])
        return state.samples > 1e6          # True stops the run

Numbers are those of the last iteration; nothing that is changed here reaches the run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pyomo.common.collections import ComponentMap

from ...certify import Certificate
from ...errors import CallbackError
from ...given import failed
from ...oracle import Vector
from ...run import Progress
from ...solve import Setup


class RunState:
    """The state of a run. Numbers of the last iteration are attributes, named as in the history.

    ``iteration``, ``samples``, ``violation``, ``merit_parameter``, ``step_size``, ...: every column
    of the history. Values of variables and multipliers are made only when asked for.
    """

    def __init__(self, progress: Progress, setup: Setup):
        self._progress = progress
        self._setup = setup

    def __getattr__(self, name: str) -> Any:
        history = self._progress.history
        if name not in history.columns:
            raise AttributeError(
                f"the state of a run has no '{name}'; there are vector, x, duals, certificate, "
                f"seconds, {', '.join(history.columns)}"
            )
        number = history[name][-1].item()
        return int(number) if name in ("iteration", "samples", "batch") else number

    @property
    def vector(self) -> Vector:
        """The current point as an array, in the order of the program's variables."""
        view = self._progress.state.x.view()
        view.flags.writeable = False
        return view

    @property
    def x(self) -> Mapping[Any, float]:
        """The current point: Var -> value."""
        return ComponentMap(
            zip(self._setup.program.variables, self._progress.state.x.tolist(), strict=True)
        )

    @property
    def duals(self) -> Mapping[Any, float]:
        """The current multiplier estimates with Pyomo's sign: constraint -> value."""
        program = self._setup.program
        duals = -program.sign * self._setup.scaling.user_multipliers(self._progress.state.y)
        rows = (row.component for row in program.rows)
        return ComponentMap(zip(rows, duals.tolist(), strict=True))

    @property
    def certificate(self) -> Certificate | None:
        """The best certificate so far, if one was made."""
        return self._progress.state.best

    @property
    def seconds(self) -> float:
        """Run time so far."""
        return self._progress.seconds


class CallbackObserver:
    """Calls a user's function every few iterations. An observer of the loop."""

    def __init__(self, function: Callable[[RunState], Any], every: int, setup: Setup):
        self._function = function
        self._every = every
        self._setup = setup
        self._last_k = 0

    def __call__(self, progress: Progress) -> str | None:
        k = progress.state.k
        if k == self._last_k:
            return None  # a stage was opened: that is no iteration
        self._last_k = k
        if k % self._every:
            return None
        try:
            stop = self._function(RunState(progress, self._setup))
        except Exception as error:
            raise CallbackError(failed(f"callback= at iteration {k}", error)) from error
        if stop:
            return "the callback asked for it"
        return None
