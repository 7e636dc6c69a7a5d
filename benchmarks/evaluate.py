"""Evaluation speed: generated code against hand-written NumPy, in the same process.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python -m benchmarks.evaluate [--jit]

Prints ratios of CPU time (generated / hand-written) for one evaluation of (g, c, J) on one batch.
Both are run in turn, many times; the ratio is that of the medians of short blocks of calls.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks import evaluate_experts as experts
from benchmarks import evaluate_models as models
from pyomo_stochsqp.compile import compile_program
from pyomo_stochsqp.declare import read_model
from pyomo_stochsqp.declare.program import Batch


def timed(calls: Callable[[], Any]) -> float:
    start = time.process_time()
    calls()
    return time.process_time() - start


def compare(
    ours: Callable[[], Any], theirs: Callable[[], Any], budget: float, count: int
) -> tuple[float, float]:
    """(ratio, microseconds of theirs): medians over pairs of runs of ``count`` calls, in turn."""
    pairs = []
    start = time.process_time()
    while time.process_time() - start < budget:
        pairs.append((timed(ours), timed(theirs)))
    a, b = np.array(pairs[1:]).T
    return float(np.median(a / b)), float(np.median(b) * 1e6 / count)


def problem(name: str, build: Callable[[], Any], expert: Any, sizes: list[int], args: Any) -> None:
    model, data = build()
    start = time.process_time()
    program = read_model(model)
    read = time.process_time() - start
    start = time.process_time()
    evaluator = compile_program(program, jit=bool(args.jit))
    setup = time.process_time() - start
    hand = expert(data)
    rng = np.random.default_rng(0)
    x = rng.normal(0.1, 0.2, evaluator.n)
    for size in sizes:
        # New rows for every call, as in a run: data that are not in the cache cost time too.
        drawn = [rng.integers(0, models.N, size) for _ in range(100)]
        batches = [[Batch(size, (rows,))] for rows in drawn]
        estimate = evaluator.evaluate(x, batches[0])
        reference = hand(x, drawn[0])
        for a, b in zip((estimate.g, estimate.c, estimate.J), reference, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)

        def ours() -> None:
            for batch in batches:
                evaluator.evaluate(x, batch)

        def theirs() -> None:
            for rows in drawn:
                hand(x, rows)

        ratio, micro = compare(ours, theirs, args.budget, len(drawn))
        print(f"{name:12} B={size:4d}  ratio {ratio:5.2f}   by hand {micro:8.1f} us", flush=True)
    print(f"{name:12} set-up {setup * 1e3:7.1f} ms (reading the model {read * 1e3:.1f} ms)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jit", action="store_true", help="compile with numba")
    parser.add_argument("--budget", type=float, default=3.0, help="CPU seconds per measurement")
    parser.add_argument("--only", default="", help="names to run, e.g. P1,P2")
    args = parser.parse_args()
    cases = [
        ("P1", lambda: models.logistic(False), experts.Logistic, [16, 128]),
        ("P1-csr", lambda: models.logistic(True), experts.SparseLogistic, [16, 128]),
        ("P2", models.small, experts.Small, [16, 256]),
        ("P3", models.sparse_rows, experts.SparseRows, [32]),
    ]
    for name, build, expert, sizes in cases:
        if not args.only or name in args.only.split(","):
            problem(name, build, expert, sizes, args)


if __name__ == "__main__":
    main()
