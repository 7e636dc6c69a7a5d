r"""Checkpoints: a run on disk, from which it continues bit for bit.

A checkpoint is one ``.npz`` file of plain arrays (nothing is pickled) with everything a run carries
from one iteration to the next: the method's state, the tail average, the history, the certificates.
Random streams are counters, so the iteration number is their state.

It is written to a second file that then takes the place of the first. A process killed at any time
leaves the last complete checkpoint behind.

Whether it may be continued is decided by what is stored beside the run: labels that must be equal
(the version, the model's names), and a probe, the estimate of (g, c, J) at the checkpoint's
own point on one fixed sample, which must come out the same. The probe sees what labels cannot: a
changed number in an expression, in a Param or in the data, another seed.
"""

from __future__ import annotations

import os
import time
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import CheckpointError
from ..oracle import SETUP_STREAM, Oracle, Vector
from .certificate import Certificate
from .history import History
from .progress import Progress, TailAverage
from .termination import Stop

#: a probe may differ by this much between machines; on one machine it is equal
PROBE_TOLERANCE = 1e-9
#: without an interval given, checkpoints take this share of the run
SHARE = 0.01

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Checkpoint:
    """What a file holds."""

    path: str
    #: texts that must be equal where the run is continued
    labels: dict[str, str]
    #: a text for the caller: the options of the run
    note: str
    #: where the run began
    start: Vector
    probe: Vector
    arrays: Arrays

    def check(self, labels: Mapping[str, str], oracle: Oracle) -> None:
        """Raise unless the run of this checkpoint may be continued here."""
        for what, here in labels.items():
            there = self.labels.get(what, "unknown")
            if there != here:
                raise CheckpointError(
                    f"'{self.path}' cannot be continued: {what} was {there!r} then and is "
                    f"{here!r} now. Restore it, or start anew without resume=."
                )
        x = self.arrays["state.x"]
        probe = probe_of(oracle, x) if x.size == oracle.problem.n else np.empty(0)
        if probe.shape != self.probe.shape or not np.allclose(
            probe, self.probe, PROBE_TOLERANCE, PROBE_TOLERANCE, equal_nan=True
        ):
            raise CheckpointError(
                f"'{self.path}' cannot be continued: at its own point the model now gives other "
                "values than then, so an expression, a Param, the data or the seed has changed. "
                "Restore the model, or start anew without resume=."
            )

    def recall(self, name: str, template: Any) -> Any:
        """One record of the method's memory, in the shape of a template; None if it was empty."""
        prefix = f"memory.{name}"
        if not any(key.startswith(f"{prefix}.") for key in self.arrays):
            return None
        return unpacked(prefix, template, self.arrays)

    def restore(self, beginning: Progress) -> Progress:
        """The run as it was, built in the shape of a run that has not begun."""
        a = self.arrays
        best = None
        if "best.x" in a:
            best = Certificate(**{f.name: _plain(a[f"best.{f.name}"]) for f in fields(Certificate)})
        return Progress(
            state=unpacked("state", beginning.state, a),
            history=History(beginning.history.columns, a["history"]),
            average=TailAverage.unpacked(a["average"]),
            certificates=History(beginning.certificates.columns, a["certificates"]),
            best=best,
            drawn=a["drawn"],
            certified_at=int(a["certified_at"]),
            seconds_before=float(a["seconds"]),
        )


def save(
    path: str,
    progress: Progress,
    labels: Mapping[str, str],
    note: str,
    oracle: Oracle,
    memory: Mapping[str, Any] | None = None,
) -> None:
    """Write a checkpoint; the file is always a complete one.

    ``memory`` are records that the method keeps beside its state.
    """
    arrays: Arrays = {
        "history": progress.history.table,
        "certificates": progress.certificates.table,
        "average": progress.average.packed(),
        "drawn": progress.drawn,
        "certified_at": np.asarray(progress.certified_at),
        "seconds": np.asarray(progress.seconds),
        "note": np.asarray(note),
        "start": oracle.problem.x0,
        "probe": probe_of(oracle, progress.state.x),
    }
    arrays |= {f"label.{what}": np.asarray(text) for what, text in labels.items()}
    arrays |= packed("state", progress.state)
    if progress.best is not None:
        arrays |= packed("best", progress.best)
    for name, record in (memory or {}).items():
        arrays |= packed(f"memory.{name}", record)
    fresh = f"{path}.new"
    with open(fresh, "wb") as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]
        file.flush()
        os.fsync(file.fileno())
    os.replace(fresh, path)


def load(path: str) -> Checkpoint:
    """Read a checkpoint; raises if the file is none."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        note, start, probe = str(arrays.pop("note")), arrays.pop("start"), arrays.pop("probe")
        labels = {k[6:]: str(arrays.pop(k)) for k in list(arrays) if k.startswith("label.")}
    except FileNotFoundError:
        raise CheckpointError(f"resume='{path}': there is no such file.") from None
    except (OSError, EOFError, ValueError, KeyError, AttributeError, zipfile.BadZipFile) as error:
        raise CheckpointError(f"resume='{path}' is not a checkpoint ({error}).") from None
    return Checkpoint(path, labels, note, start, probe, arrays)


class Keeper:
    """Writes checkpoints during a run. An observer of the driver."""

    def __init__(self, write: Callable[[Progress], None], every: int | None):
        self._write = write
        self._every = every
        self._due = inf if every is not None else 0.0
        self._kept = -1

    def __call__(self, progress: Progress) -> None:
        if self._every is not None:
            if progress.state.k % self._every == 0:
                self.keep(progress)
        elif time.perf_counter() >= self._due:
            began = time.perf_counter()
            self.keep(progress)
            now = time.perf_counter()
            self._due = now + (now - began) / SHARE

    def keep(self, progress: Progress) -> None:
        """Write now, unless this iteration is on disk already or could not be evaluated."""
        if progress.state.k != self._kept and progress.state.issue is None:
            self._write(progress)
            self._kept = progress.state.k


def probe_of(oracle: Oracle, x: Vector) -> Vector:
    """(g, c, J) at x on a small fixed sample: the model's fingerprint."""
    estimate = oracle.estimate(x, oracle.draw(SETUP_STREAM, 1, [2] * len(oracle.sources)))
    return np.concatenate([estimate.g, estimate.c, estimate.J])


def packed(name: str, value: Any) -> Arrays:
    """A record of numbers, arrays and records as named arrays; other things are left out."""
    parts = _parts(value)
    if parts:
        found: Arrays = {}
        for part in parts:
            found |= packed(f"{name}.{part}", getattr(value, part))
        return found
    if isinstance(value, Stop):
        return {name: np.asarray(_STOP + value.name)}
    if isinstance(value, (bool, int, float, np.ndarray, np.number)):
        return {name: np.asarray(value)}
    return {}


def unpacked(name: str, template: Any, arrays: Arrays) -> Any:
    """The record that :func:`packed` took apart, in the shape of a template.

    >>> from collections import namedtuple
    >>> P = namedtuple("P", "a b")
    >>> unpacked("p", P(0, None), packed("p", P(3, np.ones(2))))
    P(a=3, b=array([1., 1.]))
    """
    parts = _parts(template)
    if parts:
        values = {p: unpacked(f"{name}.{p}", getattr(template, p), arrays) for p in parts}
        return type(template)(**values)
    return _plain(arrays[name]) if name in arrays else template


def _parts(value: Any) -> Sequence[str]:
    """The fields of a dataclass or a named tuple; nothing for anything else."""
    if is_dataclass(value):
        return [f.name for f in fields(value)]
    return getattr(value, "_fields", ())


def _plain(array: NDArray[Any]) -> Any:
    if array.ndim:
        return array
    value = array.item()
    return Stop[value.removeprefix(_STOP)] if isinstance(value, str) else value


_STOP = "Stop."
