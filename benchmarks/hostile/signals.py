r"""Signals at every phase of a run: a process counts the calls of this package's functions, and
gets a signal in the middle of one of them, in a room that is drawn.

    kept        Ctrl-C: solve returns, a point is loaded, and the checkpoint is continued to the end
                of the run that nobody disturbed, bit for bit.  SIGTERM: the process ends by it, or
                after it, and its checkpoint is continued in the same way
    before      the run had not begun: there was nothing to lose
    lost        anything else
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyomo.environ as pyo

from benchmarks.hostile.children import Child
from benchmarks.hostile.declarations import PACKAGE, quiet
from benchmarks.hostile.runs import MODELS, bits, solved

WRONG = ("lost",)
VERDICTS = ("kept", "before", *WRONG)
#: signals for each room, and rooms in which nothing of a run has happened
EACH = 3
#: an interrupted run may be good enough already
GOOD = ("interrupted", "convergenceCriteriaSatisfied")
SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Counting:
    """Counts calls of functions, room by room; something happens at one of them."""

    def __init__(self, room: str = "", at: int = -1, happens: Callable[[], Any] = lambda: None):
        self.calls: Counter[str] = Counter()
        self._room, self._at, self._happens = room, at, happens
        self._rooms: dict[str, str | None] = {}

    def __enter__(self) -> Counting:
        sys.setprofile(self._called)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def _called(self, frame: Any, event: str, argument: Any) -> None:
        if event != "call":
            return
        file = frame.f_code.co_filename
        if file not in self._rooms:
            self._rooms[file] = self._room_of(file)
        room = self._rooms[file]
        if room is None:
            return
        self.calls[room] += 1
        if room == self._room and self.calls[room] == self._at:
            self._happens()

    @staticmethod
    def _room_of(file: str) -> str | None:
        if not file.startswith(PACKAGE):
            return None
        return Path(file).relative_to(PACKAGE).parts[0].removesuffix(".py")


class Whole:
    """The run that nobody disturbs, and the calls it makes."""

    def __init__(self, name: str, folder: Path):
        self.model = MODELS[name]
        self.bits = bits(solved(self.model()))
        with Counting() as counting:
            solved(self.model(), checkpoint=folder / "count.npz", checkpoint_every=1)
        self.calls = counting.calls


def trial(whole: Whole, folder: Path, room: str, at: int, number: int) -> tuple[str, str]:
    """What becomes of a run that gets a signal at one call."""
    path = folder / "run.npz"
    path.unlink(missing_ok=True)

    def run() -> tuple[str, bool]:
        m = whole.model()
        with Counting(room, at, lambda: os.kill(os.getpid(), number)):
            results = solved(m, checkpoint=path, checkpoint_every=1)
        loaded = all(v.value is not None for v in m.component_data_objects(pyo.Var))
        return results.termination_condition.name, loaded

    child = Child(run, folder / "answer.pickle")
    code, returned, raised = child.ended()
    begun = path.exists()
    if returned is None and not begun:
        # by the signal itself: the system's end, or Python's KeyboardInterrupt (Pyomo's
        # configurations make a ValueError of it)
        fine = code == -number or "KeyboardInterrupt" in raised
        return ("before" if fine else "lost"), raised
    if returned is None and not (number == signal.SIGTERM and code == -signal.SIGTERM):
        return "lost", raised or f"exit code {code}"
    if returned is not None:
        condition, loaded = returned
        if not loaded or condition not in GOOD:
            return "lost", f"{condition}, loaded: {loaded}"
        if not begun:
            return "kept", ""
    again = Child(lambda: bits(solved(whole.model(), resume=path)), folder / "again.pickle")
    _, found, raised = again.ended()
    if raised or found is None:
        return "lost", raised or "cannot be continued"
    return ("kept", "") if found == whole.bits else ("lost", "continued to another end")


def run(seed: int, each: int = EACH, verbose: bool = False) -> Counter[str]:
    """So many signals of each kind in each room."""
    rng = np.random.default_rng(seed)
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as place, quiet():
        folder = Path(place)
        wholes = [Whole(name, folder) for name in ("tilting", "table", "sampler")]
        for room in sorted(set().union(*(whole.calls for whole in wholes))):
            for number in SIGNALS * each:
                some = [whole for whole in wholes if whole.calls[room]]
                whole = some[int(rng.integers(len(some)))]
                at = int(rng.integers(1, whole.calls[room] + 1))
                found, said = trial(whole, folder, room, at, number)
                counts[found] += 1
                if found in WRONG or verbose:
                    name = f"{signal.Signals(number).name} at call {at} of {room}"
                    print(f"  {found:6} {whole.model.__name__}, {name}: {said[-900:]}", flush=True)
    return counts


def report(seed: int, verbose: bool = False) -> int:
    """Print the figures of one seed; how many went wrong."""
    counts = run(seed, verbose=verbose)
    figures = ", ".join(f"{counts[v]} {v}" for v in VERDICTS)
    print(f"seed {seed}: {sum(counts.values())} signals: {figures}", flush=True)
    return sum(counts[v] for v in WRONG)
