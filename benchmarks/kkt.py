r"""Time of factorise + solve for every KKT back end, as a ratio to the best of them.

    python -m benchmarks.kkt             all shapes
    python -m benchmarks.kkt --quick     the shapes below n = 10,000

One line per shape, one column per back end: process CPU time on one thread with a diagonal H, the
best of twenty runs. "-" means that the dense matrix would be too large. The last column says what
``auto`` picks, the last line whether that is within 1.3 of the best installed back end.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable

if __name__ == "__main__":
    # before NumPy loads its BLAS: ratios are between algorithms, not between numbers of threads
    for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(variable, "1")

import numpy as np
from scipy.sparse import coo_array, csr_array, vstack

from pyomo_stochsqp.kkt import REGISTRY, KKTPattern, importable, make_backend

#: What the rule of ``auto`` promises: no more than this times the best.
WITHIN = 1.3
#: CPU time spent on one back end and one shape.
SECONDS_PER_CELL = 1.0
#: m² n from which a dense Schur complement takes too long to wait for.
DENSE_WORK = 2e10


def pattern_of(jacobian: csr_array) -> KKTPattern:
    jacobian.sort_indices()
    m, n = jacobian.shape
    return KKTPattern(n, m, jacobian.indptr, jacobian.indices)


def band(n: int) -> KKTPattern:
    """Each of 0.3 n rows takes six neighbouring variables: a discretised dynamic model."""
    m = (3 * n) // 10
    start = np.minimum((np.arange(m) * n) // m, n - 6)
    columns = (start[:, None] + np.arange(6)).ravel()
    rows = np.repeat(np.arange(m), 6)
    return pattern_of(csr_array(coo_array((np.ones(6 * m), (rows, columns)), shape=(m, n))))


def arrow(n: int, first_stage: int = 10) -> KKTPattern:
    """A two-stage program: blocks of ten variables and three rows, coupled by the first stage."""
    blocks = (n - first_stage) // 10
    m = 3 * blocks
    rng = np.random.default_rng(0)
    row = np.arange(m)
    own = (
        first_stage
        + 10 * (row // 3)[:, None]
        + rng.permuted(np.tile(np.arange(10), (m, 1)), axis=1)
    )
    shared = rng.permuted(np.tile(np.arange(first_stage), (m, 1)), axis=1)
    columns = np.concatenate((own[:, :4], shared[:, :2]), axis=1).ravel()
    rows = np.repeat(row, 6)
    return pattern_of(csr_array(coo_array((np.ones(6 * m), (rows, columns)), shape=(m, n))))


def band_with_dense_rows(n: int, dense_rows: int = 2) -> KKTPattern:
    """A band and budget rows in which every variable appears."""
    narrow = band(n)
    shape = (narrow.m, n)
    top = csr_array((np.ones(narrow.nnz), narrow.indices, narrow.indptr), shape=shape)
    return pattern_of(csr_array(vstack((top, csr_array(np.ones((dense_rows, n)))))))


SHAPES: dict[str, Callable[[], KKTPattern]] = {
    "(5,3)": lambda: KKTPattern.full(5, 3),
    "(123,11)": lambda: KKTPattern.full(123, 11),
    "(5000,11)": lambda: KKTPattern.full(5000, 11),
    "1k band": lambda: band(1000),
    "1k arrow": lambda: arrow(1000),
    "10k band": lambda: band(10_000),
    "10k arrow": lambda: arrow(10_000),
    "100k band": lambda: band(100_000),
    "100k arrow": lambda: arrow(100_000),
    "100k+2 rows": lambda: band_with_dense_rows(100_000),
}


def workload(pattern: KKTPattern, name: str) -> Callable[[], None]:
    """factorise + solve with fixed random values."""
    rng = np.random.default_rng(1)
    h, values = rng.uniform(0.5, 2.0, pattern.n), rng.normal(size=pattern.nnz)
    r_x, r_y = rng.normal(size=pattern.n), rng.normal(size=pattern.m)
    backend = make_backend(pattern, name)

    def run() -> None:
        backend.factorise(h, values)
        backend.solve(r_x, r_y)

    run()  # the symbolic analysis is made here, once, and is not part of the time
    return run


def seconds(runs: dict[str, Callable[[], None]]) -> dict[str, float]:
    """Best time of each; they take turns, so that a busy machine slows all of them alike."""
    best = dict.fromkeys(runs, float("inf"))
    repeats = {}
    for name, run in runs.items():
        once = cpu_time(run, 1)
        repeats[name] = max(1, int(0.05 * SECONDS_PER_CELL / max(once, 1e-6)))
    for _ in range(round(1 / 0.05)):
        for name, run in runs.items():
            best[name] = min(best[name], cpu_time(run, repeats[name]))
    return best


def cpu_time(run: Callable[[], None], repeats: int) -> float:
    start = time.process_time()
    for _ in range(repeats):
        run()
    return (time.process_time() - start) / repeats


def table(shapes: list[str]) -> None:
    names = [name for name in REGISTRY if importable(name)]
    missing = [name for name in REGISTRY if not importable(name)]
    if missing:
        print(f"not installed: {', '.join(missing)}")
    print(f"{'shape':>12} {'n':>7} {'m':>6} {'best, us':>9}", *(f"{n:>8}" for n in names), " auto")
    misses = []
    for shape in shapes:
        pattern = SHAPES[shape]()
        too_large = pattern.m**2 * pattern.n > DENSE_WORK
        wanted = [name for name in names if not (name == "dense" and too_large)]
        times = seconds({name: workload(pattern, name) for name in wanted})
        best = min(times.values())
        picked = make_backend(pattern, "auto").name
        ratio = times[picked] / best
        cells = [f"{times[n] / best:8.1f}" if n in times else f"{'-':>8}" for n in names]
        print(
            f"{shape:>12} {pattern.n:>7} {pattern.m:>6} {1e6 * best:9.0f}",
            *cells,
            f" {picked} ({ratio:.2f})",
            flush=True,
        )
        if ratio > WITHIN:
            misses.append(shape)
    verdict = f"except for {', '.join(misses)}" if misses else "on every shape"
    print(f"auto is within {WITHIN} of the best {verdict}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="only the shapes below n = 10,000")
    arguments = parser.parse_args()
    small = [s for s in SHAPES if not s.startswith("10")]
    table(small if arguments.quick else list(SHAPES))


if __name__ == "__main__":
    main()
