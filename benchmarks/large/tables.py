"""Tables on disk: a logistic regression with 20 features, on random rows."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyomo.environ as pyo

from pyomo_stochsqp import E, RandomParam
from pyomo_stochsqp.compile import compile_program
from pyomo_stochsqp.declare import read_model
from pyomo_stochsqp.oracles import ModelOracle
from pyomo_stochsqp.sample import Sampler

COLUMNS = 20
CHUNK = 10**6


def logistic(data: Any, columns: Any = None) -> pyo.ConcreteModel:
    m = pyo.ConcreteModel()
    m.J = pyo.RangeSet(0, COLUMNS - 1)
    m.x = pyo.Var(m.J, initialize=0.0)
    m.w = RandomParam(m.J, data=data, columns=columns)
    margin = sum((m.w[j] - 0.1 * j) * m.x[j] for j in m.J)
    m.loss = pyo.Objective(
        expr=E(pyo.log(1 + pyo.exp(-margin))) + 0.01 * sum(m.x[j] ** 2 for j in m.J)
    )
    return m


def table(folder: Path, size: int) -> Path:
    """A file of so many rows, made once."""
    path = folder / f"{size}.npy"
    if not path.exists():
        rng = np.random.default_rng(size)
        content = np.lib.format.open_memmap(path, "w+", shape=(size, COLUMNS), dtype=float)
        for start in range(0, size, CHUNK):
            part = content[start : start + CHUNK]
            part[:] = rng.standard_normal(part.shape)
        content.flush()
    return path


def iterations(data: Any, batch: int, count: int, first: int = 0) -> np.ndarray:
    """(wall, CPU) seconds of each iteration's estimate, always on rows that were never drawn."""
    program = read_model(logistic(data))
    sampler = Sampler(program.sources, 1)
    oracle = ModelOracle(program, compile_program(program, jit=False), sampler)
    x = np.full(COLUMNS, 0.1)
    found = np.empty((count, 2))
    for k in range(count):
        before = time.perf_counter(), time.process_time()
        oracle.estimate(x, oracle.draw(0, first + k, [batch]))
        found[k] = time.perf_counter() - before[0], time.process_time() - before[1]
    return found


def forget(path: Path) -> None:
    """Let the operating system drop the file from memory."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def rows(args: argparse.Namespace) -> None:
    print("Microseconds of an iteration of 64 fresh rows, file in memory: wall, CPU of all threads")
    sizes = [10**p for p in range(3, 10) if 10**p <= args.largest]
    for size in sizes:
        path = table(args.folder, size)
        np.load(path, mmap_mode="r").sum()  # into memory
        found = iterations(np.load(path, mmap_mode="r"), 64, 6400) * 1e6
        early, late = found[:640].mean(axis=0), found[-1280:].mean(axis=0)
        print(f"{size:12,d} rows  {late[0]:6.1f} {late[1]:6.1f}   (first: {early[0]:6.1f})")
    print("Milliseconds of an iteration, file not in memory: mean, longest")
    path = table(args.folder, sizes[-1])
    for batch in (64, 4096):
        forget(path)
        found = iterations(np.load(path, mmap_mode="r"), batch, 200)[:, 0] * 1e3
        print(f"{sizes[-1]:12,d} rows  batch {batch:4d}  {found.mean():6.2f} {found.max():7.1f}")


SOLVE = """
import resource, sys, time
limit = int(sys.argv[2]) << 20
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
import pyomo.environ as pyo
from benchmarks.large.tables import logistic
model = logistic(sys.argv[1], list(map(str, range(20))))
began = time.perf_counter(), time.process_time()
results = pyo.SolverFactory("stochsqp").solve(model, seed=1, tol_feas=1e-6, tol_opt=1e-6)
wall, cpu = time.perf_counter() - began[0], time.process_time() - began[1]
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
print(f"{results.message}; {wall:.0f} s, CPU {cpu:.0f} s, {memory} MB resident")
"""


def parquet(args: argparse.Namespace) -> None:
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    path = args.folder / f"{args.largest}.parquet"
    if not path.exists():
        names = [str(j) for j in range(COLUMNS)]
        schema = pa.schema([(name, pa.float64()) for name in names])
        rng = np.random.default_rng(args.largest)
        with ParquetWriter(path, schema) as writer:
            for start in range(0, args.largest, CHUNK):
                part = rng.standard_normal((COLUMNS, min(CHUNK, args.largest - start)))
                writer.write_table(pa.table(list(part), schema=schema))
    table_size = args.largest * COLUMNS * 8 >> 20
    print(f"{args.largest:,d} rows, {table_size} MB, within {args.limit} MB of address space:")
    command = [sys.executable, "-c", SOLVE, str(path), str(args.limit)]
    done = subprocess.run(command, capture_output=True, text=True)
    print(done.stdout or f"did not end: {done.stderr.strip().splitlines()[-1]}")
