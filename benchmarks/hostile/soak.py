r"""Solves, one after the other, for a long time: memory, descriptors and threads stay the same.

Runs with and without checkpoints, callbacks that raise, samplers that fail, limits, machine code
and two stages. Memory is compared between the end of the second quarter and the end: what a process
keeps for good is there by then.
"""

from __future__ import annotations

import gc
import os
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyomo.environ as pyo

from benchmarks.hostile.declarations import quiet
from benchmarks.hostile.runs import MODELS, solved
from pyomo_stochsqp import E, RandomParam, Recourse, evaluate
from pyomo_stochsqp.errors import StochSQPError

#: seconds, and megabytes that memory may grow by in half of them
SECONDS, GROWTH = 1200.0, 4.0


def _raising(state: Any) -> None:
    raise ZeroDivisionError


def _failing() -> Any:
    m = MODELS["sampler"]()
    calls: list[int] = []

    def sampler(rng: Any, n: int) -> Any:
        calls.append(n)
        if len(calls) > 20:
            raise OSError("no licence")
        return rng.gamma(2.0, size=(n, 2))

    m.w.origin.function = sampler
    return m


def _two_stages() -> Any:
    m = pyo.ConcreteModel()
    m.stock = pyo.Var(bounds=(0, 200))
    m.demand = RandomParam(sampler=lambda rng, n: rng.uniform(50, 150, n))
    m.second = Recourse()
    m.second.short = pyo.Var(bounds=(0, None))
    m.second.meet = pyo.Constraint(expr=m.stock + m.second.short >= m.demand)
    m.obj = pyo.Objective(expr=m.stock + 4 * E(m.second.short))
    return m


def _table_in_a_file(folder: Path) -> Any:
    path = folder / "rows.npy"
    if not path.exists():
        np.save(path, np.random.default_rng(1).normal(1.0, 1.0, (50_000, 2)))
    m = pyo.ConcreteModel()
    m.x = pyo.Var([0, 1], initialize=0.1)
    m.w = RandomParam([0, 1], data=np.load(path, mmap_mode="r"))
    m.obj = pyo.Objective(expr=E(sum((m.x[j] - m.w[j]) ** 4 for j in m.x)))
    return m


def kinds(folder: Path) -> dict[str, Callable[[int], Any]]:
    """What is done again and again, with a seed."""
    path = folder / "run.npz"

    def resumed(seed: int) -> None:
        path.unlink(missing_ok=True)
        solved(MODELS["tilting"](), seed=seed, checkpoint=path, checkpoint_every=1, max_iter=3)
        solved(MODELS["tilting"](), resume=path, max_iter=None)

    found: dict[str, Callable[[int], Any]] = {
        name: (lambda seed, model=model: solved(model(), seed=seed))
        for name, model in MODELS.items()
    }
    return found | {
        "resumed": resumed,
        "callback that raises": lambda s: solved(MODELS["table"](), seed=s, callback=_raising),
        "sampler that fails": lambda s: solved(_failing(), seed=s),
        "machine code": lambda s: solved(MODELS["table"](), seed=s, jit=True),
        "Algorithm 1": lambda s: solved(
            MODELS["tilting"](), seed=s, algorithm="stochsqp", max_iter=200
        ),
        "out of time": lambda s: solved(MODELS["risk"](), seed=s, time_limit=0.1, tol_opt=1e-9),
        "two stages": lambda s: solved(_two_stages(), seed=s, gap=1e-2),
        "table in a file": lambda s: solved(_table_in_a_file(folder), seed=s),
        "evaluate": lambda s: evaluate(MODELS["sampler"](), samples=5000, seed=s),
        "workers": lambda s: solved(_table_in_a_file(folder), seed=s, workers=2),
    }


def state() -> tuple[float, int, int]:
    """(megabytes of memory, open descriptors, threads) of this process."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    memory = pages * os.sysconf("SC_PAGE_SIZE") / 2**20
    return memory, len(os.listdir("/proc/self/fd")), threading.active_count()


def run(seed: int, seconds: float, verbose: bool = False) -> tuple[int, list[Any]]:
    """(rounds, states at the quarters of the time)."""
    began = time.monotonic()
    states, rounds = [], 0
    with tempfile.TemporaryDirectory() as folder, quiet():
        todo = kinds(Path(folder))
        while True:
            for what in todo.values():
                with suppress(StochSQPError):  # some are meant to raise one
                    what(seed + rounds)
            rounds += 1
            now = state()
            if verbose:
                print(f"  {time.monotonic() - began:6.0f} s, round {rounds}: {now}", flush=True)
            while time.monotonic() - began >= seconds * (len(states) + 1) / 4:
                states.append(now)
            if len(states) >= 4:
                return rounds, states[:4]


def report(seed: int, verbose: bool = False) -> int:
    """Print the figures; 1 if something grows."""
    seconds = SECONDS
    rounds, states = run(seed, seconds, verbose)
    what = ("MB", "descriptors", "threads")
    figures = "; ".join(
        f"{name} {' '.join(f'{s[i]:.0f}' for s in states)}" for i, name in enumerate(what)
    )
    grown = [states[3][i] - states[1][i] for i in range(3)]
    wrong = grown[0] > GROWTH or grown[1] > 0 or grown[2] > 0
    print(f"seed {seed}: {rounds} rounds of {len(kinds(Path()))} solves in {seconds:.0f} s, at the "
          f"quarters: {figures}{': GROWS' if wrong else ''}", flush=True)  # fmt: skip
    return int(wrong)
