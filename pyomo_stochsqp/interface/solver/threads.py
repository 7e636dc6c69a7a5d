r"""Threads of the linear algebra libraries, for the time of a solve.

BLAS divides a sum among its threads, so that its last bits depend on how many there are, and the
small matrices of most models cost more to hand out than to factorise. A solve therefore takes one
thread, whatever OMP_NUM_THREADS says, unless the user asks for more.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import lru_cache

from threadpoolctl import ThreadpoolController


def linear_algebra_threads(number: int) -> AbstractContextManager[object]:
    """So many of them inside the block; afterwards as before."""
    return _libraries().limit(limits=number, user_api="blas")


@lru_cache(maxsize=1)
def _libraries() -> ThreadpoolController:
    """Those of NumPy and SciPy, which are loaded; looking for them takes milliseconds."""
    return ThreadpoolController()
