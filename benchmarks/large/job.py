r"""What ``mpiexec`` runs: python -m mpi4py -m benchmarks.large.job WHAT ... Rank 0 prints JSON.

histories   five models, every pass shared however short: digests of histories and solutions
passes      passes through a table in memory, or in a file: seconds, CPU seconds and memory of ranks
light       small models, with and without the other ranks
hops        a question to all ranks and their answers, without any work
logistic    a solve of a logistic regression
"""

from __future__ import annotations

import hashlib
import json
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from mpi4py import MPI

from benchmarks.hostile.declarations import quiet
from benchmarks.hostile.runs import MODELS, bits, solved
from benchmarks.large.tables import COLUMNS, logistic
from pyomo_stochsqp.compile import compile_program
from pyomo_stochsqp.declare import read_model
from pyomo_stochsqp.oracle import whole_sample
from pyomo_stochsqp.oracles import ModelOracle, PassesOfRanks, shared
from pyomo_stochsqp.ranks import Crew
from pyomo_stochsqp.ranks.waiting import receive
from pyomo_stochsqp.sample import Sampler

WORLD = MPI.COMM_WORLD
TAG = 7
REPEATS = 12


def table(rows: int) -> np.ndarray:
    """Features, the same on all ranks."""
    return np.random.default_rng(5).standard_normal((rows, COLUMNS))


def histories() -> dict[str, Any]:
    shared.LEAST_SAVING = 0.0
    found = {}
    models: dict[str, tuple[Callable[[], Any], dict[str, Any]]] = {
        name: (model, {"jit": False}) for name, model in MODELS.items()
    }
    models["table, numba"] = (MODELS["table"], {"jit": True})
    for name, (model, options) in models.items():
        results = solved(model(), comm=WORLD, seed=4, load_solutions=False, **options)
        parts = bits(results)
        digest = hashlib.sha256(b"".join(parts[key] for key in sorted(parts))).hexdigest()
        digests = WORLD.allgather(digest)
        assert len(set(digests)) == 1, f"{name}: ranks return different results"
        found[name] = [digest[:12], results.termination_condition.name]
    return found


def passes(data: str) -> dict[str, Any]:
    """``data``: so many rows in memory, or the path of a file."""
    crew = Crew(WORLD)
    rows: Any = table(int(data)) if data.isdigit() else data
    columns = None if data.isdigit() or data.endswith(".npy") else list(map(str, range(COLUMNS)))
    program = read_model(logistic(rows, columns))
    sampler = Sampler(program.sources, 1)
    oracle = ModelOracle(program, compile_program(program, jit=False), sampler)
    questions = PassesOfRanks(crew, sampler, [oracle])
    wall = []
    if crew.rank == 0:
        sample = whole_sample(oracle)
        assert sample is not None
        for k in range(REPEATS + 2):
            if k == 2:  # rows are held, caches are warm
                cpu = time.process_time()
            began = time.perf_counter()
            oracle.estimates(np.full(COLUMNS, 0.01 * (k + 1)), [sample], objective=True)
            wall.append(time.perf_counter() - began)
        crew.dismiss()
    else:
        answers: list[float] = []

        def answer(question: Any) -> Any:
            reply = questions.answer(question)
            answers.append(time.process_time())
            return reply

        crew.serve(answer)
        cpu = answers[1]
    spent = WORLD.gather((time.process_time() - cpu) / REPEATS)
    memory = WORLD.gather(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10)
    return {"first": wall[:1], "seconds": sorted(wall[2:]), "cpu": spent, "memory": memory}


def light() -> dict[str, Any]:
    """CPU and wall seconds of rank 0, by itself and as one of several."""
    found = {}
    for name, model in MODELS.items():
        times: list[list[tuple[float, float]]] = [[], []]
        for repeat in range(2 * REPEATS):
            together = repeat % 2
            WORLD.Barrier()  # what the ranks have waited for so far is over
            began = time.perf_counter(), time.process_time()
            if together:
                solved(model(), comm=WORLD, seed=4, jit=False, load_solutions=False)
            elif WORLD.rank == 0:
                solved(model(), seed=4, jit=False, load_solutions=False)
            now = time.perf_counter() - began[0], time.process_time() - began[1]
            times[together].append(now)
            _meet()
        found[name] = [np.min(each, axis=0).tolist() for each in times]
    return found


def _meet() -> None:
    """Wait for rank 0, without taking a core."""
    if WORLD.rank == 0:
        for r in range(1, WORLD.size):
            WORLD.send(None, dest=r, tag=TAG)
    else:
        receive(WORLD, 0, TAG)


class _Nothing:
    def with_next(self, other: Any) -> Any:
        return self


def hops() -> dict[str, Any]:
    crew = Crew(WORLD)
    seconds = []
    if crew.rank == 0:
        for _ in range(500):
            began = time.perf_counter()
            crew.ask(None, lambda _: _Nothing())
            seconds.append(time.perf_counter() - began)
        crew.dismiss()
    else:
        crew.serve(lambda _: _Nothing())
    return {"seconds": sorted(seconds)}


def logistic_regression(rows: str = "200000") -> dict[str, Any]:
    began = time.perf_counter()
    results = solved(logistic(table(int(rows))), comm=WORLD, seed=4)
    parts = bits(results)
    digest = hashlib.sha256(b"".join(parts[key] for key in sorted(parts))).hexdigest()
    seconds = time.perf_counter() - began
    return {"digest": digest[:12], "end": results.termination_condition.name, "seconds": seconds}


WHAT = {"histories": histories, "passes": passes, "light": light, "hops": hops,
        "logistic": logistic_regression}  # fmt: skip

if __name__ == "__main__":
    with quiet():
        outcome = WHAT[sys.argv[1]](*sys.argv[2:])
    if WORLD.rank == 0:
        print(json.dumps(outcome))
