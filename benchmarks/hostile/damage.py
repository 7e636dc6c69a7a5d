r"""Checkpoints that are damaged: flipped bits, files cut short, other bytes, other files.

refused     an error of this package
harmless    the run is continued, bit for bit as from the file that was not damaged
misread     the run is continued and ends differently
raw         any other exception
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.hostile.declarations import quiet
from benchmarks.hostile.runs import MODELS, same, solved
from pyomo_stochsqp.errors import CheckpointError

WRONG = ("misread", "raw")
VERDICTS = ("refused", "harmless", *WRONG)
FLIPS = 500


def _flipped(content: bytes, rng: np.random.Generator) -> bytes:
    damaged = bytearray(content)
    damaged[int(rng.integers(len(damaged)))] ^= 1 << int(rng.integers(8))
    return bytes(damaged)


def _in_headers(content: bytes, rng: np.random.Generator) -> bytes:
    """A flip near one of the places where the zip format says what follows."""
    marks = [i for i in range(len(content)) if content[i : i + 2] == b"PK"]
    damaged = bytearray(content)
    place = marks[int(rng.integers(len(marks)))] + int(rng.integers(60))
    damaged[min(place, len(damaged) - 1)] ^= 1 << int(rng.integers(8))
    return bytes(damaged)


def _cut(content: bytes, rng: np.random.Generator) -> bytes:
    return content[: int(rng.integers(len(content)))]


def _overwritten(content: bytes, rng: np.random.Generator) -> bytes:
    start = int(rng.integers(len(content)))
    length = int(rng.integers(1, 4097))
    return content[:start] + rng.bytes(length) + content[start + length :]


def _doubled(content: bytes, rng: np.random.Generator) -> bytes:
    start = int(rng.integers(len(content)))
    return content[:start] + content[: int(rng.integers(len(content)))]


KINDS: tuple[Callable[[bytes, np.random.Generator], bytes], ...] = (
    _flipped, _flipped, _in_headers, _in_headers, _cut, _overwritten, _doubled,
)  # fmt: skip


def damaged(content: bytes, seed: int, count: int) -> Iterator[tuple[str, bytes]]:
    """(what was done, content) of so many damaged files."""
    rng = np.random.default_rng(seed)
    for number in range(count):
        kind = KINDS[number % len(KINDS)]
        yield f"{kind.__name__.strip('_')} {number}", kind(content, rng)


def verdict(path: Path, model: Callable[[], Any], expected: Any) -> tuple[str, str]:
    """What becomes of a run that is continued from a file."""
    try:
        results = solved(model(), resume=path)
    except CheckpointError as error:
        return "refused", str(error)
    except Exception as error:
        return "raw", f"{type(error).__name__}: {error}"
    return ("harmless" if same(results, expected) else "misread"), ""


def run(seed: int, count: int = FLIPS, verbose: bool = False) -> Counter[str]:
    """So many damaged copies of the checkpoint of a run in stages."""
    counts: Counter[str] = Counter()
    model = MODELS["tilting"]
    with tempfile.TemporaryDirectory() as folder, quiet():
        path = Path(folder) / "run.npz"
        expected = solved(model(), checkpoint=path, callback=lambda s: s.iteration == 6)
        expected = solved(model(), resume=path)
        content = path.read_bytes()
        for what, bad in damaged(content, seed, count):
            path.write_bytes(bad)
            found, said = verdict(path, model, expected)
            counts[found] += 1
            if found in WRONG or verbose:
                print(f"  {found:9} {what}: {said[:200]}")
    return counts


def report(seed: int, verbose: bool = False) -> int:
    """Print the figures of one seed; how many went wrong."""
    counts = run(seed, verbose=verbose)
    figures = ", ".join(f"{counts[v]} {v}" for v in VERDICTS)
    print(f"seed {seed}: {sum(counts.values())} damaged checkpoints: {figures}", flush=True)
    return sum(counts[v] for v in WRONG)
