r"""Who solves random models, and who is wrong.

python -m benchmarks.robust                 20 models of every kind, this package alone
python -m benchmarks.robust --peer          ... beside POUNCE, a port of IPOPT (pip: pounce-solver)
python -m benchmarks.robust --first 100     other models: those with numbers from 100 on

A model counts as solved if the solver says so and the point satisfies the first-order conditions
(check.py) to 1e-4, as wrong if it says so and the point does not, as lost if it says it has failed
although the peer has solved it. Models that nobody solves are left out of the rates.
"""

from __future__ import annotations

import argparse
import logging
import os
import resource
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.pool import one_thread

one_thread()

import numpy as np  # noqa: E402
import pyomo.environ as pyo  # noqa: E402

import pyomo_stochsqp  # noqa: E402, F401
from benchmarks.robust.check import conditions  # noqa: E402
from benchmarks.robust.kinds import KINDS  # noqa: E402

TOLERANCE = 1e-4


class Answer(NamedTuple):
    """What a solver made of a model."""

    claimed: bool
    error: float
    objective: float
    ended: str
    seconds: float

    @property
    def solved(self) -> bool:
        return self.claimed and self.error <= TOLERANCE

    @property
    def wrong(self) -> bool:
        return self.claimed and self.error > TOLERANCE


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns 1 if anything was wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.robust")
    parser.add_argument("--models", type=int, default=20, help="models of every kind")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--kinds", nargs="*", default=list(KINDS), choices=list(KINDS))
    parser.add_argument("--peer", action="store_true")
    parser.add_argument("--limit", type=float, default=20.0, help="seconds for a model")
    parser.add_argument("--verbose", action="store_true")
    given = parser.parse_args(arguments)
    logging.getLogger("pyomo").setLevel(logging.ERROR)
    if given.peer:
        peer_on_path()
    print(f"{'kind':22}{'models':>7} | {'solved':>6} {'lost':>5} {'wrong':>5} {'CPU s':>7}", end="")
    print(f" | {'solved':>6} {'wrong':>5} {'CPU s':>7}" if given.peer else "")
    total = np.zeros(7)
    for kind in given.kinds:
        row = np.zeros(7)
        for number in range(given.first, given.first + given.models):
            ours = ask(kind, number, ours_solves, given.limit)
            peer = ask(kind, number, peer_solves, given.limit) if given.peer else None
            anybody = ours.solved or (peer is not None and peer.solved)
            row += (
                1, ours.solved, anybody and not ours.claimed, ours.wrong, ours.seconds, 0.0, 0.0,
            ) if peer is None else (
                1, ours.solved, anybody and not ours.claimed, ours.wrong, ours.seconds,
                peer.solved, peer.seconds,
            )  # fmt: skip
            if given.verbose and not ours.solved:
                print(f"  {kind} {number}: {_told(ours)}" + (f" | {_told(peer)}" if peer else ""))
        total += row
        _print(kind, row, given.peer)
    _print("all", total, given.peer)
    return int(total[3] > 0)


def _print(name: str, row: np.ndarray, peer: bool) -> None:
    models, solved, lost, wrong, seconds, others, other_seconds = row
    line = f"{name:22}{models:7.0f} | {solved:6.0f} {lost:5.0f} {wrong:5.0f} {seconds:7.2f}"
    print(line + (f" | {others:6.0f} {'':5} {other_seconds:7.2f}" if peer else ""), flush=True)


def _told(a: Answer) -> str:
    return f"{a.ended}, error {a.error:.1e}, f = {a.objective:.8g}, {a.seconds:.2f} s"


def ask(kind: str, number: int, solver: Any, limit: float) -> Answer:
    """One model, one solver, and what an independent check says of the answer."""
    rng = np.random.default_rng([list(KINDS).index(kind), number])
    m = KINDS[kind](rng)
    began = cpu_seconds()
    try:
        claimed, ended = solver(m, limit)
    except Exception as error:
        claimed, ended = False, f"{type(error).__name__}: {error}"
    seconds = cpu_seconds() - began
    try:
        found = conditions(m)
    except (ValueError, ArithmeticError):
        return Answer(claimed, np.inf, np.nan, ended, seconds)
    return Answer(claimed, found.worst, found.objective, ended, seconds)


def ours_solves(m: Any, limit: float) -> tuple[bool, str]:
    results = pyo.SolverFactory("stochsqp").solve(m, time_limit=limit, seed=0)
    condition = results.solver.termination_condition
    return condition == pyo.TerminationCondition.optimal, str(condition)


def peer_solves(m: Any, limit: float) -> tuple[bool, str]:
    solver = pyo.SolverFactory("asl:pounce")
    results = solver.solve(m, options={"tol": 1e-8, "max_cpu_time": limit}, load_solutions=False)
    if len(results.solution):
        m.solutions.load_from(results)
    condition = results.solver.termination_condition
    return condition == pyo.TerminationCondition.optimal, str(condition)


def peer_on_path() -> None:
    """POUNCE comes as a program inside its Python package."""
    import pounce

    folder = Path(pounce.__file__).parent / "bin"
    os.environ["PATH"] = f"{folder}{os.pathsep}{os.environ['PATH']}"


def cpu_seconds() -> float:
    """Of this process and of the programs it has run."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


if __name__ == "__main__":
    sys.exit(main())
