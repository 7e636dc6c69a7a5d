r"""A run whose checkpoints cannot be written: every call of the operating system fails once, and
from then on for ever.

    kept        the run's end is that of a run without checkpoints, bit for bit; what is left on
                disk can be continued to the same end; nothing else is left
    untold      the file is not that of the last iteration, and no warning says so
    lost        the run has raised, or has ended differently
    broken      the file cannot be continued, or other files are left
"""

from __future__ import annotations

import errno
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.hostile.declarations import quiet
from benchmarks.hostile.runs import MODELS, bits, solved
from pyomo_stochsqp.errors import CheckpointError

WRONG = ("untold", "lost", "broken")
VERDICTS = ("kept", "refused", *WRONG)
#: what a checkpoint needs of the operating system, and its errors
CALLS = ("open", "write", "fsync", "close", "replace", "stat", "chmod", "unlink")
ERRORS = (errno.ENOSPC, errno.EIO, errno.EACCES, errno.EDQUOT, errno.EROFS, errno.ENOENT,
          errno.EMFILE, errno.EINTR)  # fmt: skip
PLACE = "pyomo_stochsqp.run.safe_file.os"


class Faulty:
    """The ``os`` that safe_file.py sees: calls are counted, some fail."""

    def __init__(
        self, call: str = "", fails: Callable[[int], bool] | None = None, error: Any = None
    ):
        self.calls: Counter[str] = Counter()
        self.call, self._fails, self._error = call, fails, error

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        if name not in CALLS:
            return real

        def call(*args: Any, **kwds: Any) -> Any:
            self.calls[name] += 1
            if name == self.call and self._fails is not None and self._fails(self.calls[name]):
                if name == "close":
                    real(*args)  # it does that, and complains
                if self._error is None:  # a short write
                    return real(args[0], args[1][: max(1, len(args[1]) // 2)])
                raise self._error
            return real(*args, **kwds)

        return call


@contextmanager
def system(faulty: Faulty) -> Iterator[Faulty]:
    """safe_file.py sees it."""
    with patch(PLACE, faulty):
        yield faulty


def faults(rng: np.random.Generator, calls: Counter[str]) -> Iterator[tuple[str, Faulty]]:
    """(what fails, the system) for every call that a run makes: once, and for ever."""
    for call in CALLS:
        for first in range(1, calls[call] + 1):
            number = ERRORS[int(rng.integers(len(ERRORS)))]
            error: Any = OSError(number, os.strerror(number))
            if call == "write" and first % 5 == 0:
                error = MemoryError("no room for a copy")
            said = f"{call} {first} {error!r}"
            yield f"{said} once", Faulty(call, lambda k, f=first: k == f, error)
            yield f"{said} for ever", Faulty(call, lambda k, f=first: k >= f, error)
    yield "all writes are short", Faulty("write", lambda k: k % 3 > 0)


def verdict(model: Any, path: Path, expected: Any, faulty: Faulty) -> tuple[str, str]:
    """What becomes of one run."""
    try:
        with system(faulty):
            results = solved(model(), checkpoint=path, checkpoint_every=1)
    except CheckpointError as error:
        return "refused", str(error)  # before the run begins
    except Exception as error:
        return "lost", f"{type(error).__name__}: {error}"
    if bits(results) != expected:
        return "lost", "another end"
    left = [name for name in os.listdir(path.parent) if name != path.name]
    if path.exists():
        try:
            again = solved(model(), resume=path, callback=None)
        except Exception as error:
            return "broken", f"{type(error).__name__}: {error}"
        if bits(again) != expected:
            return "broken", "continued to another end"
        told = bool(results.warnings)
        complete = again.iteration_count and _iterations(path) == results.iteration_count
        if not told and not complete:
            return "untold", f"{results.warnings}"
    elif not results.warnings:
        return "untold", "no file, no warning"
    # what cannot be looked at or removed stays
    if left and faulty.call not in ("unlink", "stat"):
        return "broken", f"left: {left}"
    return "kept", ""


def _iterations(path: Path) -> int:
    """Those of the run in a checkpoint."""
    with np.load(path) as file:
        return len(file["history"])


def run(seed: int, every: int = 1, verbose: bool = False) -> Counter[str]:
    """All faults, or one of ``every``."""
    rng = np.random.default_rng(seed)
    model = MODELS[("tilting", "table")[seed % 2]]
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder, quiet():
        expected = bits(solved(model()))
        with system(Faulty()) as counting:
            solved(model(), checkpoint=Path(folder) / "run.npz", checkpoint_every=1)
        for number, (what, faulty) in enumerate(faults(rng, counting.calls)):
            if (number + seed) % every:
                continue
            with tempfile.TemporaryDirectory() as own:
                found, said = verdict(model, Path(own) / "run.npz", expected, faulty)
            counts[found] += 1
            if found in WRONG or verbose:
                print(f"  {found:8} {what}: {said[:200]}", flush=True)
    return counts


def report(seed: int, verbose: bool = False) -> int:
    """Print the figures of one seed; how many went wrong."""
    counts = run(seed, verbose=verbose)
    figures = ", ".join(f"{counts[v]} {v}" for v in VERDICTS)
    print(f"seed {seed}: {sum(counts.values())} failing writes: {figures}", flush=True)
    return sum(counts[v] for v in WRONG)
