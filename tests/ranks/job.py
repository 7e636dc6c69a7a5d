"""What ``mpiexec`` runs for the tests: python -m mpi4py job.py WHAT ... Ranks print lines.

Every pass is shared, however short, so that small models go through what large ones go through.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from mpi4py import MPI
from pyomo.contrib.solver.common.factory import SolverFactory

from pyomo_stochsqp.oracles import shared
from pyomo_stochsqp.ranks import Crew

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.ranks import models

WORLD = MPI.COMM_WORLD
NOT_OPTIMAL_TOO = {"raise_exception_on_nonoptimal_result": False}
#: a run that does not end by itself
ENDLESS = {"tol_opt": 1e-9, "tol_feas": 1e-9, "max_iter": None}


def solve(m: Any, comm: Any = WORLD, **options: Any) -> Any:
    return SolverFactory("stochsqp").solve(
        m, comm=comm, load_solutions=False, **{"seed": 3, **NOT_OPTIMAL_TOO, **options}
    )


def fingerprint(results: Any) -> bytes:
    found = [results.history.table, results.certificates.table, results.certificate.x]
    return b"".join(np.ascontiguousarray(part).tobytes() for part in found)


def histories() -> None:
    """All ranks together do what one does by itself, whatever is evaluated by whom."""
    runs: dict[str, dict[str, Any]] = {name: {"jit": False} for name in models.MODELS}
    runs["logistic"] = {"jit": True}
    for name, options in runs.items():
        together = solve(models.MODELS[name](), **options)
        alone = solve(models.MODELS[name](), MPI.COMM_SELF, **options)
        same = fingerprint(together) == fingerprint(alone)
        say(name, "same" if same else "DIFFERENT", together.termination_condition.name)


def algorithm_1() -> None:
    """Batches of iterations are shared, too."""
    options = {"algorithm": "stochsqp", "batch_size": 300, "max_iter": 40, "jit": False}
    together = solve(models.logistic(), **options)
    alone = solve(models.logistic(), MPI.COMM_SELF, **options)
    say("algorithm 1", fingerprint(together) == fingerprint(alone))


def recourse() -> None:
    """Replicates are divided; then Ctrl-C on one of the ranks."""
    together, alone = solve(models.stocked()), solve(models.stocked(), MPI.COMM_SELF)
    say("recourse", together.incumbent_objective == alone.incumbent_objective)
    if WORLD.rank == 1:
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    results = solve(models.stocked(), gap=1e-12)
    bound = WORLD.bcast(results.objective_bound)
    say("stocked", results.termination_condition.name, results.objective_bound == bound)


def light() -> None:
    """No question is worth its messages, so nobody is asked."""
    asked: list[Any] = []
    hand_on = Crew._hand_on

    def counting(crew: Crew, message: Any) -> None:
        asked.append(message)
        hand_on(crew, message)

    with patch.object(shared, "LEAST_SAVING", 1e9), patch.object(Crew, "_hand_on", counting):
        solve(models.portfolio())
    say("light", [type(message).__name__ for message in asked])


def worker_fails() -> None:
    """The sampler of rank 1 raises once the run has begun."""
    trouble(1, ValueError("the simulator has crashed"))


def callback_fails() -> None:
    def stop(state: Any) -> None:
        raise KeyError("a mistake in the callback")

    attempt("callback", models.portfolio(), callback=stop)


def differ() -> None:
    attempt("differ", models.logistic(20_000 + WORLD.rank // 2))


def limit() -> None:
    attempt("limit", models.newsvendor(), **ENDLESS, time_limit=1.0)


def interrupted() -> None:
    """Ctrl-C, as a terminal sends it to every process."""
    attempt("interrupted", in_run(lambda: os.kill(os.getpid(), signal.SIGINT)), **ENDLESS)


def again() -> None:
    """After all that, the ranks work together as before."""
    results = solve(models.portfolio())
    say("again", fingerprint(results) == fingerprint(solve(models.portfolio(), MPI.COMM_SELF)))


def builds_nothing() -> None:
    """A rank that does not get as far as solve: python -m mpi4py ends the others."""
    if WORLD.rank == 1:
        raise FileNotFoundError("data.csv")
    solve(models.logistic())


def killed() -> None:
    m = in_run(lambda: WORLD.rank == 1 and os.kill(os.getpid(), signal.SIGKILL))
    solve(m, **ENDLESS)


# -- tools ----------------------------------------------------------------------------------------


def attempt(name: str, m: Any, **options: Any) -> None:
    """Solve, and say how that ended."""
    try:
        say(name, solve(m, **options).termination_condition.name)
    except Exception as error:
        say(name, type(error).__name__, *str(error).splitlines()[:1])


def trouble(rank: int, error: Exception) -> None:
    def meet() -> None:
        if rank == WORLD.rank:
            raise error

    attempt("worker", in_run(meet))


def in_run(happens: Callable[[], Any]) -> Any:
    """A model in whose run something happens, when its sampler is called for the fifth time."""
    m = models.newsvendor()
    sampled = m.d.origin
    function, calls = sampled.function, []

    def demand(rng: Any, size: int) -> Any:
        calls.append(size)
        if len(calls) == 5:
            happens()
        return function(rng, size)

    sampled.function = demand
    return m


def say(*words: Any) -> None:
    """One write, so that the lines of the ranks do not mix."""
    sys.stdout.write(" ".join(map(str, (f"rank {WORLD.rank}:", *words))) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    shared.LEAST_SAVING = 0.0
    for what in sys.argv[1:]:
        globals()[what]()
