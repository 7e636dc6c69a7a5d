"""Evaluation speed: generated code against hand-written NumPy, in the same process.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python -m benchmarks.evaluate [--jit]

Prints ratios of CPU time (generated / hand-written) for one evaluation of (g, c, J) on one batch.
Both are run in turn on the same batches, new rows for every call; the ratio is the median over many
runs of 100 calls. Then: set-up times, and the time to collapse 5,000 explicit scenario blocks
relative to building them. What an iteration costs on tables of any size: benchmarks/large.
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

CALLS = 100


def timed(run: Callable[[], Any]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def compare(a: Callable[[], Any], b: Callable[[], Any], budget: float) -> tuple[float, float]:
    """(median ratio of CPU times, median microseconds of b), run in turn."""
    pairs = []
    start = time.process_time()
    while time.process_time() - start < budget:
        pairs.append((timed(a), timed(b)))
    first, second = np.array(pairs[1:]).T
    return float(np.median(first / second)), float(np.median(second) * 1e6 / CALLS)


def runner(evaluator: Any, x: Any, drawn: list[Any]) -> Callable[[], None]:
    """All evaluations of one run."""
    batches = [[Batch(rows.size, (rows,))] for rows in drawn]

    def run() -> None:
        for batch in batches:
            evaluator.evaluate(x, batch)

    return run


def against_hand(
    name: str, build: Callable[[], Any], expert: Any, sizes: list[int], args: Any
) -> None:
    model, data = build()
    program = read_model(model)
    setups = []
    for _ in range(5):
        start = time.process_time()
        evaluator = compile_program(program, jit=bool(args.jit))
        setups.append(time.process_time() - start)
    hand = expert(data)
    rng = np.random.default_rng(0)
    x = rng.normal(0.1, 0.2, evaluator.n)
    for size in sizes:
        drawn = [rng.integers(0, models.N, size) for _ in range(CALLS)]
        estimate = evaluator.evaluate(x, [Batch(size, (drawn[0],))])
        reference = hand(x, drawn[0])
        for a, b in zip((estimate.g, estimate.c, estimate.J), reference, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)

        def theirs() -> None:
            for rows in drawn:
                hand(x, rows)

        ratio, micro = compare(runner(evaluator, x, drawn), theirs, args.budget)
        print(f"{name:8} B={size:4d}   ratio {ratio:5.2f}   by hand {micro:8.1f} us", flush=True)
    print(f"{name:8} set-up {min(setups) * 1e3:.1f} ms")


def collapse(name: str, build: Callable[[int], tuple[Any, float]]) -> None:
    model, building = build(5000)
    program = read_model(model)
    times = []
    for _ in range(3):
        start = time.process_time()
        compile_program(program, jit=False)
        times.append(time.process_time() - start)
    print(
        f"{name:8} 5,000 blocks: compiled in {min(times) * 200:.1f} us a block, "
        f"{min(times) / building:.1%} of the time to build them"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jit", action="store_true", help="compile with numba")
    parser.add_argument("--budget", type=float, default=3.0, help="CPU seconds per measurement")
    parser.add_argument("--only", default="", help="names to run, e.g. P1,P2,collapse")
    args = parser.parse_args()
    chosen = args.only.split(",") if args.only else []
    cases = [
        ("P1", lambda: models.logistic(False), experts.Logistic, [16, 128]),
        ("P1-csr", lambda: models.logistic(True), experts.SparseLogistic, [16, 128]),
        ("P2", models.small, experts.Small, [16, 256]),
        ("P3", models.sparse_rows, experts.SparseRows, [32]),
    ]
    for name, build, expert, sizes in cases:
        if not chosen or name in chosen:
            against_hand(name, build, expert, sizes, args)
    if not chosen or "collapse" in chosen:
        collapse("P2", models.small_blocks)
        collapse("P1", models.logistic_blocks)


if __name__ == "__main__":
    main()
