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
from .plain_arrays import Arrays, NotPlainArrays, packed_arrays, read_arrays
from .progress import Progress
from .records import packed, unpacked

#: a probe may differ by this much between machines; on one machine it is equal
PROBE_TOLERANCE = 1e-9
#: without an interval given, checkpoints take this share of the run
SHARE = 0.01


@dataclass(frozen=True)
class Checkpoint:
    """What a file holds."""

    path: str
    #: texts that must be equal where the run is continued
    labels: dict[str, str]
    #: numbers that must be
    digests: dict[str, NDArray[np.uint64]]
    #: for the caller: the options of the run
    note: dict[str, Any]
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

    def _check_state(self, state: Any, beginning: Progress) -> None:
        """Raise TypeError unless this can be the state of a run."""
        fresh, a = beginning.state, self.arrays
        fits = (
            isinstance(state, type(fresh))
            and (state.x.shape, state.y.shape) == (fresh.x.shape, fresh.y.shape)
            and np.array_equal(state.x, self.x, equal_nan=True)
            and isinstance(state.k, int)
            and a["history"].shape[1] == len(beginning.history.columns)
            and a["certificates"].shape[1] == len(beginning.certificates.columns)
            and a["drawn"].shape in (fresh.x.shape, (0,))
        )
        if not fits:
            raise TypeError("its state is that of another method or model")

    def restore(self, beginning: Progress, records: Iterable[type], oracle: Oracle) -> Progress:
        """The run as it was; ``records`` are the classes that its state is made of."""
        a = self.arrays
        try:
            count = sum(name.startswith("record.") for name in a)
            arrays = [a[f"record.{i}"] for i in range(count)]
            state = unpacked(self.structure, arrays, records)
            self._check_state(state, beginning)
        except (KeyError, TypeError, IndexError, AttributeError, RecursionError) as error:
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
    return packed_arrays(arrays)


def load(path: str) -> Checkpoint:
    """Read a checkpoint; raises if the file is none."""
    try:
        a = read_arrays(path)
    except FileNotFoundError:
        raise CheckpointError(f"resume='{path}': there is no such file.") from None
    except NotPlainArrays as error:
        raise CheckpointError(f"resume='{path}' is not a checkpoint ({error}).") from None
    try:
        labels, kinds, structure, note = (_text(a, name) for name in TEXTS)
        digests = {kind: _numbers(a.pop(f"digest.{i}"), 1, "u") for i, kind in enumerate(kinds)}
        start, x, probe = (_numbers(a.pop(name), 1) for name in ("start", "x", "probe"))
        for name, dimensions in TABLES.items():
            _numbers(a[name], dimensions)
    except (KeyError, ValueError, TypeError, AttributeError, RecursionError) as error:
        said = f"{type(error).__name__}: {error}"
        raise CheckpointError(
            f"resume='{path}' is not a checkpoint of this version ({said})."
        ) from None
    return Checkpoint(path, labels, digests, note, start, x, probe, structure, a)


#: members that hold texts (JSON), and those with arrays of so many dimensions
TEXTS = {"labels": dict, "digests": list, "structure": dict, "note": dict}
TABLES = {"history": 2, "certificates": 2, "drawn": 1, "seconds": 0, "work_left": 1}


def _text(arrays: Arrays, name: str) -> Any:
    found = json.loads(str(arrays.pop(name)))
    if not isinstance(found, TEXTS[name]):
        raise TypeError(f"{name} is {type(found).__name__}")
    return found


def _numbers(array: NDArray[Any], dimensions: int, kind: str = "f") -> NDArray[Any]:
    if array.ndim != dimensions or array.dtype.kind != kind:
        raise ValueError(f"an array of {array.dtype.name} with {array.ndim} dimensions")
    return array


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


def probe_of(oracle: Oracle, x: Vector, objective: bool = False) -> Vector:
    """(g, c, J) at x on a small fixed sample, and f if it is asked for."""
    left = work_left(oracle)
    sample = oracle.draw(SETUP_STREAM, 1, [2] * len(oracle.sources))
    estimate = oracle.estimate(x, sample, objective)
    set_work_left(oracle, left)  # a probe is no part of the run
    f = np.empty(0) if estimate.f is None else np.array([estimate.f])
    return np.concatenate([f, estimate.g, estimate.c, estimate.J])
