r"""Runs in stages that are killed at random times and continued, again and again.

same        the end is that of the run that was never disturbed, bit for bit
different   it is another one
lost        a run could not be continued
"""

from __future__ import annotations

import signal
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.hostile.children import Child
from benchmarks.hostile.declarations import quiet
from benchmarks.hostile.runs import MODELS, bits, solved

WRONG = ("different", "lost")
VERDICTS = ("same", *WRONG)
KILLS = 50
#: kills of one run
MOST = 3
#: more stages than the models have by default
OPTIONS = {"tol_opt": 3e-4, "tol_feas": 3e-4}


class Whole:
    """A run that nobody disturbs."""

    def __init__(self, name: str):
        self.model = MODELS[name]
        solved(self.model(), **OPTIONS)  # once for all imports
        began = time.perf_counter()
        results = solved(self.model(), **OPTIONS)
        self.seconds = time.perf_counter() - began
        self.bits = bits(results)
        self.iterations = results.iteration_count


def trial(whole: Whole, folder: Path, rng: np.random.Generator, kills: int) -> tuple[str, int, str]:
    """(verdict, kills that hit, what was said) of one run that is killed up to so many times."""
    path, answer = folder / "run.npz", folder / "answer.pickle"
    path.unlink(missing_ok=True)
    hits = 0

    def run() -> dict[str, bytes]:
        resume = path if path.exists() else None
        # options that a run was made with need not be given again
        given = {} if resume is not None else OPTIONS
        return bits(
            solved(whole.model(), checkpoint=path, checkpoint_every=1, resume=resume, **given)
        )

    while True:
        child = Child(run, answer)
        if hits < kills and not child.wait(float(rng.uniform(0.0, whole.seconds))):
            child.kill()
        code, returned, raised = child.ended()
        if code == -signal.SIGKILL and returned is None and not raised:
            hits += 1
            continue
        if raised or returned is None:
            return "lost", hits, raised or f"exit code {code}"
        return ("same" if returned == whole.bits else "different"), hits, ""


def run(
    seed: int, kills: int = KILLS, verbose: bool = False, names: Sequence[str] = tuple(MODELS)
) -> tuple[Counter[str], int, Counter[str]]:
    """(verdicts, kills, runs by model)."""
    rng = np.random.default_rng(seed)
    verdicts: Counter[str] = Counter()
    models: Counter[str] = Counter()
    hit = 0
    with tempfile.TemporaryDirectory() as folder, quiet():
        wholes = {name: Whole(name) for name in names}
        while hit < kills:
            name = names[int(rng.integers(len(names)))]
            wanted = min(int(rng.integers(1, MOST + 1)), kills - hit)
            found, hits, said = trial(wholes[name], Path(folder), rng, wanted)
            if not hits:
                continue  # it had ended before
            hit += hits
            verdicts[found] += 1
            models[name] += 1
            if found in WRONG or verbose:
                print(f"  {found:9} {name}, {hits} kills {said[-300:]}", flush=True)
    return verdicts, hit, models


def report(seed: int, verbose: bool = False) -> int:
    """Print the figures of one seed; how many went wrong."""
    counts, hit, models = run(seed, verbose=verbose)
    figures = ", ".join(f"{counts[v]} {v}" for v in VERDICTS)
    which = ", ".join(f"{name} {models[name]}" for name in MODELS)
    print(f"seed {seed}: {hit} kills of {sum(counts.values())} runs ({which}): {figures}",
          flush=True)  # fmt: skip
    return sum(counts[v] for v in WRONG)
