r"""Checkpoints: a run on disk, from which it continues bit for bit.

A checkpoint is one ``.npz`` file of plain arrays (nothing is pickled) with everything a run carries
from one iteration to the next: the method's state (see records.py), the history, the certificates.
Random streams are counters and fixed samples have names, so that the state says what to draw again.

The file is replaced as a whole (safe_file.py): a process killed at any time leaves the last
complete checkpoint behind. A write that fails is told and tried again later; the run goes on.

Whether it may be continued is decided by what is stored beside the run: the identity of the problem
(identity.py: names, bounds, functions, data), which must be equal, and a probe, the estimate of
(g, c, J) at the checkpoint's own point on one fixed sample, which must come out the same. The probe
sees what nobody can name: what a sampler draws, another seed.
"""

from __future__ import annotations

import io
import json
import os
import time
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import CheckpointError
from ..oracle import SETUP_STREAM, Oracle, Vector, set_work_left, work_left
from .history import History
from .identity import Identity
from .progress import Progress
from .records import packed, unpacked

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
    #: numbers that must be
    digests: dict[str, NDArray[np.uint64]]
    #: a text for the caller: the options of the run
    note: str
    #: where the run began
    start: Vector
    #: where it stood, and the estimate there
    x: Vector
    probe: Vector
    structure: Any
    arrays: Arrays

    def check(self, identity: Identity, oracle: Oracle) -> None:
        """Raise unless the run of this checkpoint may be continued here."""
        different = identity.difference(self.labels, self.digests)
        if different is not None:
            raise CheckpointError(
                f"'{self.path}' cannot be continued: {different}. Restore it, or start anew "
                "without resume=."
            )
        probe = probe_of(oracle, self.x) if self.x.size == oracle.problem.n else np.empty(0)
        if probe.shape != self.probe.shape or not np.allclose(
            probe, self.probe, PROBE_TOLERANCE, PROBE_TOLERANCE, equal_nan=True
        ):
            raise CheckpointError(
                f"'{self.path}' cannot be continued: at its own point the model now gives other "
                "values than then, so an expression, a Param, the data or the seed has changed. "
                "Restore the model, or start anew without resume=."
            )

    def restore(self, beginning: Progress, records: Iterable[type], oracle: Oracle) -> Progress:
        """The run as it was; ``records`` are the classes that its state is made of."""
        a = self.arrays
        try:
            count = sum(name.startswith("record.") for name in a)
            arrays = [a[f"record.{i}"] for i in range(count)]
            state = unpacked(self.structure, arrays, records)
        except (KeyError, TypeError, IndexError) as error:
            raise CheckpointError(
                f"'{self.path}' does not hold a run of this version ({error})."
            ) from None
        set_work_left(oracle, a["work_left"])
        return Progress(
            state=state,
            start=self.start,
            history=History(beginning.history.columns, a["history"]),
            certificates=History(beginning.certificates.columns, a["certificates"]),
            drawn=a["drawn"],
            seconds_before=float(a["seconds"]),
        )


def packed_run(progress: Progress, identity: Identity, note: str, oracle: Oracle) -> memoryview:
    """The content of a checkpoint."""
    records: list[NDArray[Any]] = []
    structure = packed(progress.state, records)
    kinds = list(identity.digests)
    arrays: Arrays = {
        "history": progress.history.table,
        "certificates": progress.certificates.table,
        "drawn": progress.drawn,
        "seconds": np.asarray(progress.seconds),
        "note": np.asarray(note),
        "labels": np.asarray(json.dumps(dict(identity.labels))),
        "digests": np.asarray(json.dumps(kinds)),
        "work_left": work_left(oracle),
        "start": progress.start,
        "x": progress.state.x,
        "probe": probe_of(oracle, progress.state.x),
        "structure": np.asarray(json.dumps(structure)),
    }
    arrays |= {f"record.{i}": array for i, array in enumerate(records)}
    arrays |= {f"digest.{i}": identity.digests[kind].numbers for i, kind in enumerate(kinds)}
    content = io.BytesIO()
    np.savez(content, **arrays)  # type: ignore[arg-type]
    return content.getbuffer()


def load(path: str) -> Checkpoint:
    """Read a checkpoint; raises if the file is none."""
    try:
        with np.load(path, allow_pickle=False) as file:
            a = {name: file[name] for name in file.files}
        labels = json.loads(str(a.pop("labels")))
        kinds = json.loads(str(a.pop("digests")))
        digests = {kind: a.pop(f"digest.{i}") for i, kind in enumerate(kinds)}
        structure = json.loads(str(a.pop("structure")))
        note = str(a.pop("note"))
        start, x, probe = a.pop("start"), a.pop("x"), a.pop("probe")
    except FileNotFoundError:
        raise CheckpointError(f"resume='{path}': there is no such file.") from None
    except (OSError, EOFError, ValueError, KeyError, AttributeError, zipfile.BadZipFile) as error:
        raise CheckpointError(f"resume='{path}' is not a checkpoint ({error}).") from None
    return Checkpoint(path, labels, digests, note, start, x, probe, structure, a)


def looks_like_one(path: str) -> bool:
    """Whether a file is a checkpoint, whole or damaged, or empty: nothing else is overwritten."""
    if os.path.getsize(path) == 0:
        return True
    try:
        with zipfile.ZipFile(path) as file:
            return "structure.npy" in file.namelist()
    except (OSError, ValueError, NotImplementedError, zipfile.BadZipFile):
        with open(path, "rb") as file:
            return file.read(4) == b"PK\x03\x04"


class Keeper:
    """Writes checkpoints during a run. An observer of the loop."""

    def __init__(
        self,
        write: Callable[[Progress], None],
        every: int | None,
        tell: Callable[[str], None] = lambda _: None,
    ):
        """``tell`` is called with the first failure of several."""
        self._write = write
        self._every = every
        self._tell = tell
        self._due = inf if every is not None else 0.0
        self._kept: Any = None
        #: why the last attempt to write has failed
        self.trouble = ""

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
        """Write now, unless this state is on disk already or could not be evaluated."""
        if progress.state is not self._kept and progress.state.issue is None:
            try:
                self._write(progress)
            except (OSError, MemoryError) as error:
                first, self.trouble = not self.trouble, self._what_failed(progress, error)
                if first:
                    self._tell(self.trouble)
            else:
                self._kept, self.trouble = progress.state, ""

    def _what_failed(self, progress: Progress, error: Exception) -> str:
        holds = "none was written before"
        if self._kept is not None:
            holds = f"the file still holds iteration {self._kept.k}"
        why = getattr(error, "strerror", None) or str(error) or type(error).__name__
        k = progress.state.k
        return f"the checkpoint of iteration {k} could not be written ({why}); {holds}"


def probe_of(oracle: Oracle, x: Vector) -> Vector:
    """(g, c, J) at x on a small fixed sample."""
    left = work_left(oracle)
    estimate = oracle.estimate(x, oracle.draw(SETUP_STREAM, 1, [2] * len(oracle.sources)))
    set_work_left(oracle, left)  # a probe is no part of the run
    return np.concatenate([estimate.g, estimate.c, estimate.J])
