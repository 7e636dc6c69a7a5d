r"""A plan for more rows than fit any machine, from constants that are measured here.

The model: N rows of 20 columns, P ranks, each with a core, memory for its rows and a disk of its
own. A solve makes W passes through all rows (the work of second derivatives counted in that of a
pass), and the sum of what P ranks have found takes 2 log2 P messages:

    seconds  =  W (N a / P + 2 h log2 P)  +  N b r / P

    a    seconds per row of a pass in memory           b    bytes of a row in a file
    h    seconds per message                           r    seconds per byte that is read
    W    passes of a solve to 1e-6

If rows do not fit into memory they are read for every pass, the next piece while the last one is
evaluated: then max(a, b r) stands in place of a. What it leaves out: ranks that wait for each
other, disks that are shared.
"""

from __future__ import annotations

import argparse
import time
from math import log2
from statistics import median
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import pyomo.environ as pyo

from benchmarks.large import ranks, tables
from pyomo_stochsqp.compile import compile_program
from pyomo_stochsqp.declare import read_model
from pyomo_stochsqp.oracle import whole_sample
from pyomo_stochsqp.oracles import ModelOracle, model
from pyomo_stochsqp.oracles.passes import seconds
from pyomo_stochsqp.sample import Sampler

ROWS, PLANNED = 10**6, 10**10
RANKS = (1, 16, 64, 256, 1024)
#: between machines: an ordinary network
HOP = 2e-5


class Constants(NamedTuple):
    """Measured."""

    #: seconds per row of a pass
    one: float
    #: seconds per byte of a file read once, from the disk
    read: float
    #: bytes per row
    row: int
    #: seconds per row that is drawn from 20 normal distributions
    draw: float
    #: seconds per message between processes of one machine
    hop: float
    #: passes of a solve
    passes: float


def plan(args: argparse.Namespace) -> None:
    c = measured(args)
    print("Constants of this machine (other programs on it make them larger):")
    print(f"  a pass        {1e9 * c.one:6.1f} ns a row ({c.row / c.one / 1e9:.1f} GB/s)")
    print(f"  a row         {c.row} bytes; reading {1e-6 / c.read:.0f} MB/s")
    print(f"  drawing       {1e9 * c.draw:6.1f} ns a row of {tables.COLUMNS} normal numbers")
    print(f"  a message     {1e6 * c.hop:6.1f} us (the plan takes {1e6 * HOP:.0f})")
    print(f"  a solve       {c.passes:6.1f} passes to 1e-6")
    print(f"The plan: {PLANNED:,d} rows, {PLANNED * c.row / 1e12:.1f} TB")
    print("  ranks  memory of each   a pass   a solve, rows in memory   a solve, read every pass")
    for P in RANKS:
        own = PLANNED / P
        messages = 2 * log2(P) * HOP
        once = own * c.row * c.read
        a_pass = own * c.one + messages
        held = c.passes * a_pass + once
        streamed = c.passes * (own * max(c.one, c.row * c.read) + messages)
        print(f"  {P:5d}  {own * c.row / 1e9:11.1f} GB  {a_pass:6.1f} s   {_time(held):>22}"
              f"   {_time(streamed):>22}")  # fmt: skip


def _time(s: float) -> str:
    return f"{s:.0f} s" if s < 300 else f"{s / 60:.0f} min" if s < 18_000 else f"{s / 3600:.0f} h"


def measured(args: argparse.Namespace) -> Constants:
    data = np.random.default_rng(1).standard_normal((ROWS, tables.COLUMNS))
    path = tables.table(args.folder, min(args.largest, 10**7))
    hop = median(ranks.job(2, "hops")["seconds"]) / 2
    return Constants(
        _pass(data), _reading(path), 8 * tables.COLUMNS, _drawing(), hop, _passes(data),
    )  # fmt: skip


def _pass(data: Any) -> float:
    """CPU seconds per row."""
    program = read_model(tables.logistic(data))
    oracle = ModelOracle(program, compile_program(program, False), Sampler(program.sources, 1))
    sample = whole_sample(oracle)
    assert sample is not None
    found = []
    for k in range(10):
        began = time.process_time()
        oracle.estimates(np.full(tables.COLUMNS, 0.01 * k), [sample], objective=True)
        found.append(time.process_time() - began)
    return min(found) / ROWS


def _reading(path: Any) -> float:
    """Wall seconds per byte of a file that is not in memory."""
    tables.forget(path)
    began, size = time.perf_counter(), 0
    with open(path, "rb", buffering=0) as file:
        while content := file.read(1 << 24):
            size += len(content)
    return (time.perf_counter() - began) / size


def _drawing() -> float:
    rng = np.random.default_rng(1)
    began = time.process_time()
    for _ in range(10):
        rng.standard_normal((100_000, tables.COLUMNS))
    return (time.process_time() - began) / 1e6


def _passes(data: Any) -> float:
    """Work of a solve, in passes through all rows."""
    done = []
    share = ModelOracle._share

    def counting(oracle: Any, whole: Any, terms: Any) -> Any:
        done.append(seconds(terms) / oracle._evaluator.work([ROWS]))
        return share(oracle, whole, terms)

    with patch.object(model.ModelOracle, "_share", counting):
        pyo.SolverFactory("stochsqp").solve(
            tables.logistic(data), seed=1, tol_feas=1e-6, tol_opt=1e-6
        )
    return sum(done)
