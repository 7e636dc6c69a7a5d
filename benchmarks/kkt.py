r"""Time of factorise + solve for every KKT back end, as a ratio to the best of them.

    python -m benchmarks.kkt             all shapes
    python -m benchmarks.kkt --quick     the shapes below n = 10,000

One row per back end, one column per shape, process CPU time on one thread, best of several runs on
a diagonal H. The last rows say what ``auto`` picks and whether that is within 1.3 of the best.
"""

from __future__ import annotations

import os

# before NumPy loads its BLAS: ratios are between algorithms, not between numbers of threads
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

from collections.abc import Callable  # noqa: E402

import numpy as np  # noqa: E402
from scipy.sparse import coo_array, csr_array, vstack  # noqa: E402

from pyomo_stochsqp.kkt import KKTPattern  # noqa: E402

WITHIN = 1.3
#: A back end this many times slower than the best so far is not timed again.
SECONDS_PER_CELL = 1.0
#: Estimated work (m² n for dense, a guess from the shape for SuperLU) beyond which a cell is skipped.
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


def arrow(n: int, first_stage: int = 20) -> KKTPattern:
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
